#!/usr/bin/env python3
"""A training loop on the CPU as people write it in PyTorch, for train_cpu.py. No data work at all.

    python3 bench/peers/train_cpu_loop.py [--channels-last]

resnet8 (as Medley's) on batches of 100 images of 32x32, SGD with momentum, cross entropy with soft
targets. Prints a line of JSON: images a second, the version of PyTorch.
"""

import argparse
import json
import os
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

BATCH, SIDE, CLASSES = 100, 32, 10


class Block(nn.Module):
    def __init__(self, inputs, planes, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, planes, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = nn.Identity()
        if stride != 1 or inputs != planes:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, planes, 1, stride, bias=False), nn.BatchNorm2d(planes)
            )

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.downsample(x))


class ResNet8(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layers = nn.Sequential(Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2))
        self.fc = nn.Linear(64, CLASSES)

    def forward(self, x):
        x = self.layers(F.relu(self.bn1(self.conv1(x))))
        return self.fc(x.mean((2, 3)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--steps", type=int, default=60, help="timed, after a third as many")
    options = parser.parse_args()
    torch.set_num_threads(os.cpu_count())
    torch.manual_seed(0)
    network = ResNet8()
    x = torch.randn(BATCH, 3, SIDE, SIDE)
    if options.channels_last:
        network = network.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last)
    target = F.one_hot(torch.arange(BATCH) % CLASSES, CLASSES).float()
    target = 0.3 * target + 0.7 * target.flip(0)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    times = []
    for step in range(options.steps + options.steps // 3):
        begin = time.perf_counter()
        optimizer.zero_grad()
        F.cross_entropy(network(x), target).backward()
        optimizer.step()
        if step >= options.steps // 3:
            times.append(time.perf_counter() - begin)
    result = {
        "images_per_s": BATCH / statistics.mean(times),
        "torch": torch.__version__,
        "parameters": sum(p.numel() for p in network.parameters()),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()

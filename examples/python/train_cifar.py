#!/usr/bin/env python3
"""Trains a small residual network on CIFAR with mixed samples: a complete PyTorch script.

    python3 train_cifar.py --data cifar-100-binary --method hmix --epochs 200 --checkpoint run.pt
    python3 train_cifar.py --method gmix --epochs 3         # drawn pictures, no download

Medley is in five places, marked with "medley:". --data is a folder of the binary version of
CIFAR-10 or CIFAR-100; without it Medley draws pictures of twelve classes.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import torch
from torch import nn

import medley
import medley.collate
import medley.data
import medley.torch

MEAN, STD = (0.507, 0.487, 0.441), (0.267, 0.256, 0.276)


class Images(torch.utils.data.Dataset):
    """uint8 images (N, 3, 32, 32) with classes (N,)."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        self.images, self.labels = torch.from_numpy(images), torch.from_numpy(labels)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.images[index], self.labels[index]


def read_cifar(folder: Path, train: bool) -> Images:
    """The binary version: one or two label bytes, then 3072 bytes, per image."""
    names = ["train.bin"] if train else ["test.bin"]
    label_bytes = 2
    if not (folder / names[0]).exists():  # CIFAR-10
        names = [f"data_batch_{i}.bin" for i in range(1, 6)] if train else ["test_batch.bin"]
        label_bytes = 1
    raw = np.concatenate([np.fromfile(folder / name, np.uint8) for name in names])
    rows = raw.reshape(-1, label_bytes + 3072)
    images = np.ascontiguousarray(rows[:, label_bytes:]).reshape(-1, 3, 32, 32)
    return Images(images, rows[:, label_bytes - 1].astype(np.int64))


def draw(count: int, first: int) -> Images:
    images, labels = medley.data.synthetic(count, size=32, first=first)  # medley: pictures
    return Images(np.ascontiguousarray(images.transpose(0, 3, 1, 2)), labels)


class Block(nn.Module):
    """A pre-activation residual block."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x).relu()
        shortcut = self.shortcut(x if isinstance(self.shortcut, nn.Identity) else y)
        return shortcut + self.conv2(self.norm2(self.conv1(y)).relu())


def network(width: int, classes: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, width, 3, 1, 1, bias=False),
        Block(width, width, 1),
        Block(width, 2 * width, 2),
        Block(2 * width, 4 * width, 2),
        nn.BatchNorm2d(4 * width),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, classes),
    )


@torch.no_grad()
def evaluate(model: nn.Module, data: Images, device: str) -> float:
    model.eval()
    normalize = medley.NoMix(dtype="f32", mean=MEAN, std=STD)  # medley: conversion alone
    right = 0
    for begin in range(0, len(data), 256):
        images = normalize(data.images[begin : begin + 256]).to(device)
        labels = data.labels[begin : begin + 256].to(device)
        right += int((model(images).argmax(1) == labels).sum())
    return right / len(data)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder of CIFAR's binary version")
    parser.add_argument("--method", default="hmix", help="mixing method (default: hmix)")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--width", type=int, default=32, help="channels of the first stage")
    parser.add_argument("--count", type=int, default=6000, help="drawn pictures to train on")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, help="continue from, and write to, this file")
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if options.data:
        train, test = read_cifar(options.data, True), read_cifar(options.data, False)
    else:
        train = draw(options.count, 0)
        test = draw(max(options.count // 5, 12), options.count)
    classes = int(train.labels.max()) + 1

    # medley: crop, flip, mix, normalize and convert, in one pass in the workers
    mix = medley.Mix(
        options.method, pad=2, flip=0.5, dtype="f32", mean=MEAN, std=STD, seed=options.seed
    )
    loader = medley.collate.Loader(
        train, mix, options.batch, shuffle=True, num_workers=options.workers,
        pin_memory=device == "cuda", persistent_workers=options.workers > 0,
    )  # fmt: skip

    model = network(options.width, classes).to(device)
    optimizer = torch.optim.SGD(
        model.parameters(), options.lr, momentum=0.9, weight_decay=5e-4, nesterov=True
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.epochs * len(loader))
    start = 0
    if options.checkpoint and options.checkpoint.exists():
        state = torch.load(options.checkpoint, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        start = state["epoch"]

    for epoch in range(start, options.epochs):
        model.train()
        loader.set_epoch(epoch)  # medley: each epoch has draws of its own
        total = 0.0
        for x, y in loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            loss = medley.torch.cross_entropy(model(x), y)  # medley: no N x C matrix of targets
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        accuracy = evaluate(model, test, device)
        print(f"epoch {epoch + 1}: loss {total / len(loader):.4f}, accuracy {accuracy:.4f}")
        if options.checkpoint:
            state = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "schedule": schedule.state_dict(),
                "epoch": epoch + 1,
            }
            torch.save(state, f"{options.checkpoint}.part")
            os.replace(f"{options.checkpoint}.part", options.checkpoint)


if __name__ == "__main__":
    main()

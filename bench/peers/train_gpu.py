#!/usr/bin/env python3
"""Training on the GPU: Medley beside the ways PyTorch users do it, in one run.

    python3 bench/peers/train_gpu.py --data cifar-100-binary --medley build/cuda/medley \\
        --args="--epochs 1" > bench/results/train-h200.json

PreActResNet-18, 32x32, 100 classes, the recipe cifar100-paper: SGD with Nesterov momentum, binary
cross entropy of the softmax, crop after padding by 2, flip, and mixup or hmix once per batch, from
uint8 images in device memory; bf16 autocast, channels last. Contenders:

    eager           a loop as people write it
    compile+graph   torch.compile over batch, network and loss, and the whole step with backward
                    pass and optimizer in one CUDA graph; draws are made ahead, in device memory
    medley          `medley train --device cuda --profile --json`, which reports ms_per_step

Contenders take turns; a time is the median over the rounds. One JSON object goes to stdout, a table
to stderr. `--device cpu --steps 2 --batch 4` only shows that the script works.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SIDE, PAD, CLASSES = 32, 2, 100
LR, MOMENTUM, WEIGHT_DECAY = 0.2, 0.9, 1e-4
MEAN, STD = (129.3, 124.1, 112.4), (68.2, 65.4, 70.4)
ALPHA, RATIO = 1.0, 0.5  # hmix: share of 1-lam in the box
METHODS = ("none", "mixup", "hmix")
LEAST_STEPS = 200  # on a GPU
PLANNED_STEPS = 500  # draws made ahead, used again when all had their turn
LEAST_AGREEMENT = 0.95  # cosine of the gradients; bf16 keeps 8 bits, in other orders of sums


# ---- network: the same as preactresnet18 in src/nn/models.cc ----


class PreActBlock(nn.Module):
    def __init__(self, inputs, planes, stride):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, planes, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.shortcut = None
        if stride != 1 or inputs != planes:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, planes, 1, stride, bias=False))

    def forward(self, x):
        active = F.relu(self.bn1(x))
        rest = x if self.shortcut is None else self.shortcut(active)
        return self.conv2(F.relu(self.bn2(self.conv1(active)))) + rest


class PreActResNet18(nn.Module):
    """No batch norm after the last block, as in the published experiments."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        inputs = 64
        for stage in range(4):
            planes = 64 << stage
            first = PreActBlock(inputs, planes, 2 if stage > 0 else 1)
            setattr(self, f"layer{stage + 1}", nn.Sequential(first, PreActBlock(planes, planes, 1)))
            inputs = planes
        self.linear = nn.Linear(inputs, CLASSES)

    def forward(self, x):
        x = self.layer4(self.layer3(self.layer2(self.layer1(self.conv1(x)))))
        return self.linear(F.adaptive_avg_pool2d(x, 1).flatten(1))


# ---- data and draws ----


class Images:
    """uint8 images on the device, padded, with their labels."""

    def __init__(self, pixels, labels, device):
        self.pixels = F.pad(pixels, (PAD,) * 4).to(device)
        self.labels = labels.to(device)
        self.mean = torch.tensor(MEAN, device=device).view(3, 1, 1)
        self.std = torch.tensor(STD, device=device).view(3, 1, 1)

    def count(self):
        return len(self.labels)


def random_images(count, device):
    pixels = torch.randint(0, 256, (count, 3, SIDE, SIDE), dtype=torch.uint8)
    return Images(pixels, torch.randint(0, CLASSES, (count,)), device)


def cifar100_images(folder, device):
    records = np.fromfile(Path(folder) / "train.bin", np.uint8).reshape(-1, 2 + 3 * SIDE * SIDE)
    pixels = torch.from_numpy(records[:, 2:].reshape(-1, 3, SIDE, SIDE).copy())
    return Images(pixels, torch.from_numpy(records[:, 1].astype(np.int64)), device)


def draw_mask(method):
    """lam, and top, bottom, left, right of the box, which is empty but for hmix."""
    lam = 1.0 if method == "none" else float(np.random.beta(ALPHA, ALPHA))
    if method != "hmix":
        return lam, (0, 0, 0, 0)
    half = int(SIDE * (1 - lam) ** 0.5 * RATIO**0.5) // 2
    y, x = np.random.randint(SIDE, size=2).tolist()
    return lam, (max(y - half, 0), min(y + half, SIDE), max(x - half, 0), min(x + half, SIDE))


def outside_weight(lam, box):
    """Weight of the own image outside the box, where its weight is 0."""
    top, bottom, left, right = box
    return lam / (1 - (bottom - top) * (right - left) / SIDE**2)


class Draws:
    """What is random about a step, on the device: one row per step."""

    def __init__(self, images, steps, batch, method):
        epochs = steps * batch // images.count() + 1
        order = torch.cat([torch.randperm(images.count()) for _ in range(epochs)])
        masks = [draw_mask(method) for _ in range(steps)]
        values = {
            "index": order[: steps * batch].view(steps, batch),
            "partner": torch.rand(steps, batch).argsort(1),
            "dy": torch.randint(0, 2 * PAD + 1, (steps, batch)),
            "dx": torch.randint(0, 2 * PAD + 1, (steps, batch)),
            "flip": torch.rand(steps, batch) < 0.5,
            "lam": torch.tensor([lam for lam, _ in masks]),
            "outside": torch.tensor([outside_weight(*mask) for mask in masks]),
            "box": torch.tensor([box for _, box in masks]),
        }
        self.steps = steps
        self.values = {name: v.to(images.labels.device) for name, v in values.items()}

    def row(self, step):
        """Of a step, a tensor with one element."""
        return {name: v[step].reshape(v.shape[1:]) for name, v in self.values.items()}


def windows(images, draw):
    """Cropped, mirrored and normalized images, n x 3 x 32 x 32 in channels-last order."""
    device = images.pixels.device
    along = torch.arange(SIDE, device=device)
    rows = draw["dy"][:, None] + along
    columns = draw["dx"][:, None] + torch.where(draw["flip"][:, None], SIDE - 1 - along, along)
    channels = torch.arange(3, device=device)
    x = images.pixels[draw["index"][:, None, None, None], channels[:, None, None],
                      rows[:, None, :, None], columns[:, None, None, :]]
    x = (x.float() - images.mean) / images.std
    return x.contiguous(memory_format=torch.channels_last)


def mix(x, draw):
    along = torch.arange(SIDE, device=x.device)
    top, bottom, left, right = draw["box"]
    inside = ((along >= top) & (along < bottom))[:, None] & (along >= left) & (along < right)
    mask = torch.where(inside, torch.zeros_like(draw["outside"]), draw["outside"])
    return x * mask + x[draw["partner"]] * (1 - mask)


def loss_of(logits, labels, draw):
    """Binary cross entropy of the softmax, averaged over batch and classes."""
    log_p = F.log_softmax(logits.float(), 1)
    log_rest = torch.log1p(-log_p.exp().clamp(max=1 - 2**-24))
    own = (labels[:, None] == torch.arange(CLASSES, device=labels.device)).float()
    target = draw["lam"] * own + (1 - draw["lam"]) * own[draw["partner"]]
    return -(target * log_p + (1 - target) * log_rest).mean()


# ---- contenders ----


class Torch:
    """A network in training; subclasses say how a step is run."""

    def __init__(self, images, options):
        torch.manual_seed(options.seed)
        self.images, self.options = images, options
        self.device = torch.device(options.device)
        self.net = PreActResNet18().to(self.device).to(memory_format=torch.channels_last)

    def loss(self, draw):
        x = windows(self.images, draw)
        if self.options.method != "none":
            x = mix(x, draw)
        # Graphs and autocast's cache of cast weights exclude each other.
        with torch.autocast(self.device.type, torch.bfloat16, cache_enabled=False):
            logits = self.net(x)
        return loss_of(logits, self.images.labels[draw["index"]], draw)

    def gradient(self, loss):
        """Of all parameters, as one vector."""
        loss.backward()
        vector = torch.cat([p.grad.float().flatten() for p in self.net.parameters()])
        self.net.zero_grad(set_to_none=True)
        return vector

    def measure(self):
        """Milliseconds per step."""
        if self.device.type != "cuda":
            start = time.perf_counter()
            for _ in range(self.options.steps):
                self.step()
            return (time.perf_counter() - start) * 1000 / self.options.steps
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        for _ in range(self.options.steps):
            self.step()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / self.options.steps


class Eager(Torch):
    def __init__(self, images, options, draws):
        super().__init__(images, options)
        first = draws.row(torch.zeros(1, dtype=torch.long, device=self.device))
        self.first_gradient = self.gradient(self.loss(first))
        self.optimizer = torch.optim.SGD(self.net.parameters(), LR, MOMENTUM, nesterov=True,
                                         weight_decay=WEIGHT_DECAY)
        self.loss_sum = torch.zeros((), device=self.device)
        self.order, self.at = torch.randperm(images.count(), device=self.device), 0

    def draw(self):
        batch, device = self.options.batch, self.device
        if self.at + batch > len(self.order):
            self.order, self.at = torch.randperm(len(self.order), device=device), 0
        index = self.order[self.at : self.at + batch]
        self.at += batch
        lam, box = draw_mask(self.options.method)
        return {
            "index": index,
            "partner": torch.randperm(batch, device=device),
            "dy": torch.randint(0, 2 * PAD + 1, (batch,), device=device),
            "dx": torch.randint(0, 2 * PAD + 1, (batch,), device=device),
            "flip": torch.rand(batch, device=device) < 0.5,
            "lam": lam,
            "outside": torch.full((), outside_weight(lam, box), device=device),
            "box": box,
        }

    def step(self):
        loss = self.loss(self.draw())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.loss_sum += loss.detach()


class CompiledGraph(Torch):
    def __init__(self, images, options, draws):
        super().__init__(images, options)
        self.draws = draws
        self.at = torch.zeros(1, dtype=torch.long, device=self.device)
        self.loss_sum = torch.zeros((), device=self.device)
        lr = torch.tensor(LR, device=self.device)  # so that a schedule can change it
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr, MOMENTUM, nesterov=True,
                                         weight_decay=WEIGHT_DECAY, fused=True)
        self.compiled = torch.compile(lambda at: self.loss(self.draws.row(at)))
        self.first_gradient = self.gradient(self.compiled(self.at))
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(options.warm_up):
                self.optimizer.zero_grad(set_to_none=True)
                self.run_step()
        torch.cuda.current_stream().wait_stream(stream)
        self.optimizer.zero_grad(set_to_none=True)  # gradients then live in the graph's memory
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.run_step()

    def run_step(self):
        loss = self.compiled(self.at)
        loss.backward()
        self.optimizer.step()
        self.loss_sum += loss.detach()
        self.at.copy_((self.at + 1) % self.draws.steps)

    def step(self):
        self.graph.replay()


def ms_from_profile(output):
    """ms_per_step of the line {"schema":"medley.profile/1",…} among what medley printed."""
    for line in output.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            if found.get("schema") == "medley.profile/1":
                return float(found["ms_per_step"])
    raise RuntimeError("medley printed no line with the schema medley.profile/1")


class Medley:
    def __init__(self, options):
        self.options = options

    def measure(self):
        o = self.options
        with tempfile.TemporaryDirectory() as folder:
            command = [o.medley, "train", "--recipe", "cifar100-paper", "--method", o.method,
                       "--batch", str(o.batch), "--device", o.device, "--profile", "--json",
                       "--out", str(Path(folder) / "run")]
            command += ["--data", f"cifar100:{o.data}"] if o.data else []
            command += shlex.split(o.args)
            done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{shlex.join(command)} failed: {done.stderr.strip()}")
        return ms_from_profile(done.stdout)


def cannot_compile(options):
    if not hasattr(torch, "compile"):
        return f"torch {torch.__version__} has no torch.compile"
    if options.device != "cuda":
        return "CUDA graphs need a GPU"
    return None


def contenders(options, images, draws):
    """Those that can run, and why the others cannot."""
    found, skipped = {"eager": Eager(images, options, draws)}, {}
    reason = cannot_compile(options)
    if reason is None:
        try:
            found["compile+graph"] = CompiledGraph(images, options, draws)
        except Exception as error:  # the others can still be measured
            reason = f"{type(error).__name__}: {error}"
    if reason is not None:
        skipped["compile+graph"] = reason
    if options.medley:
        found["medley"] = Medley(options)
    else:
        skipped["medley"] = "no --medley PATH"
    return found, skipped


def check_gradients(found):
    """A time counts only if the contender computes the same: the gradient of the first step."""
    agreement = {}
    for name, one in found.items():
        if name == "eager" or not isinstance(one, Torch):
            continue
        cosine = F.cosine_similarity(one.first_gradient, found["eager"].first_gradient, 0).item()
        if not cosine >= LEAST_AGREEMENT:
            raise RuntimeError(f"the gradients of {name} and eager differ, cosine {cosine:.3f}")
        agreement[name] = cosine
    return agreement


def measure_in_turn(found, options):
    for one in found.values():
        for _ in range(options.warm_up if isinstance(one, Torch) else 0):
            one.step()
    times = {name: [] for name in found}
    for _ in range(options.rounds):
        for name, one in found.items():
            times[name].append(one.measure())
    return times


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--method", choices=METHODS, default="hmix")
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--steps", type=int, default=250, help="per round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warm-up", type=int, default=30, help="steps before the first round")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--images", type=int, default=50000, help="number of random images")
    parser.add_argument("--data", help="folder of CIFAR-100's train.bin, instead of random images")
    parser.add_argument("--medley", help="the program, to be timed in the same run")
    parser.add_argument("--args", default="", help='more for it: --args="--epochs 1 --seed 1"')
    options = parser.parse_args()
    if min(options.batch, options.steps, options.rounds, options.warm_up) < 1:
        parser.error("batch, steps, rounds and warm-up must be at least 1")
    if options.device == "cpu":
        options.rounds, options.warm_up = min(options.rounds, 2), 1
        options.images = min(options.images, 1000)
    elif not torch.cuda.is_available():
        parser.error("there is no GPU; --device cpu --steps 2 --batch 4 tries the script out")
    elif options.steps < LEAST_STEPS:
        parser.error(f"steps must be at least {LEAST_STEPS} on a GPU, got {options.steps}")
    if options.images < options.batch:
        parser.error(f"a batch of {options.batch} needs as many images, got {options.images}")
    return options


def main():
    options = parse_options()
    torch.manual_seed(options.seed)
    np.random.seed(options.seed)
    torch.backends.cudnn.benchmark = True
    images = (cifar100_images(options.data, options.device) if options.data
              else random_images(options.images, options.device))
    draws = Draws(images, PLANNED_STEPS, options.batch, options.method)
    found, skipped = contenders(options, images, draws)
    agreement = check_gradients(found)
    times = measure_in_turn(found, options)
    medians = {name: statistics.median(values) for name, values in times.items()}
    on_gpu = options.device == "cuda"
    report = {
        "schema": "medley.bench-train/1",
        "gpu": torch.cuda.get_device_name() if on_gpu else None,
        "torch": torch.__version__,
        "cuda": torch.version.cuda if on_gpu else None,
        "date": date.today().isoformat(),
        "model": "preactresnet18",
        "recipe": "cifar100-paper",
        "method": options.method,
        "data": "cifar100" if options.data else "random",
        "batch": options.batch,
        "steps": options.steps,
        "rounds": options.rounds,
        "agreement": agreement,
        "contenders": medians,
        "range": {name: [min(values), max(values)] for name, values in times.items()},
        "skipped": skipped,
    }
    print(json.dumps(report))
    for name, ms in medians.items():
        print(f"{name:15s}{ms:9.3f} ms a step, {medians['eager'] / ms:5.2f} x eager",
              file=sys.stderr)
    for name, reason in skipped.items():
        print(f"{name:15s}left out: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()

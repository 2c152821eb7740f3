#!/usr/bin/env python3
"""Mixing on the GPU: Medley beside the ways PyTorch users do it, in one run.

    python3 bench/peers/mix_gpu.py build/cuda/bench/cuda/bench_cuda > bench/results/cuda-h200.json

Runs the bench program given, then times torchvision.transforms.v2 MixUp and CutMix, and HMix and
GMix composed from PyTorch operations as the published code does, on the same shapes and types.
Times are medians of device events. The result is one JSON object; a table goes to stderr.
"""

import json
import statistics
import subprocess
import sys
from datetime import date

import torch

BATCH, CHANNELS, SIDE = 512, 3, 224
WARM_UP, REPETITIONS = 5, 30
LAM = 0.4


def median_us(call):
    """Another call keeps the device busy while the timed one is launched, as in bench_cuda."""
    for _ in range(WARM_UP):
        call()
    times = []
    for _ in range(REPETITIONS):
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        call()
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000)
    return statistics.median(times)


def box(lam, ratio=1.0):
    side = int(SIDE * ((1 - lam) * ratio) ** 0.5)
    top = (SIDE - side) // 2
    return top, top + side


def mixup(x):
    """timm: the batch is scaled in place and the flipped, scaled batch is added."""
    flipped = x.flip(0).mul_(1 - LAM)
    return x.mul(LAM).add_(flipped)


def cutmix(x):
    low, high = box(LAM)
    out = x.clone()
    out[:, :, low:high, low:high] = x.flip(0)[:, :, low:high, low:high]
    return out


def hmix(x):
    low, high = box(LAM, 0.5)
    flipped = x.flip(0)
    rest = LAM / (1 - (high - low) ** 2 / SIDE**2)
    out = x.clone()
    out[:, :, low:high, low:high] = flipped[:, :, low:high, low:high]
    mask = torch.ones(SIDE, SIDE, device=x.device, dtype=x.dtype) * rest
    mask[low:high, low:high] = 1
    return out * mask + flipped * (1 - mask)


def gmix(x):
    ys, xs = torch.meshgrid(
        torch.arange(SIDE, device=x.device), torch.arange(SIDE, device=x.device), indexing="ij"
    )
    centre = SIDE // 3
    distance = ((ys - centre) ** 2 + (xs - centre) ** 2).float()
    kernel = torch.exp(-torch.pi * distance / (min(LAM, 1 - LAM) * SIDE**2)).to(x.dtype)
    return x * kernel + x.flip(0) * (1 - kernel)


def torchvision_mixers():
    from torchvision.transforms import v2

    labels = torch.randint(0, 1000, (BATCH,), device="cuda")
    mix_up = v2.MixUp(num_classes=1000, alpha=1.0)
    cut_mix = v2.CutMix(num_classes=1000, alpha=1.0)
    return {
        "torchvision.v2.MixUp": ("mixup", lambda x: mix_up(x, labels)),
        "torchvision.v2.CutMix": ("cutmix", lambda x: cut_mix(x, labels)),
    }


def peers():
    found = {
        "torch mixup (timm's way)": ("mixup", mixup),
        "torch cutmix (timm's way)": ("cutmix", cutmix),
        "torch hmix (published way)": ("hmix", hmix),
        "torch gmix (published way)": ("gmix", gmix),
    }
    try:
        found.update(torchvision_mixers())
    except ImportError as error:
        print(f"torchvision left out: {error}", file=sys.stderr)
    return found


def main():
    medley = json.loads(subprocess.run(sys.argv[1:2], check=True, capture_output=True).stdout)
    ours = {
        (row["method"], row["in"], row["out"]): row["us"]
        for row in medley["methods"]
        if row["layout"] == "nchw" and row["mode"] == "sample"
    }
    types = [
        ("f32", "f32", torch.float32),
        ("f16", "f16", torch.float16),
        ("bf16", "bf16", torch.bfloat16),
        ("u8", "bf16", torch.uint8),
    ]
    mean = torch.tensor([124.0, 116, 104], device="cuda").view(1, 3, 1, 1).bfloat16()
    std = torch.tensor([58.0, 57, 57], device="cuda").view(1, 3, 1, 1).bfloat16()
    rows = []
    for in_name, out_name, dtype in types:
        x = (torch.rand(BATCH, CHANNELS, SIDE, SIDE, device="cuda") * 255).to(dtype)
        for name, (method, call) in peers().items():
            if dtype == torch.uint8:
                us = median_us(lambda: call((x.bfloat16() - mean) / std))
            else:
                us = median_us(lambda: call(x))
            our_us = ours[(method, in_name, out_name)]
            rows.append(
                {"peer": name, "method": method, "in": in_name, "out": out_name, "us": us,
                 "medley_us": our_us, "times": us / our_us}
            )
    medley["date"] = date.today().isoformat()
    medley["torch"] = torch.__version__
    medley["peers"] = rows
    json.dump(medley, sys.stdout, indent=1)
    print(f"copy {medley['copy_tb_per_s']:.2f} TB/s", file=sys.stderr)
    for row in medley["methods"]:
        print("{method:15s}{mode:8s}{in:>5s}->{out:5s}{layout:5s}{us:9.1f} us{tb_per_s:7.2f} TB/s"
              "{share_of_copy:6.2f}".format(**row), file=sys.stderr)
    for row in medley["per_sample"]:
        print("per sample {method:8s} cost {cost:+.3f}".format(**row), file=sys.stderr)
    for row in medley["small"]:
        print("100x3x32x32 {method:8s}{layout:5s}{us_per_batch:6.2f} us".format(**row),
              file=sys.stderr)
    for row in rows:
        print("{peer:28s}{in:>5s}->{out:5s}{us:9.1f} us, {times:5.2f} x".format(**row),
              file=sys.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Mixing on the GPU: Medley beside the ways PyTorch users do it, in one run.

    python3 bench/peers/mix_gpu.py build/cuda/bench/cuda/bench_cuda > bench/results/cuda-h200.json

Runs the bench program given, then, on the same shapes and types,

    torch.compile   the formula of a method as plain expressions, fullgraph, random partners; one
                    set of parameters for the batch, or one a sample. No draws, no labels.
    torchvision     transforms.v2 MixUp and CutMix, labels included, eager and compiled
    eager           timm's way, the published way of HMix and GMix

A contender is timed only after its pixels agreed with the eager expression (those whose parameters
are fixed). Times are medians of device events; the unit is a memcpy of the batch in the same run
(u8 to bf16: its time scaled to the bytes read and written). The result is one JSON object; tables,
the best contender first, go to stderr.

    python3 bench/peers/mix_gpu.py --device cpu --batch 4 --side 32

only shows that the contenders run and agree: no bench program, times of the host.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from datetime import date

import torch

WARM_UP, REPETITIONS = 5, 30
LAM = 0.4
CLASSES = 1000
MEAN, STD = (124.0, 116.0, 104.0), (58.0, 57.0, 57.0)
METHODS = ("mixup", "cutmix", "hmix", "gmix")
TARGET = 0.85  # Medley's time over that of the compiled formula
TYPES = [
    ("f32", "f32", torch.float32),
    ("f16", "f16", torch.float16),
    ("bf16", "bf16", torch.bfloat16),
    ("u8", "bf16", torch.uint8),
]
TOLERANCE = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}


def median_us(call, device):
    """Another call keeps the device busy while the timed one is launched, as in bench_cuda."""
    for _ in range(WARM_UP):
        call()
    times = []
    for _ in range(REPETITIONS):
        if device == "cpu":
            begin = time.perf_counter()
            call()
            times.append((time.perf_counter() - begin) * 1e6)
            continue
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        call()
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000)
    return statistics.median(times)


# ---- the formulas, as one would write them for torch.compile ----


class Parameters:
    """Parameters of a method as tensors, one for the batch or one a sample, and the partners."""

    def __init__(self, batch, side, mode, device):
        count = batch if mode == "sample" else 1
        shape = (count, 1, 1, 1)
        generator = torch.Generator().manual_seed(1)

        def draw(low, high):
            drawn = torch.rand(shape, generator=generator) * (high - low) + low
            return drawn.to(device)

        self.lam = draw(0.2, 0.8) if mode == "sample" else torch.full(shape, LAM, device=device)
        self.partner = torch.randperm(batch, generator=generator).to(device)
        # As the methods have it: a box of 1 - lam, of half of that for HMix.
        cut = (side * (1 - self.lam).sqrt()).long()
        half = (side * ((1 - self.lam) / 2).sqrt()).long()
        self.cutmix_box = self.box(draw, cut, side)
        self.hmix_box = self.box(draw, half, side)
        self.outside = self.lam / (1 - half.float() ** 2 / side**2)
        self.top = (draw(0, 1) * side).long()
        self.left = (draw(0, 1) * side).long()

    @staticmethod
    def box(draw, cut, side):
        top = (draw(0, 1) * (side - cut)).long()
        left = (draw(0, 1) * (side - cut)).long()
        return top, top + cut, left, left + cut


def inside(x, box):
    top, bottom, left, right = box
    rows = torch.arange(x.shape[2], device=x.device).view(1, 1, -1, 1)
    columns = torch.arange(x.shape[3], device=x.device).view(1, 1, 1, -1)
    return (rows >= top) & (rows < bottom) & (columns >= left) & (columns < right)


def mixup(x, p):
    return x * p.lam.to(x.dtype) + x[p.partner] * (1 - p.lam).to(x.dtype)


def cutmix(x, p):
    return torch.where(inside(x, p.cutmix_box), x[p.partner], x)


def hmix(x, p):
    own = torch.where(inside(x, p.hmix_box), 0.0, p.outside).to(x.dtype)
    return x * own + x[p.partner] * (1 - own)


def gmix(x, p):
    rows = torch.arange(x.shape[2], device=x.device).view(1, 1, -1, 1)
    columns = torch.arange(x.shape[3], device=x.device).view(1, 1, 1, -1)
    squared = ((rows - p.top) ** 2 + (columns - p.left) ** 2).float()
    area = x.shape[2] * x.shape[3]
    kernel = torch.exp(-torch.pi * squared / ((1 - p.lam) * area)).to(x.dtype)
    return x[p.partner] * kernel + x * (1 - kernel)


FORMULAS = {"mixup": mixup, "cutmix": cutmix, "hmix": hmix, "gmix": gmix}


def formula(method, p, mean, std, dtype):
    """x to the mixed batch: u8 through float to normalized bf16, everything else in its type."""
    mix = FORMULAS[method]
    if dtype != torch.uint8:
        return lambda x: mix(x, p)
    return lambda x: ((mix(x.float(), p) - mean) / std).bfloat16()


# ---- eager code as people have it: one lam, the batch reversed ----


def middle_box(side, share):
    cut = int(side * share**0.5)
    low = (side - cut) // 2
    return low, low + cut


def eager_mixup(x):
    """timm: the batch is scaled in place and the flipped, scaled batch is added."""
    flipped = x.flip(0).mul_(1 - LAM)
    return x.mul(LAM).add_(flipped)


def eager_cutmix(x):
    low, high = middle_box(x.shape[2], 1 - LAM)
    out = x.clone()
    out[:, :, low:high, low:high] = x.flip(0)[:, :, low:high, low:high]
    return out


def eager_hmix(x):
    side = x.shape[2]
    low, high = middle_box(side, (1 - LAM) / 2)
    flipped = x.flip(0)
    rest = LAM / (1 - (high - low) ** 2 / side**2)
    out = x.clone()
    out[:, :, low:high, low:high] = flipped[:, :, low:high, low:high]
    mask = torch.ones(side, side, device=x.device, dtype=x.dtype) * rest
    mask[low:high, low:high] = 1
    return out * mask + flipped * (1 - mask)


def eager_gmix(x):
    side = x.shape[2]
    places = torch.arange(side, device=x.device)
    ys, xs = torch.meshgrid(places, places, indexing="ij")
    center = side // 3
    distance = ((ys - center) ** 2 + (xs - center) ** 2).float()
    kernel = torch.exp(-torch.pi * distance / (min(LAM, 1 - LAM) * side**2)).to(x.dtype)
    return x * kernel + x.flip(0) * (1 - kernel)


EAGER = {
    "eager mixup (timm's way)": ("mixup", eager_mixup),
    "eager cutmix (timm's way)": ("cutmix", eager_cutmix),
    "eager hmix (published way)": ("hmix", eager_hmix),
    "eager gmix (published way)": ("gmix", eager_gmix),
}


def torchvision_contenders(labels):
    try:
        from torchvision.transforms import v2
    except ImportError as error:
        print(f"torchvision left out: {error}", file=sys.stderr)
        return {}
    mix_up = v2.MixUp(num_classes=CLASSES, alpha=1.0)
    cut_mix = v2.CutMix(num_classes=CLASSES, alpha=1.0)
    found = {}
    for name, method, transform in (("MixUp", "mixup", mix_up), ("CutMix", "cutmix", cut_mix)):

        def call(x, transform=transform):
            return transform(x, labels)

        found[f"torchvision {name}, eager"] = (method, call)
        found[f"torchvision {name}, compiled"] = (method, torch.compile(call))
    return found


def contenders(x, labels, dtype, mean, std, device):
    """Name to method, mode and call; what cannot be compiled here is left out, with the reason."""
    found = {}
    expected = {}
    for mode in ("batch", "sample"):
        p = Parameters(len(x), x.shape[2], mode, device)
        for method in METHODS:
            expression = formula(method, p, mean, std, dtype)
            compiled = torch.compile(expression, fullgraph=True)
            name = f"torch.compile {method}, {mode}"
            found[name] = (method, mode, lambda compiled=compiled: compiled(x))
            expected[name] = lambda expression=expression: expression(x)
    others = {**EAGER, **torchvision_contenders(labels)}
    for name, (method, call) in others.items():
        if dtype == torch.uint8:
            mean16, std16 = mean.bfloat16(), std.bfloat16()

            def whole(call=call):
                return call((x.bfloat16() - mean16) / std16)

        else:

            def whole(call=call):
                return call(x)

        found[name] = (method, "batch", whole)
    return found, expected


def check(name, actual, expected):
    tolerance = TOLERANCE[expected.dtype]
    if not torch.allclose(actual, expected, atol=tolerance, rtol=tolerance):
        sys.exit(f"{name} differs from its own expression")


def measure(options, medley):
    """Rows of the table of peers."""
    device, shape = options.device, (options.batch, 3, options.side, options.side)
    ours = {
        (row["method"], row["mode"], row["in"]): row
        for row in medley.get("methods", [])
        if row["layout"] == "nchw" and row["batch"] == options.batch
    }
    labels = torch.randint(0, CLASSES, (options.batch,), device=device)
    mean = torch.tensor(MEAN, device=device).view(1, 3, 1, 1)
    std = torch.tensor(STD, device=device).view(1, 3, 1, 1)
    rows = []
    for in_name, out_name, dtype in (t for t in TYPES if t[0] in options.types):
        x = torch.rand(shape, device=device)
        x = (x * 255).to(dtype) if dtype == torch.uint8 else x.to(dtype)
        out_type = torch.bfloat16 if dtype == torch.uint8 else dtype
        copied = torch.empty(shape, dtype=out_type, device=device)
        source = torch.zeros_like(copied)
        copy_us = median_us(lambda: copied.copy_(source), device)
        share = (x.element_size() + copied.element_size()) / (2 * copied.element_size())
        floor_us = copy_us * share
        found, expected = contenders(x, labels, dtype, mean, std, device)
        for name, (method, mode, call) in found.items():
            torch._dynamo.reset()  # else all formulas are variants of one function, up to a limit
            try:
                if name in expected:
                    check(name, call(), expected[name]())
                us = median_us(call, device)
            except Exception as error:  # a contender that does not run here is no result
                print(f"{name}, {in_name}: left out: {error}", file=sys.stderr)
                continue
            row = {"peer": name, "method": method, "mode": mode, "in": in_name, "out": out_name,
                   "us": us, "of_memcpy": us / floor_us}
            our = ours.get((method, mode, in_name))
            if our:
                row |= {"medley_us": our["us"], "times": us / our["us"]}
                if name.startswith("torch.compile"):
                    row |= {"target": 1 / TARGET, "met": our["us"] <= TARGET * us}
            rows.append(row)
    return rows


def print_tables(medley, rows):
    def mark(row):
        return "" if row.get("met", True) in (True, None) else "  MISSED"

    print("contenders, best first: times as long as Medley, microseconds, of a memcpy",
          file=sys.stderr)
    for row in sorted(rows, key=lambda r: (r["method"], r["in"], r["us"])):
        times = f"{row['times']:6.2f} x" if "times" in row else "        "
        print(f"{row['method']:8s}{row['in']:>5s}->{row['out']:5s}{row['peer']:32s}{times}"
              f"{row['us']:10.1f} us{row['of_memcpy']:7.2f}{mark(row)}", file=sys.stderr)
    if not medley:
        return
    print(f"copy {medley['copy_tb_per_s']:.2f} TB/s", file=sys.stderr)
    for row in medley["methods"]:
        print("{method:15s}{batch:4d} {mode:8s}{in:>5s}->{out:5s}{layout:5s}{of_memcpy:6.2f} of "
              "memcpy{us:9.1f} us{tb_per_s:7.2f} TB/s".format(**row) + mark(row), file=sys.stderr)
    for row in medley.get("per_sample", []):
        print("per sample {method:8s} cost {cost:+.3f}".format(**row), file=sys.stderr)
    for row in medley.get("small", []):
        print("100x3x32x32 {method:8s}{layout:5s}{us_per_batch:6.2f} us".format(**row),
              file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", nargs="?", help="bench_cuda")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--types", default=[t[0] for t in TYPES], type=lambda text: text.split(","),
                        help="types of the images: f32,f16,bf16,u8")
    options = parser.parse_args()
    medley = {}
    if options.program:
        run = subprocess.run([options.program], check=True, capture_output=True)
        medley = json.loads(run.stdout)
    rows = measure(options, medley)
    print_tables(medley, rows)
    result = {**medley, "date": date.today().isoformat(), "torch": torch.__version__, "peers": rows}
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()

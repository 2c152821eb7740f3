#!/usr/bin/env python3
"""Mixing from Python on the CPU: the cost of a call, and Medley beside timm and torchvision.

    PYTHONPATH=build/python /usr/bin/python3 bench/python/bench_mix.py --out bench/results

Everything is measured in turn, round by round, in one run; a figure is the median over rounds, and
what counts are ratios. A contender is timed only after its output agreed with Medley's.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import statistics
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import torch

import medley
import medley.timm

LAM = 0.4
CLASSES = 1000


# What the published systems do, operation by operation.


def timm_target(target, lam):
    """timm: smoothed one-hot rows of the batch and of its mirror image, mixed."""
    off = 0.1 / CLASSES
    on = 1 - 0.1 + off
    rows = [
        torch.full((len(target), CLASSES), off).scatter_(1, t.long().view(-1, 1), on)
        for t in (target, target.flip(0))
    ]
    return rows[0] * lam + rows[1] * (1 - lam)


def timm_mixup(x, target, plan):
    flipped = x.flip(0).mul_(1.0 - LAM)
    x.mul_(LAM).add_(flipped)
    return x, timm_target(target, LAM)


def box_of(plan):
    mask = plan.entries[0]["mask"]
    top, left = mask["top"], mask["left"]
    return (..., slice(top, top + mask["height"]), slice(left, left + mask["width"]))


def timm_cutmix(x, target, plan, box, weight):
    x[box] = x.flip(0)[box]
    return x, timm_target(target, weight)


def published_hmix(x, target, plan, box, outside):
    clone = x.clone()
    flipped = x.flip(0).mul_(1 - outside)
    x.mul_(outside).add_(flipped)
    x[box] = clone.flip(0)[box]
    return x, timm_target(target, LAM)


def published_gmix(x, target, plan):
    mask = plan.entries[0]["mask"]
    height, width = x.shape[2:]
    columns = torch.arange(width).repeat(height, 1) - mask["cx"]
    rows = torch.arange(height).repeat(width, 1).t() - mask["cy"]
    distance = torch.stack([columns, rows], -1).float().pow(2).sum(-1)
    kernel = torch.exp(-distance * math.pi / (mask["tau"] * height * width))
    own = kernel if mask["peak"] == "own" else 1 - kernel
    flipped = x.flip(0).mul_(1 - own)
    x.mul_(own).add_(flipped)
    return x, timm_target(target, float(own.mean()))


def torchvision_target(target, lam):
    rows = torch.nn.functional.one_hot(target, CLASSES).float()
    return rows.roll(1, 0).mul_(1.0 - lam).add_(rows.mul(lam))


def torchvision_mixup(x, target, plan):
    rolled = x.roll(1, 0).mul_(1.0 - LAM)
    return x.mul(LAM).add_(rolled), torchvision_target(target, LAM)


def torchvision_cutmix(x, target, plan, box, weight):
    rolled = x.roll(1, 0)
    output = x.clone()
    output[box] = rolled[box]
    return output, torchvision_target(target, weight)


def median_of_rounds(calls, rounds, prepare=None):
    """Median seconds of each call, and its median absolute deviation, as a share."""
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            if prepare:
                prepare()
            begin = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - begin)
    result = {}
    for name, values in times.items():
        middle = statistics.median(values)
        spread = statistics.median(abs(v - middle) for v in values) / middle
        result[name] = {"seconds": middle, "spread": spread}
    return result


def overhead(rounds, calls):
    """Microseconds that a call from Python takes beyond the C++ work in it (plan, pixels, labels),
    for a 128x3x32x32 f32 batch. The extension clocks that work inside the same call, so what else
    the machine does cancels out. `out` writes to an array that exists, `new` makes one.
    For comparison, what PyTorch takes to make a tensor after such a call, when caches are cold.
    """
    shape = (128, 3, 32, 32)
    arrays = {
        "numpy": (np.full(shape, 0.5, np.float32), np.ones(128, np.int64)),
        "torch": (torch.full(shape, 0.5), torch.ones(128, dtype=torch.int64)),
    }
    rows = {}
    for method in ("mixup", "cutmix", "hmix", "gmix"):
        measured = {}
        for _ in range(rounds):
            for name, (images, labels) in arrays.items():
                mix = medley.Mix(method)
                out = images.copy() if name == "numpy" else images.clone()
                for suffix, options in (("out", {"out": out}), ("new", {})):
                    beyond = []
                    for _ in range(calls):
                        begin = time.perf_counter_ns()
                        mix(images, labels, **options)
                        whole = time.perf_counter_ns() - begin
                        beyond.append((whole - mix._settings.library_ns) / 1e3)
                    measured.setdefault(f"{name}_{suffix}", []).append(statistics.median(beyond))
        making = []
        for _ in range(calls):
            mix(images, labels, out=out)
            begin = time.perf_counter_ns()
            torch.empty_like(images)
            making.append((time.perf_counter_ns() - begin) / 1e3)
        measured["torch_empty_like"] = [statistics.median(making)]
        rows[method] = {
            f"{k}_us" if k == "torch_empty_like" else f"{k}_overhead_us": statistics.median(v)
            for k, v in measured.items()
        }
        text = ", ".join(f"{k} {v:.1f}" for k, v in rows[method].items())
        print(f"{method}: {text}", file=sys.stderr)
    return rows


def in_place_section(shape, rounds):
    """As timm's users call it: the batch is overwritten, soft targets come out."""
    x = torch.rand(shape)
    target = torch.arange(shape[0]) % CLASSES
    pristine = x.clone()
    sections = {}
    for method in ("mixup", "cutmix", "hmix", "gmix"):
        fn = medley.timm.Mixup(method=method, mixup_alpha=1.0, lam=LAM, num_classes=CLASSES, seed=2)
        plan = fn.plan(batch=shape[0], size=shape[2:])
        if method == "mixup":
            def peer(): return timm_mixup(x, target, plan)
        elif method == "cutmix":
            box, weight = box_of(plan), plan.label_weight[0]
            def peer(): return timm_cutmix(x, target, plan, box, weight)
        elif method == "hmix":
            box, outside = box_of(plan), plan.entries[0]["mask"]["outside"]
            def peer(): return published_hmix(x, target, plan, box, outside)
        else:
            def peer(): return published_gmix(x, target, plan)

        fn.set_epoch(0)
        x.copy_(pristine)
        ours, our_target = fn(x, target)
        ours = ours.clone()
        x.copy_(pristine)
        theirs, their_target = peer()
        assert torch.allclose(ours, theirs, atol=1e-5), method
        assert torch.allclose(our_target, their_target.float(), atol=1e-4), method

        out = torch.empty_like(x)
        mix = medley.Mix(method, lam=LAM, mode="batch", pairing="reverse", seed=2)
        result = median_of_rounds(
            {
                "peer": peer,
                "medley_timm": lambda: fn(x, target),
                "medley_out": lambda: mix(x, target, out=out),
                "medley_new": lambda: mix(x, target),
            },
            rounds,
        )
        sections[method] = result
        report("in place", method, result)
    return sections


def new_batch_section(shape, rounds):
    """As torchvision's users call it: a new batch and soft labels come out."""
    x = torch.rand(shape)
    target = torch.arange(shape[0]) % CLASSES
    sections = {}
    for method in ("mixup", "cutmix"):
        # torchvision's partner is the previous sample, Medley's roll the next: flip the batch.
        mix = medley.Mix(method, lam=LAM, mode="batch", pairing="roll", seed=2, num_classes=CLASSES)
        plan = mix.plan(batch=shape[0], size=shape[2:])
        if method == "mixup":
            def peer(): return torchvision_mixup(x, target, plan)
        else:
            box, weight = box_of(plan), plan.label_weight[0]
            def peer(): return torchvision_cutmix(x, target, plan, box, weight)
        theirs, _ = peer()
        ours = medley.apply(plan, x.flip(0)).flip(0)
        assert torch.allclose(ours, theirs, atol=1e-6), method

        def transform():
            mixed, y = mix(x, target)
            return mixed, y.soft()

        out = torch.empty_like(x)
        result = median_of_rounds(
            {"peer": peer, "medley_new": transform, "medley_out": lambda: mix(x, target, out=out)},
            rounds,
        )
        sections[method] = result
        report("new batch", method, result)
    return sections


def report(section, method, result):
    peer = result["peer"]["seconds"]
    for name, value in result.items():
        value["times_faster"] = peer / value["seconds"]
    texts = [
        f"{name} {value['seconds'] * 1e3:.1f} ms ({value['times_faster']:.2f}x)"
        for name, value in result.items()
    ]
    print(f"{section} {method}: {', '.join(texts)}", file=sys.stderr)


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return platform.processor()


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)", "", text.lower())).strip("-")


def machine(commit):
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "torch_threads": torch.get_num_threads(),
        "simd_target": medley.simd_targets()[0],
        "python": platform.python_version(),
        "numpy": np.__version__,
        "torch": torch.__version__,
        "medley": medley.__version__,
        "commit": commit,
        "load_before": os.getloadavg(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=400, help="calls per round of the overhead")
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--overhead-only", action="store_true", help="print that, and stop")
    parser.add_argument("--out", type=Path, help="folder for python-PROCESSOR.json")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    torch.set_num_threads(os.cpu_count())  # its default here may be one
    shape = (128, 3, options.side, options.side)
    result = {
        "schema": "medley.bench-python/1",
        "machine": machine(options.commit),
        "rounds": options.rounds,
        "shape": shape,
    }
    result["overhead_128x3x32x32"] = overhead(options.rounds, options.calls)
    if options.overhead_only:
        return
    result["in_place"] = in_place_section(shape, options.rounds)
    result["new_batch"] = new_batch_section(shape, options.rounds)
    result["machine"]["load_after"] = os.getloadavg()
    text = json.dumps(result, indent=1) + "\n"
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        path = options.out / f"python-{slug(cpu_model())}.json"
        path.write_text(text)
        print(path, file=sys.stderr)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()

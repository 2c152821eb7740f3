#!/usr/bin/env python3
"""Mixing from Python with out= and without, NumPy and PyTorch, beside what PyTorch itself offers.

    PYTHONPATH=build/python python3 bench/python/bench_out.py --out bench/results

Sizes beyond and in the caches, one lam and mask for the batch, the batch reversed as partners, no
labels but for torchvision, whose transforms make them. Everything runs under two settings of
glibc's allocator, each in a process of its own: its defaults, where a large result comes from pages
that the system makes anew, and with freed memory kept (MALLOC_MMAP_THRESHOLD_ and
MALLOC_TRIM_THRESHOLD_). "kept" results stay alive, so nothing can reuse their memory. Contenders
take turns, round by round; a figure is the median over rounds, and counts only after the pixels
agreed with Medley's.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from bench_mix import CLASSES, LAM, box_of, cpu_model, machine, slug

import medley

try:
    from bench_peers import torchvision_transform
except ImportError as missing:
    torchvision_transform = None
    print(f"torchvision left out: {missing}", file=sys.stderr)

METHODS = ("mixup", "cutmix", "hmix", "gmix")
SHAPES = ((64, 3, 224, 224), (8, 3, 224, 224), (128, 3, 32, 32), (4096, 3, 32, 32))
SETTINGS = {
    "defaults": {},
    "memory kept": {
        "MALLOC_MMAP_THRESHOLD_": "4000000000",
        "MALLOC_TRIM_THRESHOLD_": "4000000000",
    },
}
SAMPLE_SECONDS = 1e-3
REST_SECONDS = 5e-3  # PyTorch's threads spin for a while after an operation


def torch_contenders(method, x, out, plan):
    """Operations of PyTorch alone; the partner is a copy that they have to make, or is there."""
    mask = plan.entries[0]["mask"]
    there = x.flip(0)
    if method == "mixup":
        return {
            "torch.lerp(out=)": lambda: torch.lerp(x, x.flip(0), 1 - LAM, out=out),
            "torch.lerp(out=), partner there": lambda: torch.lerp(x, there, 1 - LAM, out=out),
            "x * lam + flip * (1 - lam)": lambda: x * LAM + x.flip(0) * (1 - LAM),
        }
    if method == "gmix":
        height, width = x.shape[2:]
        rows = torch.arange(height).view(-1, 1) - mask["cy"]
        columns = torch.arange(width).view(1, -1) - mask["cx"]
        kernel = torch.exp(-torch.pi * (rows**2 + columns**2) / (mask["tau"] * height * width))
        partner = 1 - kernel if mask["peak"] == "own" else kernel
        return {
            "torch.lerp(out=)": lambda: torch.lerp(x, x.flip(0), partner, out=out),
            "torch.lerp(out=), partner there": lambda: torch.lerp(x, there, partner, out=out),
        }
    box = box_of(plan)

    def pasted(partner):
        if method == "cutmix":
            out.copy_(x)
        else:
            torch.lerp(x, partner, 1 - mask["outside"], out=out)
        out[box] = partner[box]
        return out

    return {
        "copy and box(out=)" if method == "cutmix" else "torch.lerp(out=)": lambda: pasted(
            x.flip(0)
        ),
        "partner there": lambda: pasted(there),
    }


def torchvision_contender(method, plan, mix, x, labels):
    if torchvision_transform is None:
        return {}
    mask = plan.entries[0]["mask"]
    transform = torchvision_transform(method, mask)
    pair = mix.plan(batch=2, size=x.shape[2:])
    theirs, _ = transform(x[:2], labels[:2])
    assert torch.allclose(theirs, medley.apply(pair, x[:2]), atol=1e-5), method
    return {"torchvision": lambda: transform(x, labels)}


def contenders(method, shape):
    """Name to call. Medley applies a plan that is there, as the others have their parameters."""
    x = torch.rand(shape)
    array = x.numpy().copy()
    out, array_out = torch.empty_like(x), np.empty_like(array)
    mix = medley.Mix(method, lam=LAM, mode="batch", pairing="reverse", seed=2)
    plan = mix.plan(batch=shape[0], size=shape[2:])
    expected = medley.apply(plan, x)
    kept = []
    calls = {
        "medley, PyTorch, out=": lambda: medley.apply(plan, x, out=out),
        "medley, PyTorch, new": lambda: medley.apply(plan, x),
        "medley, PyTorch, new, kept": lambda: kept.append(medley.apply(plan, x)),
        "medley, NumPy, out=": lambda: medley.apply(plan, array, out=array_out),
        "medley, NumPy, new": lambda: medley.apply(plan, array),
        "clone": x.clone,
        "clone, kept": lambda: kept.append(x.clone()),
        "copy_(out)": lambda: out.copy_(x),
    }
    theirs = torch_contenders(method, x, out, plan)
    for name, call in theirs.items():
        assert torch.allclose(call(), expected, atol=1e-5), (method, name)
    calls |= theirs
    assert np.array_equal(medley.apply(plan, array), expected.numpy())
    if method in ("mixup", "cutmix"):
        labels = torch.arange(shape[0]) % CLASSES
        calls |= torchvision_contender(method, plan, mix, x, labels)
    return calls, kept


def measure(calls, kept, rounds):
    """Median seconds of each call; calls of microseconds are repeated in a sample."""
    times = {name: [] for name in calls}
    for number in range(-1, rounds):
        for name, call in calls.items():
            repeat = 1
            if number >= 0 and not name.endswith("kept"):
                repeat = max(1, int(SAMPLE_SECONDS / first[name]))
            time.sleep(REST_SECONDS)
            begin = time.perf_counter()
            for _ in range(repeat):
                call()
            times[name].append((time.perf_counter() - begin) / repeat)
        if number < 0:
            first = {name: taken[0] for name, taken in times.items()}
            times = {name: [] for name in calls}
        if number < 0 or number % 8 == 7:
            kept.clear()  # a round of a call each; eight of them are alive at most
    return {name: statistics.median(taken) for name, taken in times.items()}


def one_setting(rounds, threads):
    torch.set_num_threads(threads)
    rows = []
    for shape in SHAPES:
        for method in METHODS:
            calls, kept = contenders(method, shape)
            seconds = measure(calls, kept, rounds)
            ours = seconds["medley, PyTorch, out="]
            row = {"shape": list(shape), "method": method, "ms": {}, "of_medley_out": {}}
            for name, value in seconds.items():
                row["ms"][name] = round(value * 1e3, 5)
                row["of_medley_out"][name] = round(value / ours, 3)
            rows.append(row)
            text = ", ".join(f"{n} {v:.2f}" for n, v in row["of_medley_out"].items())
            print(f"{method} {'x'.join(map(str, shape))}, times medley's out=: {text}",
                  file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="folder for out-PROCESSOR.json")
    parser.add_argument("--commit", default="")
    parser.add_argument("--rows-only", action="store_true", help="measure in this process")
    options = parser.parse_args()
    if options.rows_only:
        json.dump(one_setting(options.rounds, options.threads), sys.stdout)
        return
    result = {
        "schema": "medley.bench-out/1",
        "machine": machine(options.commit),
        "rounds": options.rounds,
        "threads": options.threads,
        "settings": [],
    }
    clean = {key: v for key, v in os.environ.items() if not key.startswith("MALLOC_")}
    for name, environment in SETTINGS.items():
        print(f"glibc's allocator: {name}", file=sys.stderr)
        command = [sys.executable, __file__, "--rows-only", "--rounds", str(options.rounds),
                   "--threads", str(options.threads)]
        output = subprocess.run(command, env=clean | environment, check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        result["settings"].append(
            {"allocator": name, "environment": environment, "rows": json.loads(output)}
        )
    result["machine"]["load_after"] = os.getloadavg()
    text = json.dumps(result, indent=1) + "\n"
    if options.out:
        path = options.out / f"out-{slug(cpu_model())}.json"
        path.write_text(text)
        print(path, file=sys.stderr)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()

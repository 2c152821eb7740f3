#!/usr/bin/env python3
"""Mixing on the CPU beside what people use: torchvision, timm, the published code, torch.compile.

    PYTHONPATH=build/python python3 bench/python/bench_peers.py --out bench/results

Every contender mixes the same batch with the same lam and the same mask, and is timed only after
its pixels agreed with Medley's. All take turns, round by round; a figure is the median over rounds.
Each may do it in several ways (a new batch, the batch itself, memory that is there); all are
recorded. torch.compile gets the formula alone, as plain expressions: no draws, no labels.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import timm.data
import torch
import torchvision
from bench_mix import (
    CLASSES,
    LAM,
    box_of,
    cpu_model,
    machine,
    median_of_rounds,
    published_gmix,
    published_hmix,
    slug,
)
from torchvision.transforms import v2

import medley

METHODS = ("mixup", "cutmix", "hmix", "gmix")


def torchvision_transform(method, mask):
    """torchvision's transform, its random parameters replaced by those of the plan."""
    kind = {"mixup": v2.MixUp, "cutmix": v2.CutMix}[method]
    transform = kind(num_classes=CLASSES)
    params = {"lam": LAM}
    if method == "cutmix":
        top, left = mask["top"], mask["left"]
        params = {
            "box": (left, top, left + mask["width"], top + mask["height"]),
            "lam_adjusted": LAM,
        }
    transform.make_params = lambda flat_inputs: params
    return transform


def timm_mixer(method, mask):
    """timm's mixer for one lam; its box lies where the plan's does."""
    alphas = {"mixup": (1.0, 0.0), "cutmix": (0.0, 1.0)}[method]
    mixer = timm.data.Mixup(*alphas, num_classes=CLASSES)
    mixer._params_per_batch = lambda: (LAM, method == "cutmix")
    if method == "cutmix":
        top, left = mask["top"], mask["left"]
        box = (top, top + mask["height"], left, left + mask["width"])
        timm.data.mixup.cutmix_bbox_and_lam = lambda *_, **__: (box, LAM)
    return mixer


def formula(method, mask, side):
    """The mixed batch as an expression that torch.compile can fuse."""
    rows = torch.arange(side).view(-1, 1)
    columns = torch.arange(side).view(1, -1)

    def in_box():
        below = (rows >= mask["top"]) & (rows < mask["top"] + mask["height"])
        across = (columns >= mask["left"]) & (columns < mask["left"] + mask["width"])
        return below & across

    def mixup(x):
        return x * LAM + x.flip(0) * (1 - LAM)

    def cutmix(x):
        return torch.where(in_box(), x.flip(0), x)

    def hmix(x):
        own = torch.where(in_box(), 0.0, mask["outside"])
        return x * own + x.flip(0) * (1 - own)

    def gmix(x):
        squared = (rows - mask["cy"]) ** 2 + (columns - mask["cx"]) ** 2
        kernel = torch.exp(-torch.pi * squared / (mask["tau"] * side**2))
        own = kernel if mask["peak"] == "own" else 1 - kernel
        return x * own + x.flip(0) * (1 - own)

    return {"mixup": mixup, "cutmix": cutmix, "hmix": hmix, "gmix": gmix}[method]


def section(method, shape, rounds):
    x = torch.rand(shape)
    target = torch.arange(shape[0]) % CLASSES
    pristine = x.clone()
    out = torch.empty_like(x)
    mix = medley.Mix(method, lam=LAM, mode="batch", pairing="reverse", seed=2)
    plan = mix.plan(batch=shape[0], size=shape[2:])
    mask = plan.entries[0]["mask"]
    ours = medley.apply(plan, x)

    expression = formula(method, mask, shape[2])
    compiled = torch.compile(expression)
    into = torch.compile(lambda x, out: out.copy_(expression(x)))
    calls = {
        "medley, new": lambda: mix(x, target),
        "medley, out": lambda: mix(x, target, out=out),
        "torch.compile, new": lambda: compiled(x),
        "torch.compile, out": lambda: into(x, out),
    }
    for name in ("torch.compile, new", "torch.compile, out"):
        assert torch.allclose(calls[name](), ours, atol=1e-5), (method, name)
    if method in ("mixup", "cutmix"):
        transform, mixer = torchvision_transform(method, mask), timm_mixer(method, mask)
        # In a batch of two the previous image, torchvision's partner, is the one in reverse.
        pair = mix.plan(batch=2, size=shape[2:])
        assert pair.entries[0]["mask"] == mask
        theirs, _ = transform(x[:2], target[:2])
        assert torch.allclose(theirs, medley.apply(pair, x[:2]), atol=1e-5), method
        calls["torchvision, new"] = lambda: transform(x, target)
        in_place = ("timm, in place", lambda: mixer(x, target))
    elif method == "hmix":
        box, outside = box_of(plan), mask["outside"]
        in_place = (
            "published code, in place",
            lambda: published_hmix(x, target, plan, box, outside),
        )
    else:
        in_place = ("published code, in place", lambda: published_gmix(x, target, plan))
    name, call = in_place
    calls[name] = call
    assert torch.allclose(call()[0], ours, atol=1e-5), (method, name)
    x.copy_(pristine)
    result = median_of_rounds(calls, rounds)
    text = ", ".join(f"{name} {value['seconds'] * 1e3:.2f}" for name, value in result.items())
    print(f"{method}, ms: {text}", file=sys.stderr)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--out", type=Path, help="folder for peers-PROCESSOR.json")
    parser.add_argument("--commit", default="")
    options = parser.parse_args()
    torch.set_num_threads(os.cpu_count())
    shape = (128, 3, options.side, options.side)
    result = {
        "schema": "medley.bench-peers/1",
        "machine": machine(options.commit)
        | {"torchvision": torchvision.__version__, "timm": timm.__version__},
        "rounds": options.rounds,
        "shape": shape,
        "methods": {method: section(method, shape, options.rounds) for method in METHODS},
    }
    result["machine"]["load_after"] = os.getloadavg()
    text = json.dumps(result, indent=1) + "\n"
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        path = options.out / f"peers-{slug(cpu_model())}.json"
        path.write_text(text)
        print(path, file=sys.stderr)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()

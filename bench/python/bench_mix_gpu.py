"""Mixing CUDA tensors from Python, against torchvision.transforms.v2, in one run.

    PYTHONPATH=BUILD/python python3 bench/python/bench_mix_gpu.py > bench/results/python-h200.json

512x3x224x224 float32; medians of device-event timings in milliseconds, contenders in turn: of one
call that an idle device waits for, and of calls in a row, as in a training loop, where the host
prepares the next call while the device works. Before that every method is compared with the CPU,
bit for bit.
"""

import json
import statistics
import sys

import torch
import torchvision
from torchvision.transforms import v2

import medley

ROUNDS = 30
ROW = 20


def timed(call, repeats: int) -> float:
    """Milliseconds of one of `repeats` calls."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(repeats):
        call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / repeats


def medians_of(contenders: dict, repeats: int) -> dict:
    times = {name: [] for name in contenders}
    for i in range(ROUNDS + 5):
        for name, call in contenders.items():
            ms = timed(call, repeats)
            if i >= 5:
                times[name].append(ms)
    return {name: round(statistics.median(values), 4) for name, values in times.items()}


def times_faster(medians: dict) -> dict:
    return {name: round(medians[f"{name} torchvision"] / medians[f"{name} medley"], 2)
            for name in ("mixup", "cutmix")}


def check_bits() -> list[str]:
    equal = []
    images = torch.randint(0, 256, (8, 3, 33, 48), dtype=torch.uint8)
    labels = torch.arange(8)
    for name in ["mixup", "cutmix", "stochastic", "hmix", "gmix", "bernoulli", "nmixup", "fmix",
                 "resizemix", "gaussian-field"]:
        on_cpu, on_gpu = (medley.Mix(name, seed=3, dtype="f32") for _ in range(2))
        for call in range(3):
            wanted, _ = on_cpu(images, labels)
            got, _ = on_gpu(images.cuda(), labels.cuda())
            if not torch.equal(wanted, got.cpu()):
                sys.exit(f"{name}: CUDA and CPU differ in call {call}")
        equal.append(name)
    return equal


def main() -> None:
    equal = check_bits()
    images = torch.rand(512, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 1000, (512,), device="cuda")
    out = torch.empty_like(images)
    contenders = {}
    for name, theirs in [("mixup", v2.MixUp(num_classes=1000)),
                         ("cutmix", v2.CutMix(num_classes=1000))]:
        mix = medley.Mix(name, seed=0)
        contenders[f"{name} torchvision"] = lambda t=theirs: t(images, labels)
        contenders[f"{name} medley"] = lambda m=mix: m(images, labels)
        contenders[f"{name} medley out"] = lambda m=mix: m(images, labels, out=out)
    torch.cuda.synchronize()
    alone, in_a_row = medians_of(contenders, 1), medians_of(contenders, ROW)
    print(json.dumps({"schema": "medley.bench/1", "gpu": torch.cuda.get_device_name(),
                      "torch": torch.__version__, "torchvision": torchvision.__version__,
                      "equal_to_cpu": equal, "milliseconds": alone,
                      "times_faster_than_torchvision": times_faster(alone),
                      "milliseconds_in_a_row": in_a_row,
                      "times_faster_in_a_row": times_faster(in_a_row)}, indent=1))


if __name__ == "__main__":
    main()

"""Mixing CUDA tensors from Python, against torchvision.transforms.v2, in one run.

    PYTHONPATH=BUILD/python python3 bench/python/bench_mix_gpu.py > bench/results/python-h200.json

512x3x224x224 float32; medians of device-event timings in milliseconds, contenders in turn. Before
that every method is compared with the CPU, bit for bit.
"""

import json
import statistics
import sys

import torch
import torchvision
from torchvision.transforms import v2

import medley

ROUNDS = 30


def timed(call) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def check_bits() -> list[str]:
    equal = []
    images = torch.randint(0, 256, (8, 3, 33, 48), dtype=torch.uint8)
    labels = torch.arange(8)
    for name in ["mixup", "cutmix", "stochastic", "hmix", "gmix", "bernoulli", "nmixup", "fmix",
                 "resizemix", "gaussian-field"]:
        on_cpu, _ = medley.Mix(name, seed=3, dtype="f32")(images, labels)
        on_gpu, _ = medley.Mix(name, seed=3, dtype="f32")(images.cuda(), labels.cuda())
        if not torch.equal(on_cpu, on_gpu.cpu()):
            sys.exit(f"{name}: CUDA and CPU differ")
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
    times = {name: [] for name in contenders}
    for i in range(ROUNDS + 5):
        for name, call in contenders.items():
            ms = timed(call)
            if i >= 5:
                times[name].append(ms)
    medians = {name: round(statistics.median(values), 4) for name, values in times.items()}
    faster = {name: round(medians[f"{name} torchvision"] / medians[f"{name} medley"], 2)
              for name in ("mixup", "cutmix")}
    print(json.dumps({"schema": "medley.bench/1", "gpu": torch.cuda.get_device_name(),
                      "torch": torch.__version__, "torchvision": torchvision.__version__,
                      "equal_to_cpu": equal, "milliseconds": medians,
                      "times_faster_than_torchvision": faster}, indent=1))


if __name__ == "__main__":
    main()

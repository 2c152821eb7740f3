#!/usr/bin/env python3
"""Training on the CPU: Medley beside PyTorch loops and another revision, idle and on busy cores.

    tools/bench loop --against REVISION --python PYTHON_WITH_ANOTHER_TORCH

resnet8, 32x32, batch 100, hmix. Medley's data work is included, the loops have none. Contenders:

    medley          `medley train`, images a second of the epochs after the first
    before          the same program of another revision
    NCHW            train_cpu_loop.py as people write it, defaults
    channels_last   the same with channels last
    same switches   the same with channels last, kept memory and bounded spinning, as Medley has it

and, beside four loops that keep the cores busy, medley and NCHW. All take turns, round by round; a
ratio is the median of the ratios of rounds. Peak memory is that of the process. Results: JSON; exit
code 3 with --check if a target is missed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

LOOP = Path(__file__).with_name("train_cpu_loop.py")
BUSY_LOOPS = 4
IMAGES = 2000
SWITCHES = {
    "MALLOC_MMAP_THRESHOLD_": "4000000000",
    "MALLOC_TRIM_THRESHOLD_": "4000000000",
    "GOMP_SPINCOUNT": "10000",
}
# Ratios to be reached, the only place where they stand: (contender, other, busy, at least).
TARGETS = [("before", 1.5, False), ("NCHW", 1.3, False), ("same switches", 1.0, False),
           ("NCHW", 3.0, True)]
MOST_MEMORY = 1.3


def run(command, environment=()):
    """Standard output of a program and its peak memory in MiB."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "MALLOC_"))}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=clean | dict(environment), text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return output, usage.ru_maxrss / 1024


def medley(program, epochs):
    with tempfile.TemporaryDirectory() as folder:
        output, memory = run([program, "train", "--data", f"synthetic:train={IMAGES},test=10,size=32",
                              "--model", "resnet8", "--method", "hmix", "--batch", "100", "--epochs",
                              str(epochs), "--lr", "0.01", "--json", "--device", "cpu", "--out",
                              f"{folder}/run"])
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    rates = [line["images_per_s"] for line in lines if line.get("epoch", 0) > 1]
    return {"images_per_s": statistics.median(rates), "memory_mib": memory}


def loop(python, steps, channels_last=False, environment=()):
    command = [python, str(LOOP), "--steps", str(steps)]
    output, memory = run(command + ["--channels-last"] * channels_last, environment)
    return json.loads(output) | {"memory_mib": memory}


class BusyCores:
    def __enter__(self):
        self.loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                      for _ in range(BUSY_LOOPS)]

    def __exit__(self, *_):
        for process in self.loops:
            process.kill()
            process.wait()


def contenders(options):
    """Name to (call, whether the cores are busy)."""
    epochs, steps = options.epochs, options.steps
    found = {"medley": (lambda: medley(options.medley, epochs), False)}
    if options.before:
        found["before"] = (lambda: medley(options.before, epochs), False)
    found["medley, busy"] = (lambda: medley(options.medley, max(2, epochs // 2)), True)
    for python in options.python:
        torch = loop(python, 3)["torch"].partition("+")[0].partition("a0")[0]
        found[f"PyTorch {torch}, NCHW"] = (lambda p=python: loop(p, steps), False)
        found[f"PyTorch {torch}, channels_last"] = (lambda p=python: loop(p, steps, True), False)
        found[f"PyTorch {torch}, same switches"] = (
            lambda p=python: loop(p, steps, True, SWITCHES), False)
        found[f"PyTorch {torch}, NCHW, busy"] = (lambda p=python: loop(p, max(3, steps // 6)), True)
    return found


def measure(found, rounds):
    results = {name: [] for name in found}
    names = list(found)
    for number in range(rounds):
        for name in names[number % len(names):] + names[: number % len(names)]:
            call, busy = found[name]
            if busy:
                with BusyCores():
                    results[name].append(call())
            else:
                results[name].append(call())
        rates = {n: round(r[-1]["images_per_s"]) for n, r in results.items()}
        print(f"round {number + 1} of {rounds}, images/s: {rates}", file=sys.stderr)
    return results


def column(results, name, key):
    return [result[key] for result in results[name]]


def ratios(results):
    """Medley's images a second over each other's, with the target where there is one."""
    rows = []
    for name in results:
        if name.startswith("medley"):
            continue
        busy = name.endswith(", busy")
        ours = column(results, "medley, busy" if busy else "medley", "images_per_s")
        theirs = column(results, name, "images_per_s")
        each = [a / b for a, b in zip(ours, theirs)]
        row = {"other": name, "times_as_fast": statistics.median(each),
               "lowest": min(each), "highest": max(each)}
        for words, target, when in TARGETS:
            if when == busy and name.removesuffix(", busy").endswith(words):
                row |= {"target": target, "met": row["times_as_fast"] >= target}
        rows.append(row)
    return rows


def memory(results):
    rows = {name: statistics.median(column(results, name, "memory_mib")) for name in results}
    if "before" not in rows:
        return {"mib": rows}
    share = rows["medley"] / rows["before"]
    return {"mib": rows, "of_before": share, "target": MOST_MEMORY, "met": share <= MOST_MEMORY}


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(": ")[2]
    return "unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--medley", required=True, help="the program")
    parser.add_argument("--before", help="the program of another revision")
    parser.add_argument("--before-name", default="", help="that revision, kept in the file")
    parser.add_argument("--python", action="append", help="interpreter with PyTorch; several times")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--epochs", type=int, default=5, help=f"of {IMAGES} images")
    parser.add_argument("--steps", type=int, default=60, help="of 100 images")
    parser.add_argument("--out", type=Path, help="JSON file, or folder for loop-PROCESSOR.json")
    parser.add_argument("--commit", default="")
    parser.add_argument("--check", action="store_true", help="exit with 3 if a target is missed")
    options = parser.parse_args()
    options.python = options.python or ["/usr/bin/python3"]
    context = {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "commit": options.commit,
        "before": options.before_name,
        "rounds": options.rounds,
        "network": "resnet8, 32x32, batch 100, hmix",
        "busy_loops": BUSY_LOOPS,
        "switches": SWITCHES,
        "load_before": os.getloadavg(),
    }
    results = measure(contenders(options), options.rounds)
    context["load_after"] = os.getloadavg()
    rows, used = ratios(results), memory(results)
    for row in rows:
        target = f"  (target {row['target']})" if "target" in row else ""
        missed = "" if row.get("met", True) else "  MISSED"
        print(f"{row['times_as_fast']:5.2f} times as fast as {row['other']}, "
              f"{row['lowest']:.2f} to {row['highest']:.2f}{target}{missed}")
    if "of_before" in used:
        print(f"{used['of_before']:5.2f} of the memory before  (target {used['target']})"
              + ("" if used["met"] else "  MISSED"))
    file = {
        "schema": "medley.bench_loop/1",
        "context": context,
        "ratios": rows,
        "memory": used,
        "images_per_s": {
            name: {"median": statistics.median(column(results, name, "images_per_s")),
                   "rounds": column(results, name, "images_per_s")}
            for name in results
        },
    }
    if options.out:
        path = options.out
        if path.is_dir():
            slug = "-".join("".join(c if c.isalnum() else " " for c in cpu_model().lower()).split())
            path = path / f"loop-{slug}.json"
        path.write_text(json.dumps(file, indent=1) + "\n")
        print(f"written to {path}", file=sys.stderr)
    met = all(row.get("met", True) for row in rows) and used.get("met", True)
    return 3 if options.check and not met else 0


if __name__ == "__main__":
    sys.exit(main())

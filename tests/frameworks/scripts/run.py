"""torchrun run.py SCRIPT OUT: the label weights that a training script saw, for every way it mixes
and 0, 2 and 4 workers, persistent or not, as JSON in OUT.RANK."""

from __future__ import annotations

import json
import os
import runpy
import sys

import torch

WORKERS = [(0, False), (2, False), (2, True), (4, False), (4, True)]

script, out = sys.argv[1:]
torch.set_num_threads(1)
torch.distributed.init_process_group("gloo")
ways = runpy.run_path(script)["ways"]
found = {
    f"{name}, {workers} {'persistent ' * persistent}workers": train(workers, persistent)
    for name, train in ways.items()
    for workers, persistent in WORKERS
}
with open(f"{out}.{os.environ['RANK']}", "w") as file:
    json.dump(found, file)
torch.distributed.destroy_process_group()

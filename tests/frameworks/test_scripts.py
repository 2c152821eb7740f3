"""Training scripts with one changed import draw as often as the originals: anew for every batch of
every epoch and process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "scripts"
RANKS, BATCHES = 2, 3 * 6  # of a process: epochs, batches of one
IMPORTS = {  # of a script, and what takes its place
    "timm_train.py": ("from timm.data import Fast", "from medley.timm import Fast"),
    "torchvision_train.py": ("from torchvision.transforms.v2 ", "from medley.torchvision "),
    "lightning_train.py": ("from torchvision.transforms.v2 ", "from medley.torchvision "),
}


def label_weights(script, folder):
    """By way and workers: those of each process."""
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    out = folder / "weights"
    done = subprocess.run(
        [*launch, f"--nproc-per-node={RANKS}", str(SCRIPTS / "run.py"), str(script), str(out)],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ranks = [json.loads(Path(f"{out}.{rank}").read_text()) for rank in range(RANKS)]
    return {name: [rank[name] for rank in ranks] for name in ranks[0]}


@pytest.fixture(scope="module", params=IMPORTS)
def found(request, tmp_path_factory):
    """What the original's classes give, and ours."""
    text = (SCRIPTS / request.param).read_text()
    before, after = IMPORTS[request.param]
    assert text.count(before) == 1
    folder = tmp_path_factory.mktemp("script")
    ours = folder / request.param
    ours.write_text(text.replace(before, after))
    return label_weights(SCRIPTS / request.param, folder), label_weights(ours, folder)


def test_every_batch_of_every_epoch_and_process_has_its_own_draw(found):
    theirs, ours = found
    assert theirs.keys() == ours.keys() and len(ours) % 5 == 0
    for setting, ranks in ours.items():
        distinct = {weight for rank in ranks for weight in rank}
        original = {weight for rank in theirs[setting] for weight in rank}
        assert RANKS * BATCHES == len(distinct) >= len(original), setting

"""Draws of mixers without a seed, in DataLoader workers, in forked processes and on ranks."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import random_images

import medley

IMAGES = random_images((4, 1, 8, 8))


def test_mixers_without_a_seed_differ():
    a, b = (medley.Mixup().plan(batch=4, size=8).lam for _ in range(2))
    assert not np.array_equal(a, b)


def test_mixers_without_a_seed_work_without_torch():
    code = "import medley, sys; print(medley.Mixup().seed); assert 'torch' not in sys.modules"
    seeds = {subprocess.check_output([sys.executable, "-c", code]) for _ in range(2)}
    assert len(seeds) == 2


def test_copies_of_a_mixer_without_a_seed_draw_the_same():
    mix = medley.Mixup()
    for again in (copy.deepcopy(mix), pickle.loads(pickle.dumps(mix))):
        assert again.seed == mix.seed
        assert np.array_equal(again(IMAGES), mix(IMAGES, epoch=0, first=0))


def test_a_mixer_without_a_seed_takes_that_of_a_state():
    mix, again = medley.Mixup(), medley.Mixup()
    mix(IMAGES)
    again(IMAGES)
    again.load_state_dict(mix.state_dict())
    assert again.seed == mix.seed
    assert np.array_equal(again(IMAGES), mix(IMAGES))


def test_ranks_share_the_calls_of_one_process():
    one = medley.CutMix(seed=3)
    ranks = [medley.CutMix(seed=3, rank=r, world_size=2) for r in range(2)]
    for _ in range(3):
        for rank in ranks:
            assert np.array_equal(rank(IMAGES), one(IMAGES))


@pytest.mark.parametrize(
    "options, text",
    [
        ({"rank": 2, "world_size": 2}, r"rank must be in \[0, 2\), got 2"),
        ({"rank": -1, "world_size": 2}, r"rank must be in \[0, 2\), got -1"),
        ({"rank": 0, "world_size": 0}, "world_size must be in .*, got 0"),
        ({"rank": 0}, "rank and world_size go together, got rank 0 and world_size None"),
    ],
)
def test_ranks_that_cannot_be_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        medley.Mixup(seed=1, **options)


def test_ranks_of_a_launcher_draw_apart(monkeypatch):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    found = []
    for rank in range(3):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "3")
        torch.manual_seed(0)
        found.append(medley.Mixup()(IMAGES).tobytes())
    assert len(set(found)) == 3
    monkeypatch.setenv("RANK", "nonsense")
    torch.manual_seed(0)
    assert medley.Mixup()(IMAGES).tobytes() == found[0]


def test_torch_seeds_mixers_without_a_seed():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    def results(mix):
        torch.manual_seed(7)  # before the first draw, wherever the mixer was made
        return mix(IMAGES).tobytes()

    assert len({results(medley.Mixup()) for _ in range(3)}) == 1
    torch.manual_seed(8)
    assert medley.Mixup()(IMAGES).tobytes() != results(medley.Mixup())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_processes_that_are_no_workers_keep_the_draws():
    mix = medley.Mixup()
    expected = mix(IMAGES, epoch=0, first=4).tobytes()
    mix(IMAGES)
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, mix(IMAGES).tobytes())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as result:
        assert result.read() == expected
    os.wait()

"""Mixing in DataLoader workers."""

from __future__ import annotations

import pytest

import medley

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from medley.collate import Batches, Loader  # noqa: E402


class Numbers(torch.utils.data.Dataset):
    """Image i is full of i, its class is i % 10."""

    def __len__(self):
        return 22

    def __getitem__(self, index):
        return torch.full((1, 8, 8), float(index)), index % 10


def loader(**options):
    options = {"batch_size": 5, "shuffle": True, **options}
    return Loader(Numbers(), medley.HMix(seed=3), **options)


def batches(source, epoch=0):
    source.set_epoch(epoch)
    return [(x, y.classes, y.weights) for x, y in source]


def same(a, b):
    return len(a) == len(b) and all(
        torch.equal(u, v) for x, y in zip(a, b) for u, v in zip(x, y)
    )


@pytest.fixture(scope="module")
def expected():
    return [batches(loader(), epoch) for epoch in range(2)]


@pytest.mark.parametrize("workers", [1, 4])
def test_any_number_of_workers_gives_the_same_batches(workers, expected):
    several = loader(num_workers=workers, persistent_workers=True)
    assert same(batches(several, 0), expected[0])
    assert same(batches(several, 1), expected[1])


def test_epochs_differ(expected):
    assert len(expected[0]) == 5
    assert not same(expected[0], expected[1])
    unshuffled = loader(shuffle=False)
    assert not same(batches(unshuffled, 0), batches(unshuffled, 1))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_killed_loop_continues(workers, expected):
    first = loader(num_workers=workers)
    first.set_epoch(1)
    for step, _ in enumerate(first):
        if step == 1:  # two batches taken; workers have prefetched more
            state = first.state_dict()
            break
    again = loader(num_workers=workers)
    again.load_state_dict(state)
    assert same(batches(again, 1), expected[1][2:])
    assert same(batches(again, 0), expected[0])


def test_ranks_share_the_batches_of_one_process(expected):
    ranks = [batches(loader(rank=r, world_size=2)) for r in range(2)]
    assert same([b for pair in zip(*ranks) for b in pair], expected[0][:4])


def test_agrees_with_a_plan(expected):
    order = Batches(22, 5, shuffle=True, seed=3).order(1)
    images = torch.stack([Numbers()[i][0] for i in order[20:22]])
    plan = medley.HMix(seed=3).plan(batch=5, size=8, epoch=1, first=20, count=2)
    assert torch.equal(expected[1][4][0], medley.apply(plan, images))


def test_wrong_sizes():
    with pytest.raises(ValueError, match="rank must be in"):
        Batches(10, 2, rank=2, world_size=2)
    with pytest.raises(ValueError, match="batch_size must be >= 1"):
        Batches(10, 0)
    assert len(Batches(10, 4, drop_last=True)) == 2


def test_a_new_epoch_starts_at_its_first_batch(expected):
    first = loader()
    batches(first, 0)
    first.set_epoch(1)
    assert first.state_dict() == {"epoch": 1, "step": 0}
    again = loader()
    again.load_state_dict(first.state_dict())
    assert same(batches(again, 1), expected[1])


def test_an_epoch_that_was_broken_off_begins_again(expected):
    source = loader()
    next(iter(source))
    assert source.state_dict() == {"epoch": 0, "step": 1}
    source.set_epoch(0)
    assert source.state_dict() == {"epoch": 0, "step": 0}
    assert same(batches(source, 0), expected[0])


def test_states_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="epoch must be a whole number >= 0, got -1"):
        loader().set_epoch(-1)
    for name in ("epoch", "step"):
        with pytest.raises(ValueError, match=f"{name} must be a whole number >= 0, got -1"):
            loader().load_state_dict({"epoch": 0, "step": 0, name: -1})

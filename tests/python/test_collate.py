"""Mixing in DataLoader workers."""

from __future__ import annotations

import pytest

import medley

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from medley._core import draws_version as DRAWS  # noqa: E402
from medley.collate import Loader, Places  # noqa: E402


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
    order = Places(22, 5, shuffle=True, seed=3).order(1)
    images = torch.stack([Numbers()[i][0] for i in order[20:22]])
    plan = medley.HMix(seed=3).plan(batch=5, size=8, epoch=1, first=20, count=2)
    assert torch.equal(expected[1][4][0], medley.apply(plan, images))


def test_wrong_sizes():
    with pytest.raises(ValueError, match="rank must be in"):
        Places(10, 2, rank=2, world_size=2)
    with pytest.raises(ValueError, match="batch_size must be >= 1"):
        Places(10, 0)
    assert len(Places(10, 4, drop_last=True)) == 8


def test_a_new_epoch_starts_at_its_first_batch(expected):
    first = loader()
    batches(first, 0)
    first.set_epoch(1)
    assert first.state_dict() == {"draws": DRAWS, "epoch": 1, "step": 0}
    again = loader()
    again.load_state_dict(first.state_dict())
    assert same(batches(again, 1), expected[1])


def test_an_epoch_that_was_broken_off_begins_again(expected):
    source = loader()
    next(iter(source))
    assert source.state_dict() == {"draws": DRAWS, "epoch": 0, "step": 1}
    source.set_epoch(0)
    assert source.state_dict() == {"draws": DRAWS, "epoch": 0, "step": 0}
    assert same(batches(source, 0), expected[0])


def test_states_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="epoch must be a whole number >= 0, got -1"):
        loader().set_epoch(-1)
    for name in ("epoch", "step"):
        with pytest.raises(ValueError, match=f"{name} must be a whole number >= 0, got -1"):
            loader().load_state_dict({"draws": DRAWS, "epoch": 0, "step": 0, name: -1})
    with pytest.raises(ValueError, match=f"of draws version 1, this Medley has {DRAWS}"):
        loader().load_state_dict({"epoch": 0, "step": 0})


class Samples(Numbers):
    """The same in a dict, with a name."""

    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        return {"image": image, "labels": label, "name": str(index)}


def test_a_loader_is_a_data_loader():
    source = loader(num_workers=0)
    assert isinstance(source, torch.utils.data.DataLoader)
    assert source.batch_size == 5 and len(source) == 5 and len(source.dataset) == 22
    assert type(source.batch_sampler) is torch.utils.data.BatchSampler


def test_iterations_go_through_the_epochs(expected):
    source = loader()
    assert same([(x, y.classes, y.weights) for x, y in source], expected[0])
    assert same([(x, y.classes, y.weights) for x, y in source], expected[1])
    assert source.state_dict() == {"draws": DRAWS, "epoch": 1, "step": 5}
    again = loader()
    again.load_state_dict({"draws": DRAWS, "epoch": 0, "step": 5})  # of which nothing is left
    assert same([(x, y.classes, y.weights) for x, y in again], expected[1])


@pytest.mark.parametrize("options", [{}, {"seed": 3}], ids=["no seed", "seed"])
def test_a_generator_decides_the_order(options):
    def order(generator_seed, **others):
        generator = torch.Generator().manual_seed(generator_seed)
        mix = medley.NoMix(**options)
        source = Loader(Numbers(), mix, 22, shuffle=True, generator=generator, **others)
        return [x[:, 0, 0, 0].tolist() for _ in range(2) for x, _ in source]

    first, second = order(1)
    assert first != second and [first, second] == order(1) == order(1, num_workers=1)
    assert first != order(2)[0]
    assert order(1, seed=5) == order(2, seed=5)


@pytest.mark.parametrize("workers", [0, 2])
def test_samplers_and_dicts(workers):
    sampler = torch.utils.data.WeightedRandomSampler([1.0] * 4 + [0.0] * 18, 15)
    mix = medley.HMix(seed=3, num_classes=10)
    source = Loader(Samples(), mix, 5, sampler=sampler, num_workers=workers)
    batches = [*source, *source]
    assert len(batches) == 6
    assert len({float(batch["labels"].weight[0]) for batch in batches}) == 6
    for batch in batches:
        assert [int(name) for name in batch["name"]] == batch["labels"].y_a.tolist()
        assert max(batch["labels"].y_a) < 4 and batch["image"].shape == (5, 1, 8, 8)


def test_batch_samplers():
    batches_of = [[0, 1, 2], [3, 4, 5, 6], [7]]
    found = list(Loader(Numbers(), medley.HMix(seed=3), batch_sampler=batches_of))
    assert [y.y_a.tolist() for _, y in found] == batches_of
    with pytest.raises(ValueError, match="batch_sampler makes the batches"):
        Loader(Numbers(), medley.HMix(), 5, batch_sampler=batches_of)


@pytest.mark.parametrize("adapter", ["timm", "torchvision", "fast collate"])
def test_adapters_mix_by_the_sample(adapter):
    import medley.timm
    import medley.torchvision

    class Bytes(Numbers):
        def __getitem__(self, index):
            return torch.full((1, 8, 8), index, dtype=torch.uint8).numpy(), index

    make = {
        "timm": medley.timm.Mixup,
        "torchvision": medley.torchvision.MixUp,
        "fast collate": medley.timm.FastCollateMixup,
    }[adapter]

    def epochs(workers):
        mix = make(num_classes=22, seed=3)
        data = Bytes()
        if adapter != "fast collate":
            data = [(torch.from_numpy(image).float(), y) for image, y in map(data.__getitem__, range(22))]
        source = Loader(data, mix, 5, shuffle=True, num_workers=workers)
        return [batch for _ in range(2) for batch in source]

    alone = epochs(0)
    assert len({float(y[0].max()) for _, y in alone}) == 10
    for (x, y), (other_x, other_y) in zip(alone, epochs(2)):
        assert torch.equal(x, other_x) and torch.equal(y, other_y)


def test_ranks_of_a_distributed_sampler_have_draws_of_their_own():
    seen = []
    for rank in range(2):
        sampler = torch.utils.data.DistributedSampler(Numbers(), 2, rank)
        mix = medley.HMix(seed=3, mode="batch")
        seen += [float(y.weight[0]) for _, y in Loader(Numbers(), mix, 5, sampler=sampler)]
    assert len(set(seen)) == len(seen) == 6


def test_streams_of_samples():
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter([Numbers()[i] for i in range(20)])

    source = Loader(Stream(), medley.HMix(), 5)
    assert len({float(y.weight[0]) for _ in range(2) for _, y in source}) == 8
    with pytest.raises(ValueError, match="an IterableDataset has an order of its own"):
        Loader(Stream(), medley.HMix(), 5, shuffle=True)

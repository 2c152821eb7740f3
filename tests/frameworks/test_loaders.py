"""`medley.collate.Loader` where Accelerate and Lightning prepare data loaders."""

from __future__ import annotations

import pytest
import torch
from torch.utils import data
from torchvision.transforms import v2

import medley
import medley.timm
import medley.torchvision
from medley.collate import Loader

COUNT, BATCH, CLASSES = 40, 4, 40


class Numbers(data.Dataset):
    """Image i is full of i, which is its class too."""

    targets = list(range(COUNT))

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return torch.full((1, 8, 8), float(index)), index


def mixer(**options):
    return medley.Mixup(num_classes=CLASSES, mode="batch", **options)


def loader(mix=None, **options):
    return Loader(Numbers(), mix or mixer(), **{"batch_size": BATCH, **options})


def classes(batches):
    """The own classes of each batch, in its order."""
    return [tuple(y.y_a.tolist()) for _, y in batches]


def weights(batches):
    return [round(float(y.weight[0]), 6) for _, y in batches]


# Accelerate


def prepared(source, rank, world_size, **options):
    """What Accelerator.prepare makes of a loader in a process of several."""
    from accelerate.data_loader import prepare_data_loader

    return prepare_data_loader(
        source, torch.device("cpu"), num_processes=world_size, process_index=rank,
        put_on_device=True, **options,
    )  # fmt: skip


def test_accelerate_prepares_a_loader():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, CLASSES))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    source = loader(shuffle=True, num_workers=2)
    model, optimizer, ready = accelerator.prepare(model, optimizer, source)
    assert ready is not source and len(ready) == len(source) == 10
    seen = []
    for _ in range(2):
        for x, y in ready:
            assert isinstance(y, medley.MixedLabels)
            loss = y.loss(model(x))
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            seen.append(round(float(y.weight[0]), 6))
    assert len(set(seen)) == 20


def test_accelerate_moves_labels(monkeypatch):
    ready = prepared(loader(), 0, 1)
    ready.device = torch.device("meta")
    x, y = next(iter(ready))
    assert x.device.type == y.classes.device.type == y.weights.device.type == "meta"


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("shuffle", [False, True])
def test_accelerate_shares_the_batches_of_one_process(shuffle, workers):
    options = {"shuffle": shuffle, "num_workers": workers}
    source = loader(mixer(seed=1), **options)
    one = [batch for _ in range(2) for batch in source]
    shards = [prepared(loader(mixer(seed=1), **options), rank, 2) for rank in range(2)]
    # Accelerate agrees on random states with the other processes, of which there are none here.
    for shard in shards:
        shard.rng_types = None
    several = [[batch for _ in range(2) for batch in shard] for shard in shards]
    joined = [batch for pair in zip(*several) for batch in pair]
    assert classes(joined) == classes(one) and weights(joined) == weights(one)
    for (x, _), (expected, _) in zip(joined, one):
        assert torch.equal(x, expected)


def test_accelerate_agrees_on_the_order_of_a_loader_without_a_seed():
    shards = [prepared(loader(shuffle=True), rank, 2) for rank in range(2)]
    state = torch.Generator().manual_seed(7).get_state()
    for shard in shards:  # what it does at the start of an epoch
        assert shard.synchronized_generator is not None
        shard.synchronized_generator.set_state(state)
        shard.rng_types = None
    several = [classes(shard) for shard in shards]
    assert sorted(i for shard in several for batch in shard for i in batch) == list(range(COUNT))
    assert several[0] != sorted(several[0])


def test_accelerate_splits_batches():
    shards = [prepared(loader(mixer(seed=1)), rank, 2, split_batches=True) for rank in range(2)]
    for shard in shards:
        shard.rng_types = None
    several = [classes(shard) for shard in shards]
    assert [a + b for a, b in zip(*several)] == [
        tuple(range(k, k + BATCH)) for k in range(0, COUNT, BATCH)
    ]


def test_accelerate_puts_a_seedable_sampler_in():
    ready = prepared(loader(shuffle=True), 0, 1, use_seedable_sampler=True)
    ready.rng_types = None
    seen = list(ready)
    assert sorted(i for batch in classes(seen) for i in batch) == list(range(COUNT))
    assert len(set(weights(seen))) == 10


def test_accelerate_skips_batches():
    from accelerate import skip_first_batches

    expected = list(loader(mixer(seed=1)))
    rest = list(skip_first_batches(loader(mixer(seed=1)), 3))
    assert weights(rest) == weights(expected)[3:]


# Lightning


def lightning_module(seen, train):
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, CLASSES))

        def train_dataloader(self):
            return train()

        def training_step(self, batch, _):
            x, y = batch
            seen.append((self.current_epoch, tuple(y.y_a.tolist()), round(float(y.weight[0]), 6)))
            return y.loss(self.net(x))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    return Module()


def trainer(tmp_path, **options):
    import lightning

    return lightning.Trainer(
        accelerator="cpu", max_epochs=3, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
        **{"devices": 1, **options},
    )  # fmt: skip


@pytest.mark.parametrize("workers", [0, 2])
def test_lightning_trains_with_a_loader(tmp_path, workers):
    seen = []
    module = lightning_module(seen, lambda: loader(shuffle=True, num_workers=workers))
    trainer(tmp_path).fit(module)
    assert len(seen) == 30 and len({weight for _, _, weight in seen}) == 30
    for epoch in range(3):
        own = [i for e, batch, _ in seen for i in batch if e == epoch]
        assert sorted(own) == list(range(COUNT))
    assert len({batch for _, batch, _ in seen}) == 30  # another order each epoch


def injected(source, rank, shuffle=True, hook=True, replicas=2):
    """What Lightning makes of a loader in a process of several: a new one, with a sampler for it.

    hook: it was made in train_dataloader, where Lightning watches constructors.
    """
    from lightning.fabric.utilities.data import _replace_dunder_methods
    from lightning.fabric.utilities.distributed import DistributedSamplerWrapper
    from lightning.pytorch.utilities.data import _is_dataloader_shuffled, _update_dataloader

    if hook:
        with _replace_dunder_methods(data.DataLoader, "dataset"), _replace_dunder_methods(
            data.BatchSampler
        ):
            made = source()
    else:
        made = source()
    assert _is_dataloader_shuffled(made) == shuffle
    options = {"num_replicas": replicas, "rank": rank}
    if isinstance(made.sampler, (data.RandomSampler, data.SequentialSampler)):
        sampler = data.DistributedSampler(made.dataset, shuffle=shuffle, seed=0, **options)
    else:
        sampler = DistributedSamplerWrapper(made.sampler, shuffle=shuffle, seed=0, **options)
    return made, _update_dataloader(made, sampler)


CONSTRUCTIONS = {
    "names": lambda **o: Loader(dataset=Numbers(), mix=mixer(seed=1), batch_size=BATCH, **o),
    "positions": lambda **o: Loader(Numbers(), mixer(seed=1), BATCH, **o),
    "workers": lambda **o: Loader(Numbers(), mixer(seed=1), BATCH, num_workers=2,
                                  persistent_workers=True, labels_getter="default", **o),
}  # fmt: skip


@pytest.mark.parametrize("hook", [False, True], ids=["outside", "in a hook"])
@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("make", CONSTRUCTIONS)
def test_lightning_gives_each_process_its_share(make, shuffle, hook):
    found = []
    for rank in range(2):
        made, ready = injected(lambda: CONSTRUCTIONS[make](shuffle=shuffle), rank, shuffle, hook)
        assert type(ready) is Loader and ready is not made
        assert ready.batch_size == BATCH and ready.num_workers == made.num_workers
        assert len(ready) == 5
        found.append([(classes([b])[0], weights([b])[0]) for _ in range(2) for b in ready])
    for epoch in range(2):
        own = [i for rank in found for batch, _ in rank[5 * epoch : 5 * epoch + 5] for i in batch]
        assert sorted(own) == list(range(COUNT))
    # All draws of both processes and epochs are different ones, though both have the seed.
    assert len({weight for rank in found for _, weight in rank}) == 20


@pytest.mark.parametrize("hook", [False, True], ids=["outside", "in a hook"])
def test_lightning_wraps_other_samplers(hook):
    def make():
        sampler = data.WeightedRandomSampler([1.0] * 20 + [0.0] * 20, 16)
        return Loader(Numbers(), mixer(seed=1), BATCH, sampler=sampler)

    made, ready = injected(make, 1, False, hook)
    batches = list(ready)
    assert len(batches) == 2 and all(i < 20 for batch in classes(batches) for i in batch)


def test_lightning_sets_the_epoch():
    from lightning.fabric.utilities.data import _set_sampler_epoch

    ready = loader(mixer(seed=1), shuffle=True)
    expected = [weights(ready) for _ in range(3)]
    _set_sampler_epoch(ready, 1)
    assert weights(ready) == expected[1]


# Samplers, samples and mixers of all kinds


def test_epochs_differ_and_are_those_that_are_named():
    for options in ({"shuffle": True}, {}, {"sampler": data.RandomSampler(Numbers())},
                    {"num_workers": 2, "persistent_workers": True}):  # fmt: skip
        source = loader(mixer(seed=1), **options)
        one, two = weights(source), weights(source)
        assert len(set(one + two)) == 20
        source.set_epoch(0)
        assert weights(source) == one and weights(source) == two


def test_a_distributed_sampler_is_told_the_epoch():
    def ranks(**options):
        for rank in range(2):
            sampler = data.DistributedSampler(Numbers(), 2, rank, **options)
            yield sampler, loader(mixer(seed=1), sampler=sampler)

    seen = []
    for sampler, source in ranks():
        epochs = [list(source) for _ in range(3)]
        assert len({tuple(classes(epoch)) for epoch in epochs}) == 3
        seen += [weight for epoch in epochs for weight in weights(epoch)]
        sampler.set_epoch(1)  # as a training script does
        again = list(source)
        assert classes(again) == classes(epochs[1]) and weights(again) == weights(epochs[1])
    assert len(set(seen)) == 30


def test_batch_samplers():
    def batches():
        return data.BatchSampler(data.SequentialSampler(range(COUNT)), BATCH, False)

    expected = weights(loader(mixer(seed=1)))
    found = list(Loader(Numbers(), mixer(seed=1), batch_sampler=batches()))
    assert weights(found) == expected
    uneven = [[0, 1, 2], [3, 4, 5, 6, 7], [8, 9]]
    for workers in (0, 2):
        source = Loader(Numbers(), mixer(seed=1), batch_sampler=uneven, num_workers=workers)
        once, twice = list(source), list(source)
        assert classes(once) == [tuple(batch) for batch in uneven]
        assert len(set(weights(once) + weights(twice))) == 6


SAMPLES = {
    "pair": lambda x, y: (x, y),
    "three": lambda x, y: (x, y, {"name": f"{y}"}),
    "dict": lambda x, y: {"pixel_values": x, "labels": y, "name": f"{y}"},
    "nested": lambda x, y: {"image": x, "target": {"label": y}},
    "pair with a dict": lambda x, y: (x, {"label": y, "id": y}),
}
MIXES = {
    "mixer": lambda: mixer(seed=1),
    "torchvision": lambda: medley.torchvision.MixUp(num_classes=CLASSES, seed=1),
    "timm": lambda: medley.timm.Mixup(num_classes=CLASSES, seed=1),
    "fast collate": lambda: medley.timm.FastCollateMixup(num_classes=CLASSES, seed=1),
    "another": lambda: v2.RandomChoice([v2.MixUp(num_classes=CLASSES)]),
}


class Samples(data.Dataset):
    def __init__(self, form, dtype):
        self.form, self.dtype = form, dtype

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return SAMPLES[self.form](torch.full((3, 8, 8), index, dtype=self.dtype), index)


def find(batch, labels=True):
    from medley._samples import parts

    shapes = {"image": lambda s: len(s) == 4, "label": lambda s: s == (BATCH, CLASSES)}
    wanted = shapes["label" if labels else "image"]
    for part in parts(batch):
        if labels and isinstance(part, medley.MixedLabels):
            return part.soft()
        if isinstance(part, torch.Tensor) and wanted(tuple(part.shape)):
            return part
    raise AssertionError(f"nothing mixed in {batch}")


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("form", SAMPLES)
def test_samples_and_mixers(form, mix):
    if mix == "fast collate" and form != "pair":
        return  # as timm's, it makes batches of pairs
    if mix == "another" and form == "nested":
        return  # torchvision wants a getter for these
    dtype = torch.uint8 if mix == "fast collate" else torch.float32

    def batches(workers):
        getter = (lambda s: s["target"]["label"]) if form == "nested" else "default"
        made = MIXES[mix]()
        if mix == "torchvision":
            made._labels_getter = getter
        return list(Loader(Samples(form, dtype), made, BATCH, num_workers=workers,
                           labels_getter=getter))  # fmt: skip

    alone = batches(0)
    assert len(alone) == 10
    for batch in alone:
        y = find(batch)
        assert torch.allclose(y.sum(1), torch.ones(BATCH)) and len(find(batch, False)) == BATCH
    if form == "dict":
        assert alone[0]["name"] == ["0", "1", "2", "3"]
    if mix == "another":
        return  # its draws are its own
    for batch, again in zip(alone, batches(2)):
        assert torch.equal(find(batch), find(again))
        assert torch.equal(find(batch, False), find(again, False))


def test_lists_as_data_sets_and_getitems():
    class Several(Numbers):
        def __getitems__(self, indices):
            return [self[index] for index in indices]

    expected = weights(loader(mixer(seed=1)))
    listed = [Numbers()[i] for i in range(COUNT)]
    for dataset in (Several(), listed, data.Subset(Numbers(), range(COUNT))):
        source = Loader(dataset, mixer(seed=1), BATCH)
        assert weights(source) == expected
    assert loader().dataset.targets == Numbers.targets


class Stream(data.IterableDataset):
    def __iter__(self):
        info = data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter([Numbers()[i] for i in range(first, COUNT, step)])


@pytest.mark.parametrize("workers", [0, 2])
def test_iterable_data_sets(workers):
    source = Loader(Stream(), mixer(), BATCH, num_workers=workers)
    seen = weights(source) + weights(source)
    assert len(set(seen)) == len(seen) == 20


@pytest.mark.parametrize("taken", [1, 4, 10])
def test_resumed_in_the_middle_and_at_the_end(taken):
    source = loader(mixer(seed=1), shuffle=True)
    expected = [weights(source) for _ in range(3)]
    source = loader(mixer(seed=1), shuffle=True)
    list(source)
    running = iter(source)
    for _ in range(taken):
        next(running)
    state = source.state_dict()
    assert (state["epoch"], state["step"]) == (1, taken)
    again = loader(mixer(seed=1), shuffle=True)
    again.load_state_dict(source.state_dict())
    assert weights(again) == (expected[1][taken:] or expected[2])


def test_what_does_not_go_together():
    for options, text in (
        ({"sampler": range(4), "shuffle": True}, "sampler gives the order"),
        ({"batch_sampler": [[0]], "shuffle": True}, "batch_sampler makes the batches"),
        ({"batch_size": None}, "batch_size must be >= 1, got None"),
        ({"sampler": data.DistributedSampler(Numbers(), 2, 0), "world_size": 2, "rank": 0},
         "got DistributedSampler of 2 replicas"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            loader(**options)
    with pytest.raises(ValueError, match="an IterableDataset has an order of its own"):
        Loader(Stream(), mixer(), BATCH, shuffle=True)
    with pytest.raises(TypeError, match="mix must be a mixer or another callable, got int"):
        Loader(Numbers(), 3, BATCH)

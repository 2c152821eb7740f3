"""Mixing in a PyTorch DataLoader, with draws that follow the sample and not the process.

    mix = medley.HMix(seed=0)
    loader = medley.collate.Loader(dataset, mix, batch_size=128, shuffle=True, num_workers=4)
    for x, y in loader:                 # y is a MixedLabels
        ...

The batches are the same for any number of workers, differ between epochs, and continue after a
restart (`state_dict`, `load_state_dict`). With `rank` and `world_size` each process takes every
world_size-th batch of the same sequence.

`Loader` is a `torch.utils.data.DataLoader`, so what prepares those takes it: Accelerate's `prepare`,
and Lightning, which gives it a sampler for each process. The parts work on their own as well:
`Places` is a sampler that says where each sample stands in its epoch, `Tagged` a data set that passes
this on, and `MixCollate` the collate function that mixes by it.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator, NamedTuple, Sequence

import torch
from torch.utils import data

from . import _core
from . import timm as medley_timm
from . import torchvision as medley_torchvision
from ._checks import not_negative, whole_number
from ._samples import LabelsGetter, find_images, find_labels, mix_sample, replaced
from ._stream import check_draws, state_value
from .mixers import Mix

__all__ = ["Loader", "MixCollate", "Place", "PlacedBatches", "Places", "Tagged"]

_LARGEST = 1 << 20  # nominal size of batches that have none


class Place(NamedTuple):
    """A sample to load: its index, and where it stands.

    ordinal: of the sample in the epoch. batch: nominal batch size; batches begin at multiples of it.
    """

    index: Any
    epoch: int
    ordinal: int
    batch: int


class _Epochs:
    """The epoch of an iteration: what `set_epoch` said, else the one after the last."""

    def __init__(self) -> None:
        self.epoch = 0
        self.start = 0  # batches of the epoch that are left out: a run that continues
        self.resumed = False
        self._begun = False

    def set_epoch(self, epoch: int) -> None:
        """The epoch that the next iteration goes through: from its beginning, unless a state within
        this epoch was loaded."""
        epoch = not_negative("epoch", epoch)
        if epoch != self.epoch or self._begun:
            self.start = 0
        self.epoch, self._begun, self.resumed = epoch, False, False

    def resume(self, epoch: int, start: int) -> None:
        """The next iteration goes on after `start` batches of the epoch."""
        self.epoch, self.start, self._begun, self.resumed = epoch, start, False, True

    def next(self) -> int:
        """The epoch that the next iteration goes through."""
        return self.epoch + 1 if self._begun else self.epoch

    def begin(self) -> tuple[int, int]:
        self.epoch = self.next()
        start, self.start, self._begun, self.resumed = self.start, 0, True, False
        return self.epoch, start


class Places(data.Sampler):
    """A sampler of `Place`s.

    sampler: gives the indices of an epoch: any sampler, or how many samples there are. batch_size:
    of the batches that are made of them. shuffle: with a number of samples, their order follows from
    (seed, epoch) alone; without a seed one is drawn from PyTorch's generator when it is first needed.
    drop_last: leave out a last batch that is short.

    `rank` of `world_size` processes takes batches rank, rank + world_size, ... of the sequence; all
    take the same number of batches, so up to world_size - 1 batches at the end of an epoch are left
    out. A sampler that shares samples among processes itself (torch's DistributedSampler) is asked
    for its rank instead.
    """

    def __init__(
        self,
        sampler: int | Iterable[Any],
        batch_size: int,
        *,
        shuffle: bool = False,
        drop_last: bool = False,
        seed: int | None = None,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        count = sampler if isinstance(sampler, int) else 1
        rank, world_size = whole_number("rank", rank), whole_number("world_size", world_size)
        batch_size = whole_number("batch_size", batch_size)
        if count < 1 or batch_size < 1:
            raise ValueError(f"samples and batch_size must be >= 1, got {count}, {batch_size}")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank must be in [0, {world_size}), got {rank}")
        if shuffle and not isinstance(sampler, int):
            raise ValueError("shuffle goes with a number of samples; a sampler has an order")
        self.source, self.batch_size = sampler, batch_size
        self.shuffle, self.drop_last, self.seed = shuffle, drop_last, seed
        self.rank, self.world_size = rank, world_size
        self.epochs = _Epochs()
        replicas = int(getattr(sampler, "num_replicas", 1) or 1)
        if world_size > 1 and replicas > 1:
            raise ValueError(
                "rank and world_size go with a sampler that is the same in all processes, got "
                f"{type(sampler).__name__} of {replicas} replicas"
            )
        self._stride = replicas, int(getattr(sampler, "rank", 0)) if replicas > 1 else 0
        self._told = getattr(sampler, "epoch", None)  # a sampler's own count

    def _samples(self) -> int:
        return self.source if isinstance(self.source, int) else len(self.source)  # type: ignore

    def _batches(self) -> int:
        """Batches of an epoch for this rank."""
        whole, rest = divmod(self._samples(), self.batch_size)
        batches = whole if self.drop_last or rest == 0 else whole + 1
        return batches // self.world_size

    def __len__(self) -> int:
        """Samples of an epoch for this rank."""
        if self.world_size == 1 and not self.drop_last:
            return self._samples()
        last = ((self._batches() - 1) * self.world_size + self.rank + 1) * self.batch_size
        return self._batches() * self.batch_size - max(last - self._samples(), 0)

    def order(self, epoch: int) -> Iterable[Any]:
        """The indices of an epoch."""
        if not isinstance(self.source, int):
            return self.source
        if not self.shuffle:
            return range(self.source)
        generator = torch.Generator()
        generator.manual_seed((self._order_seed() * 0x9E3779B97F4A7C15 + epoch) % (1 << 63))
        return torch.randperm(self.source, generator=generator).tolist()

    def _order_seed(self) -> int:
        if self.seed is None:
            drawn = torch.empty((), dtype=torch.int64)
            self.seed = int(drawn.random_(generator=getattr(self, "generator", None)))
        return self.seed

    def __iter__(self) -> Iterator[Place]:
        self._agree()
        epoch, start = self.epochs.begin()
        size, world = self.batch_size, self.world_size
        limit = None if world == 1 and not self.drop_last else self._batches()
        replicas, replica = self._stride
        for ordinal, index in enumerate(self.order(epoch)):
            step, at = divmod(ordinal, size)
            if limit is not None and step // world >= limit:
                return
            if step % world != self.rank or step // world < start:
                continue
            index = index.index if isinstance(index, Place) else index
            yield Place(index, epoch, (step * replicas + replica) * size + at, size)

    def _agree(self) -> None:
        """One epoch with the sampler, whose own may have been set."""
        forward = getattr(self.source, "set_epoch", None)
        if not callable(forward):
            return
        own = getattr(self.source, "epoch", None)
        if isinstance(own, int) and own != self._told:
            self.epochs.set_epoch(own)
        self._told = self.epochs.next()
        forward(self._told)

    def set_epoch(self, epoch: int) -> None:
        """The epoch that the next iteration goes through. Without this it is the next one."""
        self.epochs.set_epoch(epoch)

    @property
    def generator(self) -> Any:
        """Of the sampler, if it has one: Accelerate makes it the same in all processes."""
        if isinstance(self.source, int) or not hasattr(self.source, "generator"):
            raise AttributeError("generator")
        return self.source.generator

    @generator.setter
    def generator(self, value: Any) -> None:
        self.source.generator = value  # type: ignore[union-attr]


# What prepares loaders asks samplers of PyTorch's classes whether they shuffle.


class _InOrder(Places, data.SequentialSampler):  # type: ignore[misc]
    pass


class _Shuffled(Places, data.RandomSampler):  # type: ignore[misc]
    data_source: Sequence[int]
    replacement = False
    generator: Any = None  # that the order's seed is drawn from

    def __init__(self, sampler: int, *args: Any, **kwargs: Any) -> None:
        Places.__init__(self, sampler, *args, **kwargs)
        self.data_source = range(sampler)
        self._num_samples = None


class PlacedBatches(data.Sampler):
    """A batch sampler whose batches are lists of `Place`s, from a batch_sampler of indices.

    Batch k holds the samples from k * batch_size on, if the batch sampler says its batch_size.
    """

    def __init__(self, batch_sampler: Any) -> None:
        self.batch_sampler = batch_sampler
        self.epochs = _Epochs()
        size = getattr(batch_sampler, "batch_size", None)
        self.nominal = size if isinstance(size, int) and size > 0 else _LARGEST
        # What Accelerate asks a batch sampler.
        self.batch_size, self.drop_last = size, getattr(batch_sampler, "drop_last", False)

    def __len__(self) -> int:
        return len(self.batch_sampler)

    def __iter__(self) -> Iterator[list[Place]]:
        for part in (self.batch_sampler, getattr(self.batch_sampler, "sampler", None)):
            if callable(forward := getattr(part, "set_epoch", None)):
                forward(self.epochs.next())
        epoch, start = self.epochs.begin()
        for step, batch in enumerate(self.batch_sampler):
            if step >= start:
                first = step * self.nominal
                yield [Place(index, epoch, first + at, self.nominal)
                       for at, index in enumerate(batch)]  # fmt: skip

    def set_epoch(self, epoch: int) -> None:
        """The epoch that the next iteration goes through. Without this it is the next one."""
        self.epochs.set_epoch(epoch)


class Tagged(data.Dataset):
    """A data set whose samples carry the place they were asked for; in all else as `dataset`."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, Place):
            return place, self.dataset[place.index]
        return None, self.dataset[place]  # of a sampler that was put in the place of ours

    def __getitems__(self, places: list[Any]) -> list[Any]:
        indices = [place.index if isinstance(place, Place) else place for place in places]
        several = getattr(self.dataset, "__getitems__", None)
        samples = several(indices) if several else [self.dataset[index] for index in indices]
        return [(place if isinstance(place, Place) else None, sample)
                for place, sample in zip(places, samples)]  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "dataset":
            raise AttributeError(name)
        return getattr(self.dataset, name)


class MixCollate:
    """A collate function: a list of (place, sample) to a mixed batch.

    mix: a mixer or adapter, or another callable that takes a batch. collate_fn makes a batch of the
    samples first; default: PyTorch's own. labels_getter: as that of `medley.torchvision.Mixed`.

    Samples without a place are mixed by the mixer's count of calls.
    """

    def __init__(
        self,
        mix: Any,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        labels_getter: LabelsGetter = "default",
    ) -> None:
        if not callable(mix):
            raise TypeError(f"mix must be a mixer or another callable, got {type(mix).__name__}")
        self.mix = mix
        _ = getattr(mix, "seed", None)  # settled before there are workers, which have to draw alike
        self.collate_fn = collate_fn or data.dataloader.default_collate
        self.labels_getter = labels_getter

    def __call__(self, samples: list[tuple[Place | None, Any]]) -> Any:
        first = samples[0][0]
        place = None if first is None else _turn(first, len(samples))
        # Workers share the cores among themselves already.
        threads = 1 if data.get_worker_info() is not None else None
        return self._mixed([sample for _, sample in samples], place, threads)

    def _mixed(
        self, samples: list[Any], place: tuple[int, int, int] | None, threads: int | None
    ) -> Any:
        mix = self.mix
        if isinstance(mix, medley_timm.FastCollateMixup):
            return mix._mixed(samples, place, threads)
        batch = self.collate_fn(samples)
        if isinstance(mix, medley_torchvision.Mixed):
            return mix._mixed(batch, place, threads)
        if isinstance(mix, medley_timm.Mixup):
            labels = find_labels(batch, self.labels_getter)
            images = find_images(batch, labels, "nchw")
            if len(images) != 1:
                raise ValueError(f"timm's Mixup mixes one batch of images, got {len(images)}")
            x, y = mix._mixed((images[0], labels), place, threads)
            return replaced(batch, {id(images[0]): x, id(labels): y})
        if isinstance(mix, Mix):
            getter = None if hasattr(batch, "shape") else self.labels_getter
            return mix_sample(mix, batch, getter, place=place, threads=threads)
        return mix(batch)


def _turn(place: Place, count: int) -> tuple[int, int, int]:
    """(batch, first, epoch) of samples from this place on: a batch, or what is left of one that was
    split among processes."""
    at = place.ordinal % place.batch
    if at == 0 and count <= place.batch:
        return place.batch, place.ordinal, place.epoch
    if at % count == 0 and place.batch % count == 0:
        return count, place.ordinal, place.epoch
    return 1 << 20, place.ordinal << 20, place.epoch  # still of its own


def _given_seed(mix: Any) -> int | None:
    stream = getattr(mix.mix if isinstance(mix, medley_torchvision.Mixed) else mix, "_stream", None)
    return stream.seed if stream is not None and stream._seeded else None


class Loader(data.DataLoader):
    """A DataLoader that mixes, in its workers where it has some.

    dataset: any; samples are pairs (image, label), longer tuples, dicts or nested, image of shape
        (C, H, W).
    mix: a mixer whose pairing stays within the batch, an adapter of `medley.timm` or
        `medley.torchvision`, or another callable that takes a batch (whose draws are its own then).
    batch_size, shuffle, drop_last, sampler, batch_sampler, collate_fn and other options: those of
        torch.utils.data.DataLoader. The order of a shuffle follows from (seed, epoch); a sampler
        with `set_epoch` is told the epoch.
    seed: of the shuffle. By default it is drawn from `generator=` if there is one, else it is the
        mixer's if that was given one, else drawn from PyTorch's generator.
    rank, world_size: share the batches of one process, see `Places`; not with a batch_sampler, or
        where Lightning or Accelerate share them.
    labels_getter: where the labels of a batch are, as in `medley.torchvision.Mixed`.

    Iterating gives the batches of one epoch, with images and labels mixed: labels are a
    `MixedLabels` from a mixer, soft labels from an adapter. Each iteration goes through the next
    epoch, unless `set_epoch` says which. Samples of an IterableDataset have no places: workers draw
    for themselves, as with a mixer in a collate function.
    """

    def __init__(
        self,
        dataset: Any,
        mix: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        *,
        sampler: Any = None,
        batch_sampler: Any = None,
        drop_last: bool = False,
        seed: int | None = None,
        rank: int = 0,
        world_size: int = 1,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        labels_getter: LabelsGetter = "default",
        **options: Any,
    ) -> None:
        # What prepares loaders makes a new one from the attributes of this one.
        self.mix = mix
        self.seed, self.rank, self.world_size = seed, rank, world_size
        self.labels_getter = labels_getter
        self._step = 0
        if isinstance(dataset, Tagged):
            dataset = dataset.dataset
        if isinstance(collate_fn, _Untagged):
            collate_fn = collate_fn.collate
        if isinstance(collate_fn, MixCollate):
            collate_fn = collate_fn.collate_fn
        collate = MixCollate(mix, collate_fn, labels_getter)
        if batch_size is None:
            raise ValueError("batch_size must be >= 1, got None: single samples are not mixed")
        if isinstance(dataset, data.IterableDataset):
            if shuffle or sampler is not None or batch_sampler is not None or world_size != 1:
                raise ValueError(
                    "an IterableDataset has an order of its own: shuffle, sampler, batch_sampler "
                    "and world_size do not go with it"
                )
            super().__init__(
                dataset, batch_size, drop_last=drop_last, collate_fn=_Untagged(collate), **options
            )
            return
        tagged = Tagged(dataset)
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last or world_size != 1:
                raise ValueError(
                    "batch_sampler makes the batches: batch_size, shuffle, sampler, drop_last and "
                    "world_size do not go with it"
                )
            if not isinstance(batch_sampler, PlacedBatches):
                batch_sampler = PlacedBatches(batch_sampler)
            super().__init__(tagged, batch_sampler=batch_sampler, collate_fn=collate, **options)
            return
        if sampler is not None and shuffle:
            raise ValueError("sampler gives the order: shuffle does not go with it")
        if seed is None and options.get("generator") is None:
            seed = _given_seed(mix)
        places = (Places if sampler is not None else _Shuffled if shuffle else _InOrder)(
            len(dataset) if sampler is None else sampler,
            batch_size,
            shuffle=bool(shuffle),
            drop_last=drop_last,
            seed=seed,
            rank=rank,
            world_size=world_size,
        )
        if isinstance(places, _Shuffled):
            places.generator = options.get("generator")
        super().__init__(
            tagged,
            batch_size,
            sampler=places,
            drop_last=drop_last,
            collate_fn=collate,
            **options,
        )

    @property
    def _epochs(self) -> _Epochs:
        for part in (self.batch_sampler, self.sampler):
            if isinstance(part, (Places, PlacedBatches)):
                return part.epochs
        raise TypeError("an IterableDataset has no epochs that a loader could continue")

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        if isinstance(self.dataset, data.IterableDataset):
            yield from super().__iter__()
            return
        epochs = self._epochs
        if epochs.resumed and epochs.start >= len(self):
            epochs.set_epoch(epochs.epoch + 1)
        self._step = epochs.start
        for batch in super().__iter__():
            self._step += 1
            yield batch

    def set_epoch(self, epoch: int) -> None:
        """The epoch that the next iteration goes through: from its beginning, unless a state within
        this epoch was loaded."""
        self._epochs.set_epoch(epoch)
        self._step = self._epochs.start

    def state_dict(self) -> dict[str, int]:
        """Epoch, and batches taken of it."""
        draws = _core.draws_version
        return {"draws": draws, "epoch": self._epochs.epoch, "step": self._step}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """The next iteration goes on with the batch after those that were taken when `state_dict`
        gave the state. Where the order is that of a sampler, it has to give the same one again."""
        epoch, step = (
            not_negative(name, state_value(state, name)) for name in ("epoch", "step")
        )
        check_draws(state)
        self._epochs.resume(epoch, step)
        self._step = step


class _Untagged:
    """Samples of an IterableDataset, as `MixCollate` takes them."""

    def __init__(self, collate: MixCollate) -> None:
        self.collate = collate

    def __call__(self, samples: list[Any]) -> Any:
        return self.collate([(None, sample) for sample in samples])

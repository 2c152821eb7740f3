"""Mixing in a PyTorch DataLoader, with draws that follow the sample and not the process.

    mix = medley.HMix(seed=0)
    loader = medley.collate.Loader(dataset, mix, batch_size=128, shuffle=True, num_workers=4)
    for epoch in range(90):
        loader.set_epoch(epoch)
        for x, y in loader:             # y is a MixedLabels
            ...

The batches are the same for any number of workers, differ between epochs, and continue after a
restart (`state_dict`, `load_state_dict`). With `rank` and `world_size` each process takes every
world_size-th batch of the same sequence.

The parts work on their own as well: `Batches` is a batch sampler that says which samples of which
epoch a batch holds, `Tagged` a data set that passes this on, and `MixCollate` the collate function
that mixes by it.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, NamedTuple, Sequence

import torch
from torch.utils import data

from ._stream import not_negative
from .mixers import Mix

__all__ = ["Batches", "Loader", "MixCollate", "Place", "Tagged"]


class Place(NamedTuple):
    """A sample to load: its index, and where its batch stands."""

    index: int
    epoch: int
    first: int  # ordinal of the batch's first sample in the epoch
    batch: int  # nominal batch size


class Batches:
    """A batch sampler: lists of `Place`.

    The order of an epoch follows from (seed, epoch) alone. `rank` of `world_size` processes takes
    batches rank, rank + world_size, ...; all take the same number of batches, so up to
    world_size - 1 batches at the end of an epoch are left out.
    """

    def __init__(
        self,
        samples: int,
        batch_size: int,
        *,
        shuffle: bool = False,
        drop_last: bool = False,
        seed: int = 0,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        if samples < 1 or batch_size < 1:
            raise ValueError(f"samples and batch_size must be >= 1, got {samples}, {batch_size}")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank must be in [0, {world_size}), got {rank}")
        self.samples, self.batch_size = samples, batch_size
        self.shuffle, self.drop_last, self.seed = shuffle, drop_last, seed
        self.rank, self.world_size = rank, world_size
        self.epoch = 0
        self.start = 0  # step at which the next iteration begins

    def __len__(self) -> int:
        """Steps of an epoch for this rank."""
        whole, rest = divmod(self.samples, self.batch_size)
        batches = whole if self.drop_last or rest == 0 else whole + 1
        return batches // self.world_size

    def order(self, epoch: int) -> Sequence[int]:
        """Index of the sample at each ordinal of the epoch."""
        if not self.shuffle:
            return range(self.samples)
        generator = torch.Generator()
        generator.manual_seed((self.seed * 0x9E3779B97F4A7C15 + epoch) % (1 << 63))
        return torch.randperm(self.samples, generator=generator).tolist()

    def __iter__(self) -> Iterator[list[Place]]:
        epoch, start = self.epoch, self.start
        self.start = 0
        order = self.order(epoch)
        for step in range(start, len(self)):
            first = (step * self.world_size + self.rank) * self.batch_size
            chosen = order[first : first + self.batch_size]
            yield [Place(index, epoch, first, self.batch_size) for index in chosen]


class Tagged(data.Dataset):
    """A data set whose samples carry the place they were asked for."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, place: Place) -> tuple[Place, Any]:
        return place, self.dataset[place.index]


class MixCollate:
    """A collate function: a list of (place, (image, label)) to mixed images and labels.

    collate_fn makes a batch (images, labels) of the samples first; default: PyTorch's own.
    """

    def __init__(self, mix: Mix, collate_fn: Callable[[list[Any]], Any] | None = None) -> None:
        self.mix = mix
        _ = mix.seed  # settled before there are workers, which have to draw alike
        self.collate_fn = collate_fn or data.dataloader.default_collate

    def __call__(self, samples: list[tuple[Place, Any]]) -> tuple[Any, Any]:
        place = samples[0][0]
        images, labels = self.collate_fn([sample for _, sample in samples])
        # Workers share the cores among themselves already.
        threads = 1 if data.get_worker_info() is not None else None
        return self.mix(
            images,
            labels,
            epoch=place.epoch,
            first=place.first,
            batch=place.batch,
            threads=threads,
        )


class Loader:
    """A DataLoader over (image, label) samples that mixes in its workers.

    dataset: maps indices to (image, label), image of shape (C, H, W). mix: any mixer whose pairing
    stays within the batch. shuffle, drop_last, rank, world_size: see `Batches`. seed: of the
    shuffle, default the mixer's. Other options go to torch.utils.data.DataLoader.

    Iterating gives the batches of one epoch, `len(loader)` of them, as (x, y).
    """

    def __init__(
        self,
        dataset: Any,
        mix: Mix,
        batch_size: int,
        *,
        shuffle: bool = False,
        drop_last: bool = False,
        seed: int | None = None,
        rank: int = 0,
        world_size: int = 1,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        **options: Any,
    ) -> None:
        self.batches = Batches(
            len(dataset),
            batch_size,
            shuffle=shuffle,
            drop_last=drop_last,
            seed=mix.seed if seed is None else seed,
            rank=rank,
            world_size=world_size,
        )
        self._loader = data.DataLoader(
            Tagged(dataset),
            batch_sampler=self.batches,
            collate_fn=MixCollate(mix, collate_fn),
            **options,
        )
        self._step = 0

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        self._step = self.batches.start
        for batch in self._loader:
            self._step += 1
            yield batch

    def set_epoch(self, epoch: int) -> None:
        """The epoch that the next iteration goes through: from its beginning, unless a state within
        this epoch was loaded."""
        epoch = not_negative("epoch", epoch)
        if epoch != self.batches.epoch:
            self.batches.start = 0
        self.batches.epoch = epoch
        self._step = self.batches.start

    def state_dict(self) -> dict[str, int]:
        """Epoch, and batches taken of it."""
        return {"epoch": self.batches.epoch, "step": self._step}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """The next iteration goes on with the batch after those that were taken."""
        epoch, step = (not_negative(name, state[name]) for name in ("epoch", "step"))
        self.batches.epoch = epoch
        self.batches.start = self._step = step

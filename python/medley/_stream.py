"""Where a sequence of draws starts and stands, and what sets its processes apart.

Nothing here imports PyTorch: it matters only where the caller uses it.
"""

from __future__ import annotations

import os
import secrets
import sys
import threading
import weakref
from contextlib import contextmanager
from typing import Any, Iterator

from . import _core
from ._checks import not_negative, seed_number, whole_number

_MASK = (1 << 64) - 1


def state_value(state: Any, name: str) -> Any:
    """An entry of a state; ValueError if it is not there."""
    if not isinstance(state, dict):
        raise TypeError(f"state must be the dict of state_dict(), got {type(state).__name__}")
    if name not in state:
        raise ValueError(f"state must be what state_dict() gave, with {name!r}, got {sorted(state)}")
    return state[name]


def check_draws(state: dict[str, Any]) -> None:
    """Throws ValueError for a state of other draws than this version's. One that does not say is of
    the first."""
    draws = whole_number("draws", state.get("draws", 1))
    if draws != _core.draws_version:
        raise ValueError(
            f"the state is of draws version {draws}, this Medley has {_core.draws_version}: go on "
            "with the version that made it, or start anew"
        )


class Stream:
    """A sequence of draws: its seed, and the place of the next call.

    Without a seed it takes one when it is first needed, and `rank` and `world_size` of the process.
    In a DataLoader worker the draws of counted calls are the worker's own.
    """

    def __init__(
        self, seed: Any = None, rank: int | None = None, world_size: int | None = None
    ) -> None:
        seed = None if seed is None else seed_number(seed)
        if (rank is None) != (world_size is None):
            raise ValueError(
                f"rank and world_size go together, got rank {rank} and world_size {world_size}"
            )
        self.counter = _core.Counter()
        self._seed: int | None = seed
        self._seeded = seed is not None
        self._shard = (0, 1)
        self._sharded = rank is not None
        if rank is not None:
            self._share(whole_number("rank", rank), whole_number("world_size", world_size))
        self._own_seed: int | None = None
        after_fork(self)

    @property
    def seed(self) -> int:
        """Start of the random numbers."""
        if self._seed is None:
            with _lock:
                if self._seed is None:
                    self._seed = _fresh_seed()
        return self._seed

    def own_seed(self) -> int:
        """The seed of counted calls in this process: `seed`, or a worker's own."""
        if self._own_seed is None:
            worker = _worker_seed()
            if not self._seeded and not self._sharded:
                found = _rank_and_world_size()
                if worker is None or found[1] > 1:  # a spawned worker may not know its rank
                    self._share(*found)
            self._own_seed = self.seed if worker is None else _mixed_seed(self.seed, worker)
        return self._own_seed

    @contextmanager
    def turn(self, count: int) -> Iterator[tuple[int, int, int]]:
        """The place of a call on `count` samples; a call that fails does not count."""
        self.own_seed()  # knows the rank now
        turn = self.counter.next(count)
        try:
            yield turn.place
        except BaseException:
            self.counter.give_back(turn)
            raise

    def set_epoch(self, epoch: int) -> None:
        self.counter.set(not_negative("epoch", epoch), 0, 0)

    def state_dict(self) -> dict[str, int]:
        epoch, step, batch = self.counter.state()
        return {
            "draws": _core.draws_version,
            "seed": self.seed,
            "epoch": epoch,
            "step": step,
            "batch": batch,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Throws ValueError if a seed was given that is not the state's, or for other draws."""
        seed = seed_number(state_value(state, "seed"))
        place = tuple(
            not_negative(name, state_value(state, name)) for name in ("epoch", "step", "batch")
        )
        check_draws(state)
        if self._seeded and seed != self.seed:
            raise ValueError(f"the state is of seed {seed}, this mixer has {self.seed}")
        self._seed, self._own_seed = seed, None
        self.counter.set(*place)

    def _share(self, rank: int, world_size: int) -> None:
        self.counter.shard(rank, world_size)
        self._shard = rank, world_size

    def _after_fork(self) -> None:
        self._own_seed = None

    def __getstate__(self) -> dict[str, Any]:
        if not self._seeded:
            self.own_seed()  # copies, and spawned processes, draw what this one would
        return {
            "state": self.state_dict(),
            "shard": self._shard,
            "seeded": self._seeded,
            "sharded": self._sharded,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["state"]["seed"], *state["shard"])  # type: ignore[misc]
        self._seeded, self._sharded = state["seeded"], state["sharded"]
        self.load_state_dict(state["state"])


_lock = threading.Lock()
_forkable: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def after_fork(item: Any) -> None:
    """Has `item._after_fork()` called in processes that are forked from this one."""
    _forkable[id(item)] = item


def _tell_of_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have held it
    for item in list(_forkable.values()):
        item._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_tell_of_fork)


def _fresh_seed() -> int:
    """From PyTorch's global generator, so that `torch.manual_seed` decides it, or from the system
    where PyTorch is not in use."""
    torch = sys.modules.get("torch")
    generator = getattr(torch, "default_generator", None)
    if generator is None:
        return secrets.randbits(64)
    drawn = torch.randint(  # type: ignore[union-attr]
        (1 << 63) - 1, (1,), generator=generator, device=generator.device
    )
    return int(drawn)


def _worker_seed() -> int | None:
    """The seed of this DataLoader worker, None in other processes. Each worker has its own, in each
    epoch unless workers persist."""
    data = sys.modules.get("torch.utils.data")
    info = None if data is None else data.get_worker_info()
    return None if info is None else int(info.seed) & _MASK


def _mixed_seed(seed: int, worker: int) -> int:
    """splitmix64's finalizer over both numbers."""
    z = (seed ^ (worker * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03)) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def _rank_and_world_size() -> tuple[int, int]:
    """Of `torch.distributed` if it is initialized, else of the launcher's environment variables."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    try:
        rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    except (KeyError, ValueError):
        return 0, 1
    return (rank, world_size) if 0 <= rank < world_size else (0, 1)

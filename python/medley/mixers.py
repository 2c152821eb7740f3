"""Mixers: a method with its parameters and a place in the sequence of random draws."""

from __future__ import annotations

import copy
import functools
from typing import Any, Literal, Sequence, TypedDict

from . import _core
from ._arrays import check_array, dtype_name, framework_of, on_host
from ._checks import layout_word, whole_number
from ._dynamo import opaque, settle
from ._mixed_labels import MixedLabels
from ._stream import Stream, after_fork, state_value
from .labels import as_array, mix_targets
from .pixels import finished, output_for, per_channel, readable


def _own(name: str, value: Any) -> Any:
    """The value of an option, which may not change with the caller's object."""
    if name in ("mean", "std"):
        return per_channel(name, value)
    if name == "masks" and not isinstance(value, memoryview):  # of which there are no copies
        return copy.deepcopy(on_host(value.detach() if hasattr(value, "detach") else value))
    return value


def _count(images: Any) -> int:
    check_array("images", images)
    shape = framework_of(images).shape(images)
    if len(shape) == 0 or shape[0] == 0:
        raise ValueError(f"images must be a batch of at least one, got the shape {tuple(shape)}")
    return shape[0]


_PIXEL_OPTIONS = ("mean", "std", "pad_mode", "pad_value", "backend", "max_pixel_value")
_COMPILED = ("_samplers", "_settings", "_quick")  # made anew by `Mix._setup`


class MixerOptions(TypedDict, total=False):
    """Options of mixers that are none of their plans'."""

    seed: int | None
    rank: int | None
    world_size: int | None
    num_classes: int | None
    layout: Literal["nchw", "nhwc"]
    out_layout: Literal["nchw", "nhwc"] | None
    dtype: Any
    mean: Sequence[float] | None
    std: Sequence[float] | None
    max_pixel_value: float | None
    pad_mode: Literal["constant", "reflect"]
    pad_value: float
    threads: int
    backend: str


def _check_name(method: Any) -> None:
    if not isinstance(method, str):
        raise TypeError(f"method must be a name such as hmix, got {type(method).__name__}")


def method_info(method: Any) -> dict[str, Any]:
    """What `medley.methods()` says of a method."""
    _check_name(method)
    return _core.method_info(method)


class Mix:
    """A mixing method: `Mix("hmix", alpha=1.0, ratio=0.5, seed=0)`.

    The classes `Mixup`, `CutMix`, `HMix`, ... are this with the method's own options, which
    `medley.methods()` lists too; names, words and defaults are those of the command line.

    method: its name, one of those that `medley.methods()` lists. Every mixer also takes

    seed: start of the random numbers, 0 to 2**64 - 1. Without one each mixer takes its own when it
        is first needed, from PyTorch's global generator where PyTorch is in use.
    rank, world_size: this process and how many there are: call k of it takes the draws that call
        k * world_size + rank of one process would. Without a seed they are found by themselves.
    prob: probability that a draw mixes at all. Default 1.0; in [0, 1].
    label: weight of the own label: the mean of the mask, or lam as drawn. Default "realized"; or
        "drawn".
    mode: samples that share one draw of lam and mask: each its own, the batch, or two. Default
        "sample"; or "batch", "pair".
    pairing: the partner: a random permutation of the batch, the batch reversed, the next sample, or
        any image of the data set. Default "batch"; or "reverse", "roll", "dataset".
    no_self: never mix a sample with itself. Default False.
    same_class: partners of the same class. Default False.
    other_class: partners of another class. Default False.
    pad: pad by this many pixels and cut a random window of the original size. Default 0;
        in [0, 32768].
    flip: probability of mirroring an image. Default 0.0; in [0, 1].
    num_classes: checks labels in host memory, and lets `y.soft()` and `numpy.asarray(y)` do without
        it. same_class and other_class need labels that are classes.
    layout, out_layout, dtype, mean, std, max_pixel_value, pad_mode, pad_value, threads, backend:
        see `medley.apply`.

    A mixer counts its calls, except those that fail: call k of an epoch takes the draws of the
    samples from k * batch on, where batch is the largest seen in the epoch (a last batch may be
    short). `set_epoch(e)` starts an epoch; `state_dict()` and `load_state_dict()` continue after a
    restart. In a DataLoader worker counted calls have draws of the worker's own, which follow from
    the seed and PyTorch's. With `epoch=` and `first=` a call says itself which samples it mixes,
    with the same draws in every process, and changes no state. Thread-safe. In a compiled step of
    PyTorch a call is a graph break.
    """

    options: dict[str, Any]

    def __init__(self, method: str, **options: Any) -> None:
        self._setup(method, options)

    def _setup(self, method: str, options: dict[str, Any]) -> None:
        _check_name(method)
        self._given = {name: _own(name, value) for name, value in options.items()}
        given = dict(self._given)
        self._method = method
        seed, rank, world_size = (given.pop(n, None) for n in ("seed", "rank", "world_size"))
        self._stream = Stream(seed, rank, world_size)
        self.num_classes = given.pop("num_classes", None)
        if self.num_classes is not None and whole_number("num_classes", self.num_classes) < 1:
            raise ValueError(f"num_classes must be >= 1, got {self.num_classes}")
        self.layout = given.pop("layout", "nchw")
        self.out_layout = given.pop("out_layout", None)
        dtype = given.pop("dtype", None)
        self.dtype = None if dtype is None else dtype_name(dtype)
        threads = given.pop("threads", 0)
        for name in _PIXEL_OPTIONS:
            given.pop(name, None)
        layout_word("layout", self.layout)
        if self.out_layout is not None:
            layout_word("out_layout", self.out_layout)
        # One that is of no stream yet is good for others to be made from it.
        self._samplers = {seed: _core.Sampler(method, given, 0 if seed is None else self.seed)}
        self.options = given
        self._class_rule = bool(given.get("same_class") or given.get("other_class"))
        self._settings = self._settings_with(threads)
        self._whole_dataset = given.get("pairing") == "dataset"
        self._quick: Any = None
        after_fork(self)
        settle()

    @opaque
    def __call__(
        self,
        images: Any,
        labels: Any = None,
        *,
        out: Any = None,
        inplace: bool = False,
        epoch: int | None = None,
        first: int | None = None,
        batch: int | None = None,
        threads: int | None = None,
    ) -> Any:
        """Mixes a batch: `x, y = mix(images, labels)`, or `x = mix(images)`.

        images: (N, C, H, W) and the other forms of `medley.apply`; untouched unless inplace=True.
        labels: classes, integers of shape (N,) or (N, 1), give a `MixedLabels`; floats of shape
            (N, D) or (N,) (soft labels, several labels, regression) are mixed as vectors, and so
            are one-hot and multi-hot rows of integers or booleans; integer class maps of shape
            (N, H, W) are mixed by the masks.
        out: an array for the result. inplace: overwrite `images`.
        epoch, first, batch: which samples these are, instead of counting calls: `first` is the
            ordinal of the first one in its epoch, a multiple of the batch size `batch` (default N).
        threads: of this call, instead of the mixer's.
        """
        counted = epoch is None and first is None and batch is None
        if counted and threads is None and not inplace and not self._whole_dataset:
            done = (self._quick or self._quick_step())(images, labels, out)
            if done is not NotImplemented:
                if labels is None:
                    return done
                x, terms, others = done
                return x, self._labels_of(terms, others, labels)
        if self._whole_dataset:
            raise ValueError(
                "pairing dataset mixes with any image of the data set: make a plan with "
                "mix.plan(batch=..., size=..., dataset_size=...) and apply it to all images"
            )
        count = _count(images)
        if counted:
            sampler = self._sampler(self._stream.own_seed())
            with self._stream.turn(count) as place:
                return self._mix(sampler, images, labels, out, inplace, place, threads)
        batch = count if batch is None else batch
        place = batch, 0 if first is None else first, self.epoch if epoch is None else epoch
        sampler = self._sampler(self.seed)
        return self._mix(sampler, images, labels, out, inplace, place, threads)

    def _quick_step(self) -> Any:
        sampler = self._sampler(self._stream.own_seed())
        self._quick = _core.quick_step(sampler, self._settings, self._stream.counter)
        return self._quick

    def _sampler(self, seed: int) -> _core.Sampler:
        """The method with any seed."""
        found = self._samplers.get(seed)
        if found is None:
            found = next(iter(self._samplers.values())).with_seed(seed)
            self._samplers = {seed: found, **dict(list(self._samplers.items())[:1])}
        return found

    def _after_fork(self) -> None:
        self._quick = None  # draws what the parent would

    def _mix(
        self,
        sampler: _core.Sampler,
        images: Any,
        labels: Any,
        out: Any,
        inplace: bool,
        place: tuple[int, int, int],
        threads: int | None,
    ) -> Any:
        framework = framework_of(images)
        stream, dlpack_stream = framework.stream(images)
        target = output_for(
            framework, images, out, inplace, self.layout, self.out_layout, self.dtype
        )
        source = readable(framework, images, self.layout, dlpack_stream)
        settings = self._settings if threads is None else self._settings_with(threads)
        labels = None if labels is None else as_array(labels)
        read = on_host(labels) if self._class_rule else labels  # where the plan is drawn
        terms, others = _core.step(
            sampler, settings, source, target, read, *place, stream, dlpack_stream
        )
        x = finished(framework, images, target, out, inplace, stream)
        return x if labels is None else (x, self._labels_of(terms, others, labels))

    def _mix_views(
        self,
        views: list[Any],
        labels: Any,
        place: tuple[int, int, int] | None = None,
        threads: int | None = None,
    ) -> tuple[list[Any], Any]:
        """Several batches of images of the same samples, mixed with the same draws, and the labels.

        place: (batch, first, epoch) instead of counting calls.
        """
        if place is None and len(views) == 1:
            mixed = self(views[0], labels, threads=threads)
            return ([mixed], None) if labels is None else ([mixed[0]], mixed[1])
        sizes = {tuple(view.shape[-2:] if self.layout == "nchw" else view.shape[1:3])
                 for view in views}  # fmt: skip
        if len(sizes) > 1 and not next(iter(self._samplers.values())).flat:
            raise ValueError(
                f"all images of a sample must have one size for {self.method}, got "
                + " and ".join(f"{height}x{width}" for height, width in sorted(sizes))
            )
        if place is not None:
            batch, first, epoch = place
            done = [
                self(view, labels, epoch=epoch, first=first, batch=batch, threads=threads)
                for view in views
            ]
        else:
            sampler = self._sampler(self._stream.own_seed())
            with self._stream.turn(len(views[0])) as turn:
                done = [self._mix(sampler, view, labels, None, False, turn, threads)
                        for view in views]  # fmt: skip
        return (done, None) if labels is None else ([x for x, _ in done], done[0][1])

    def _labels_of(self, terms: Any, others: Any, labels: Any) -> Any:
        if terms is None:
            return others
        return MixedLabels(None, None, self.num_classes, terms, labels)

    def plan(
        self,
        *,
        batch: int,
        size: int | tuple[int, int],
        epoch: int = 0,
        first: int = 0,
        count: int | None = None,
        dataset_size: int = 0,
        labels: Any = None,
        order: Any = None,
        threads: int = 0,
    ) -> _core.Plan:
        """What happens to the samples first ... first + count - 1 of an epoch, without pixels.

        size: (height, width) of the images, or one number for squares.
        count: samples wanted, default `batch`; a last batch may be short.
        dataset_size: needed by pairing "dataset", whose plans index the whole data set; with others
            it only says where the data set ends.
        labels: classes for same_class and other_class, of the data set if its size is given, else
            of the `count` samples.
        order: data-set index of each ordinal of the epoch (a shuffle), integers of shape (n,).
        batch, epoch, first: which samples: `first` is the ordinal of the first one in its epoch, a
            multiple of the batch size. threads: 0 for all cores.

        Changes no state; the same arguments give the same plan, here and elsewhere.
        """
        if count is not None and whole_number("count", count) < 1:
            raise ValueError(f"count must be >= 1, got {count}")
        if isinstance(size, (tuple, list)) and len(size) != 2:
            raise TypeError(f"size must be (height, width) or one whole number, got {size!r}")
        height, width = size if isinstance(size, (tuple, list)) else (size, size)
        return self._sampler(self.seed).plan(
            height, width, batch, first, -1 if count is None else count, epoch, dataset_size,
            on_host(labels), on_host(order), threads,
        )  # fmt: skip

    @property
    def method(self) -> str:
        """The name of the method."""
        return self._method

    @property
    def seed(self) -> int:
        """Start of the random numbers."""
        return self._stream.seed

    @property
    def epoch(self) -> int:
        """The epoch whose draws calls take."""
        return self._stream.counter.state()[0]

    @property
    def step(self) -> int:
        """Calls so far in this epoch."""
        return self._stream.counter.state()[1]

    def set_epoch(self, epoch: int) -> None:
        """Starts an epoch: its first call is call 0."""
        self._stream.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the sequence of draws stands, as plain numbers."""
        return {"method": self.method, **self._stream.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues where `state_dict` was taken. The method must be the same, and the seed if one
        was given; a mixer without takes that of the state."""
        method = state_value(state, "method")
        if method != self.method:
            raise ValueError(f"the state is of method {method}, this mixer has {self.method}")
        self._stream.load_state_dict(state)
        self._quick = None

    def _settings_with(self, threads: int) -> _core.Settings:
        given = {name: self._given[name] for name in _PIXEL_OPTIONS if name in self._given}
        options = _core.Options(threads=threads, **given)
        return _core.Settings(
            self.layout,
            self.out_layout or self.layout,
            options,
            self.num_classes or 0,
            self._class_rule,
            self.dtype is None and self.out_layout in (None, self.layout),
            self.dtype,
            functools.partial(mix_targets, num_classes=self.num_classes),
        )

    def __getstate__(self) -> dict[str, Any]:
        others = {name: value for name, value in vars(self).items() if name not in _COMPILED}
        return {"method": self.method, "given": self._given, "others": others}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._setup(state["method"], state["given"])
        vars(self).update(state["others"])  # the stream, and what subclasses added

    def __repr__(self) -> str:
        shown = {name: value for name, value in self._given.items() if value is not None}
        arguments = [f"{name}={value!r}" for name, value in shown.items()]
        if type(self) is Mix:
            arguments.insert(0, repr(self.method))
        return f"{type(self).__name__}({', '.join(arguments)})"

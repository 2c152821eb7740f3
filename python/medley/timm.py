"""timm's `Mixup`: the same constructor, call and attributes, with Medley's kernels.

    from medley.timm import Mixup       # was: from timm.data import Mixup
    mixup_fn = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=1000)
    x, target = mixup_fn(x, target)

Where timm is installed the classes derive from its own, so that its loaders know them, and boxes are
drawn as that version draws them: timm changed its boxes with 1.0.29 (docs/methods.md, Boxes).
Without timm they are those of today's timm.

What differs: odd batches are fine, draws come from `seed` or else from PyTorch's generator and not
from NumPy's, uint8 batches are rounded, and `method` mixes with the other methods as well. In a
compiled step a call is a graph break.

`mixup_target`, `rand_bbox`, `rand_bbox_minmax`, `cutmix_bbox_and_lam` and `one_hot` are here too.
"""

from __future__ import annotations

import math
from typing import Any, Callable, TYPE_CHECKING

from . import _core
from ._arrays import check_array, framework_of
from ._checks import real_number, real_numbers
from ._dynamo import opaque
from ._samples import folded
from ._stream import Stream, _fresh_seed
from .labels import mix_labels, mix_vectors
from .mixers import Mix, method_info
from .pixels import run

if TYPE_CHECKING:

    class _TimmMixup: ...

    class _TimmFastCollateMixup(_TimmMixup): ...

    _timm_bbox: Callable[..., Any] | None
else:
    try:
        from timm.data.mixup import FastCollateMixup as _TimmFastCollateMixup
        from timm.data.mixup import Mixup as _TimmMixup
        from timm.data.mixup import rand_bbox as _timm_bbox
    except ImportError:
        _TimmMixup = _TimmFastCollateMixup = object
        _timm_bbox = None

__all__ = [
    "FastCollateMixup",
    "Mixup",
    "cutmix_bbox_and_lam",
    "mixup_target",
    "one_hot",
    "rand_bbox",
    "rand_bbox_minmax",
]

_MODES = {"batch": "batch", "pair": "pair", "elem": "sample"}
_NOT_HERE = frozenset((
    "layout", "out_layout", "dtype", "mean", "std", "max_pixel_value", "pad", "flip", "pad_mode",
    "pad_value", "backend", "same_class", "other_class",
))  # fmt: skip


def _keeps_odd_sides(rand_bbox: Callable[..., Any] | None) -> bool:
    """Whether timm is one since 1.0.29, or is not there: a box of 3 of 5 pixels has 3 rows then.
    The margin leaves one place for its center."""
    if rand_bbox is None:
        return True
    top, bottom, _, _ = rand_bbox((5, 5), 0.6, margin=0.7)
    return bool(bottom - top == 3)


_CURRENT = _keeps_odd_sides(_timm_bbox)


class Mixup(_TimmMixup):
    """Mixup, CutMix or both, as `timm.data.Mixup`.

    mixup_alpha, cutmix_alpha: Beta(alpha, alpha) of each; 0 switches one off. With both,
        `switch_prob` is the chance of CutMix.
    cutmix_minmax: (min, max) of the box sides as shares of the image; boxes lie inside.
    prob: chance to mix, per batch (or pair, or element). The attribute is called `mix_prob`.
    mode: "batch", "pair" or "elem": samples that share one draw. The partner is the sample at the
        mirrored position of the batch.
    correct_lam: label weight from the clipped box (else lam as drawn).
    label_smoothing, num_classes: of the targets.
    multi_label: targets are dense, (N, num_classes), and smoothed towards 0.5.
    method: another Medley method instead, such as "hmix" or "gmix", with `alpha = mixup_alpha` and
        further options by name (`ratio=0.75`). Options of CutMix and of the switch do not go with
        it. Batches are mixed in place, so options that crop, convert or normalize are refused, and
        those that need classes.
    seed, rank, world_size, threads: as those of `medley.Mix`.

    These are attributes too, and what is assigned to them counts from the next call on.
    `mixup_enabled = False` stops mixing; targets are still smoothed.

    Calls count like those of `medley.Mix`, in DataLoader workers too: see `set_epoch`, `state_dict`
    and `load_state_dict`.
    """

    mixup_enabled: bool

    def __init__(
        self,
        mixup_alpha: float = 1.0,
        cutmix_alpha: float = 0.0,
        cutmix_minmax: tuple[float, float] | None = None,
        prob: float = 1.0,
        switch_prob: float = 0.5,
        mode: str = "batch",
        correct_lam: bool = True,
        label_smoothing: float = 0.1,
        num_classes: int = 1000,
        multi_label: bool = False,
        *,
        method: str | None = None,
        seed: int | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        threads: int = 0,
        **options: Any,
    ) -> None:
        self.mixup_alpha = mixup_alpha
        self.cutmix_alpha = 1.0 if cutmix_minmax is not None and method is None else cutmix_alpha
        self.cutmix_minmax = cutmix_minmax
        self.mix_prob = prob
        self.switch_prob = switch_prob
        self.label_smoothing = label_smoothing
        self.num_classes = num_classes
        self.multi_label = multi_label
        self.mode = mode
        self.correct_lam = correct_lam
        self.method = method
        self.mixup_enabled = True  # timm's training script switches it off for the last epochs
        self._stream = Stream(seed, rank, world_size)
        self._threads = threads
        self._method_options = options
        self._options = _core.Options(threads=threads)
        self._made: tuple[tuple[Any, ...], _Mixers] | None = None
        self._mixers()  # says what is wrong

    def _mixers(self) -> _Mixers:
        """What mixes by the attributes as they are now."""
        minmax = self.cutmix_minmax
        if minmax is not None and not isinstance(minmax, tuple):
            minmax = tuple(minmax) if hasattr(minmax, "__iter__") else (minmax,)
        settings = (
            self.mixup_alpha, self.cutmix_alpha, minmax, self.mix_prob, self.switch_prob, self.mode,
            self.correct_lam, self.method,
        )  # fmt: skip
        if self._made is None or self._made[0] != settings:
            self._made = settings, _Mixers(self, minmax)
        return self._made[1]

    _modes = _MODES

    @property
    def seed(self) -> int:
        """Start of the random numbers."""
        return self._stream.seed

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_options": None, "_made": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._options = _core.Options(threads=self._threads)

    def plan(
        self, *, batch: int, size: tuple[int, int], epoch: int = 0, first: int = 0,
        count: int | None = None,
    ) -> _core.Plan:  # fmt: skip
        """The plan of a batch: size, epoch, first and count as for `medley.Mix.plan`."""
        count = -1 if count is None else count
        return self._mixers().plan(self._stream.seed, (*size, batch, first, count, epoch))

    @opaque
    def __call__(self, x: Any, target: Any) -> tuple[Any, Any]:
        """Mixes in place, as timm does.

        x: (N, C, H, W), video (N, T, C, H, W) or vectors (N, D). target: classes (N,), or dense
        targets (N, num_classes) with multi_label. Returns x and soft targets, float32 of shape
        (N, num_classes).
        """
        return self._mixed((x, target))

    def _mixed(
        self,
        sample: Any,
        place: tuple[int, int, int] | None = None,
        threads: int | None = None,
    ) -> Any:
        x, target, *others = sample
        check_array("x", x)
        options = self._options if threads is None else _core.Options(threads=threads)
        if place is not None:
            mixed = self._mixed_by(self._plan_of(self.seed, place, x), x, target, options)
        else:
            with self._stream.turn(len(x)) as turn:
                plan = self._plan_of(self._stream.own_seed(), turn, x)
                mixed = self._mixed_by(plan, x, target, options)
        return (*mixed, *others)

    def _mixed_by(
        self, plan: _core.Plan, x: Any, target: Any, options: _core.Options
    ) -> tuple[Any, Any]:
        targets = self._targets(plan, target)
        images = folded(x)
        fresh = not self._mixers().in_place or images is not x
        if fresh or _core.image_info(images)["copied"]:
            mixed = run(plan, images, None, False, "nchw", None, None, options)
            framework_of(x).overwrite(x, mixed.reshape(x.shape))
            return x, targets
        return run(plan, images, None, True, "nchw", None, None, options), targets

    def _plan_of(self, seed: int, place: tuple[int, int, int], x: Any) -> _core.Plan:
        batch, first, epoch = place
        size = (x.shape[-2], x.shape[-1]) if len(x.shape) > 2 else (1, x.shape[-1])
        where = (*size, batch, first, len(x), epoch)
        if not self.mixup_enabled:
            return Mix("none")._sampler(seed).plan(*where)
        return self._mixers().plan(seed, where)

    def _targets(self, plan: _core.Plan, target: Any) -> Any:
        if not self.multi_label:
            labels = mix_labels(plan, target, self.num_classes)
            return labels.soft(self.num_classes, self.label_smoothing)
        _check_dense(target, self.num_classes)
        return mix_vectors(plan, _smoothed(target, self.label_smoothing))

    def set_epoch(self, epoch: int) -> None:
        """Starts an epoch."""
        self._stream.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the sequence of draws stands."""
        return self._stream.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues where `state_dict` was taken, with what it gave as `state`."""
        self._stream.load_state_dict(state)


class _Mixers:
    """The mixers behind some settings of `Mixup`."""

    def __init__(self, of: Mixup, minmax: Any) -> None:
        if of.mode not in of._modes:
            words = list(of._modes)
            raise ValueError(
                f"mode must be {', '.join(words[:-1])} or {words[-1]}, got {of.mode!r}"
            )
        if minmax is not None:
            minmax = real_numbers("cutmix_minmax", minmax, "(min, max)")
            if not (len(minmax) == 2 and 0 <= minmax[0] < minmax[1] <= 1):
                raise ValueError(f"cutmix_minmax must be 0 <= min < max <= 1, got {minmax}")
        mixup_alpha = real_number("mixup_alpha", of.mixup_alpha)
        cutmix_alpha = real_number("cutmix_alpha", of.cutmix_alpha)
        switch_prob = real_number("switch_prob", of.switch_prob)
        options = of._method_options
        refused = sorted(_NOT_HERE & options.keys())
        if refused:
            raise TypeError(f"medley.timm has no option {', '.join(refused)}; use medley.Mix")
        self._mode = of._modes[of.mode]
        common = {
            "prob": of.mix_prob,
            "mode": self._mode,
            "pairing": "reverse",
            "label": "realized" if of.correct_lam else "drawn",
            "threads": of._threads,
        }
        self._minmax = minmax
        self._correct = bool(of.correct_lam)
        self._mixup: Mix | None = None
        self._cutmix: Mix | None = None
        self._switch: Mix | None = None
        self.in_place = True
        if of.method is not None:
            beside = {
                "cutmix_alpha": cutmix_alpha > 0,
                "cutmix_minmax": minmax is not None,
                "switch_prob": switch_prob != 0.5,
            }
            if given := [name for name, value in beside.items() if value]:
                raise ValueError(
                    f"method={of.method!r} mixes alone, so {', '.join(given)} must not be given "
                    "beside it"
                )
            info = method_info(of.method)
            self.in_place = info["in_place"]
            alpha = {"alpha": mixup_alpha} if "alpha" in info["options"] else {}
            self._mixup = Mix(of.method, **{**alpha, **options}, **common)
        elif options:
            raise TypeError(f"options {', '.join(options)} need a method")
        else:
            if mixup_alpha > 0:
                self._mixup = Mix("mixup", alpha=mixup_alpha, **common)
            if cutmix_alpha > 0 or minmax is not None:
                alpha = {"alpha": 1.0 if minmax is not None else cutmix_alpha}
                self._cutmix = Mix("cutmix", **alpha, **common)
            if self._mixup is None and self._cutmix is None:
                raise ValueError("mixup_alpha > 0, cutmix_alpha > 0 or cutmix_minmax is needed")
            if self._mixup is not None and self._cutmix is not None:
                always = {**common, "prob": 1.0}
                self._switch = Mix("stochastic", q_mix=1 - switch_prob, **always)

    def plan(self, seed: int, where: tuple[int, ...]) -> _core.Plan:
        mixup = None if self._mixup is None else self._mixup._sampler(seed).plan(*where)
        if self._cutmix is None:
            assert mixup is not None
            return mixup
        cutmix = self._cutmix._sampler(seed).plan(*where)
        if self._minmax is not None or _CURRENT:
            cutmix = _core.timm_boxes(cutmix, self._mode, _CURRENT, self._correct, self._minmax)
        if mixup is None or self._switch is None:
            return cutmix
        # One draw decides between the two; each has a lam of its own law.
        return cutmix.choose(mixup, self._switch._sampler(seed).plan(*where)._flat())


class FastCollateMixup(Mixup, _TimmFastCollateMixup):
    """timm's collate function that mixes uint8 images: a list of (image, target) in, with image
    uint8 of shape (C, H, W); a uint8 tensor (N, C, H, W) and soft targets (N, num_classes) out.

    mixup_alpha, cutmix_alpha, cutmix_minmax, prob, switch_prob, correct_lam, label_smoothing,
    num_classes, multi_label, method, seed, rank, world_size, threads: as those of `Mixup`.
    mode: "half" too, which mixes the first half of the samples with the second, each element with a
        draw of its own; N / 2 come out.

    `mixup_enabled = False`, also by `loader.mixup_enabled = False` of timm's PrefetchLoader, reaches
    workers that are running.
    """

    _modes = {**_MODES, "half": "sample"}

    @property  # type: ignore[override]
    def mixup_enabled(self) -> bool:
        return bool(self._enabled)

    @mixup_enabled.setter
    def mixup_enabled(self, value: bool) -> None:
        if "_enabled" not in self.__dict__:
            import torch

            self._enabled = torch.ones((), dtype=torch.uint8).share_memory_()
        self._enabled.fill_(bool(value))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._enabled.share_memory_()

    @opaque
    def __call__(self, batch: Any, _: Any = None) -> tuple[Any, Any]:  # type: ignore[override]
        return self._mixed(batch)

    def _mixed(
        self,
        sample: Any,
        place: tuple[int, int, int] | None = None,
        threads: int | None = None,
    ) -> Any:
        import numpy
        import torch

        half = self.mode == "half"
        if half and len(sample) % 2 != 0:
            raise ValueError(f"mode half needs an even number of samples, got {len(sample)}")
        pictures = [numpy.asarray(item[0]) for item in sample]
        shapes = sorted({picture.shape for picture in pictures})
        if len(shapes) != 1:
            raise ValueError(
                f"images of a batch must have one shape, got {' and '.join(map(str, shapes))}"
            )
        stacked = numpy.stack(pictures)
        if stacked.dtype != numpy.uint8:
            raise TypeError(f"images must be uint8, got {stacked.dtype}")
        images = torch.from_numpy(stacked)
        if self.multi_label:
            target = torch.stack([torch.as_tensor(item[1]) for item in sample])
        else:
            target = torch.tensor([item[1] for item in sample], dtype=torch.int64)

        def mixed(seed: int, where: tuple[int, int, int]) -> tuple[Any, Any]:
            plan = self._plan_of(seed, where, images)
            if half:
                plan = plan._head(len(sample) // 2)
            targets = self._targets(plan, target)
            options = self._options if threads is None else _core.Options(threads=threads)
            return run(plan, images, None, False, "nchw", None, None, options), targets

        if place is not None:
            return mixed(self.seed, place)
        with self._stream.turn(len(sample)) as turn:
            return mixed(self._stream.own_seed(), turn)


def one_hot(x: Any, num_classes: int, on_value: float = 1.0, off_value: float = 0.0) -> Any:
    """Rows of on_value at the class and off_value elsewhere, float32 of shape (N, num_classes), for
    a tensor x of classes."""
    import torch

    x = x.long().reshape(-1, 1)
    rows = torch.full((len(x), num_classes), off_value, dtype=torch.float32, device=x.device)
    return rows.scatter_(1, x, on_value)


def mixup_target(
    target: Any,
    num_classes: int,
    lam: Any = 1.0,
    smoothing: float = 0.0,
    multi_label: bool = False,
) -> Any:
    """Targets of samples mixed with those at the mirrored positions: a number or a column `lam` of
    the own, 1 - lam of the other. target: a tensor of classes (N,), or dense ones (N, num_classes)
    with multi_label. smoothing: towards 1 / num_classes, of dense ones towards 0.5."""
    if multi_label:
        _check_dense(target, num_classes)
        own = _smoothed(target, smoothing)
    else:
        off = smoothing / num_classes
        own = one_hot(target, num_classes, 1.0 - smoothing + off, off)
    return own * lam + own.flip(0) * (1.0 - lam)


def _check_dense(target: Any, num_classes: int) -> None:
    shape = tuple(framework_of(target).shape(target))
    if len(shape) != 2 or shape[1] != num_classes:
        raise ValueError(
            f"dense targets must have the shape (N, {num_classes}) of multi_label, got {shape}"
        )


def _smoothed(target: Any, smoothing: float) -> Any:
    rows = target.float() if hasattr(target, "float") else target.astype("float32")
    return rows * (1.0 - smoothing) + 0.5 * smoothing


def rand_bbox(
    img_shape: tuple[int, ...], lam: float, margin: float = 0.0, count: int | None = None
) -> tuple[Any, Any, Any, Any]:
    """A box (top, bottom, left, right) of CutMix by the rule of the installed timm, or `count` of
    them as arrays. img_shape: ends in height and width. lam: 1 - area of the box. margin: share of
    the box sides that the center keeps from the border. Draws come from PyTorch's generator."""
    import numpy

    random = _generator()
    share = math.sqrt(1 - lam)

    def interval(n: int) -> tuple[Any, Any]:
        side = int(n * share)
        away = int(margin * side)
        center = random.integers(away, n - away, size=count)
        end = (side + 1) // 2 if _CURRENT else side // 2
        return numpy.clip(center - side // 2, 0, n), numpy.clip(center + end, 0, n)

    return (*interval(img_shape[-2]), *interval(img_shape[-1]))


def rand_bbox_minmax(
    img_shape: tuple[int, ...], minmax: tuple[float, float], count: int | None = None
) -> tuple[Any, Any, Any, Any]:
    """A box (top, bottom, left, right) inside the image with sides of min to max of its sides, or
    `count` of them. img_shape: ends in height and width. minmax: (min, max). Draws come from
    PyTorch's generator."""
    if len(minmax) != 2:
        raise ValueError(f"minmax must be (min, max), got {minmax}")
    random = _generator()

    def interval(n: int) -> tuple[Any, Any]:
        side = random.integers(int(n * minmax[0]), int(n * minmax[1]), size=count)
        begin = random.integers(0, n - side + (1 if _CURRENT else 0), size=count)
        return begin, begin + side

    return (*interval(img_shape[-2]), *interval(img_shape[-1]))


def cutmix_bbox_and_lam(
    img_shape: tuple[int, ...],
    lam: float,
    ratio_minmax: tuple[float, float] | None = None,
    correct_lam: bool = True,
    count: int | None = None,
) -> tuple[tuple[Any, Any, Any, Any], Any]:
    """A box of `rand_bbox(img_shape, lam)`, or of `rand_bbox_minmax` with ratio_minmax, or `count` of
    them, and lam: that of the box, unless correct_lam is False."""
    if ratio_minmax is not None:
        box = rand_bbox_minmax(img_shape, ratio_minmax, count)
    else:
        box = rand_bbox(img_shape, lam, count=count)
    if not correct_lam and ratio_minmax is None:
        return box, lam
    top, bottom, left, right = box
    return box, 1.0 - (bottom - top) * (right - left) / float(img_shape[-2] * img_shape[-1])


def _generator() -> Any:
    import numpy

    return numpy.random.default_rng(_fresh_seed())

"""timm's `Mixup`: the same constructor and call, with Medley's kernels.

    from medley.timm import Mixup       # was: from timm.data import Mixup
    mixup_fn = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=1000)
    x, target = mixup_fn(x, target)

What differs: odd batches are fine, draws come from `seed` or else from PyTorch's generator and not
from NumPy's, uint8 batches are rounded, and `method` mixes with the other methods as well.
"""

from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import framework_of
from .labels import mix_labels
from ._stream import Stream
from .mixers import Mix
from .pixels import run

__all__ = ["FastCollateMixup", "Mixup"]

_MODES = {"batch": "batch", "pair": "pair", "elem": "sample"}
_NEVER_IN_PLACE = ("nmixup", "resizemix")  # of more images than two, or of resized ones
_NOT_HERE = frozenset((
    "layout", "out_layout", "dtype", "mean", "std", "pad", "flip", "pad_mode", "pad_value",
    "backend", "same_class", "other_class",
))  # fmt: skip


class Mixup:
    """Mixup, CutMix or both, as `timm.data.Mixup`.

    mixup_alpha, cutmix_alpha: Beta(alpha, alpha) of each; 0 switches one off. With both,
        `switch_prob` is the chance of CutMix.
    cutmix_minmax: (min, max) of the box sides as shares of the image; boxes lie inside.
    prob: chance to mix, per batch (or pair, or element).
    mode: "batch", "pair" or "elem": samples that share one draw. The partner is the sample at the
        mirrored position of the batch.
    correct_lam: label weight from the clipped box (else lam as drawn).
    label_smoothing, num_classes: of the targets.
    method: another Medley method instead, such as "hmix" or "gmix", with `alpha = mixup_alpha` and
        further options by name (`ratio=0.75`). Batches are mixed in place, so options that crop,
        convert or normalise are refused, and those that need classes.
    seed, rank, world_size: as those of `medley.Mix`.

    Calls count like those of `medley.Mix`, in DataLoader workers too: see `set_epoch`, `state_dict` and `load_state_dict`.
    """

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
        *,
        method: str | None = None,
        seed: int | None = None,
        rank: int | None = None,
        world_size: int | None = None,
        threads: int = 0,
        **options: Any,
    ) -> None:
        if mode not in _MODES:
            raise ValueError(f"mode must be batch, pair or elem, got {mode!r}")
        if cutmix_minmax is not None:
            low, high = cutmix_minmax = tuple(cutmix_minmax)
            if not 0 <= low < high <= 1:
                raise ValueError(f"cutmix_minmax must be 0 <= min < max <= 1, got {cutmix_minmax}")
        self.mixup_alpha = mixup_alpha
        self.cutmix_alpha = 1.0 if cutmix_minmax is not None else cutmix_alpha
        self.cutmix_minmax = cutmix_minmax
        self.mix_prob = prob
        self.switch_prob = switch_prob
        self.label_smoothing = label_smoothing
        self.num_classes = num_classes
        self.mode = mode
        self.correct_lam = correct_lam
        self.method = method
        self.mixup_enabled = True  # timm's training script switches it off for the last epochs
        self._stream = Stream(seed, rank, world_size)
        common = {
            "prob": prob,
            "mode": _MODES[mode],
            "pairing": "reverse",
            "label": "realised" if correct_lam else "drawn",
            "threads": threads,
        }
        self._threads = threads
        self._options = _core.Options(threads=threads)
        self._mixup = self._cutmix = self._switch = None
        refused = sorted(_NOT_HERE & options.keys())
        if refused:
            raise TypeError(f"medley.timm has no option {', '.join(refused)}; use medley.Mix")
        if method is not None:
            alpha = {} if method in ("none", "resizemix", "custom") else {"alpha": mixup_alpha}
            self._mixup = Mix(method, **{**alpha, **options}, **common)
        elif options:
            raise TypeError(f"options {', '.join(options)} need a method")
        else:
            if mixup_alpha > 0:
                self._mixup = Mix("mixup", alpha=mixup_alpha, **common)
            if self.cutmix_alpha > 0:
                self._cutmix = Mix("cutmix", alpha=self.cutmix_alpha, **common)
            if self._mixup is None and self._cutmix is None:
                raise ValueError("mixup_alpha > 0, cutmix_alpha > 0 or cutmix_minmax is needed")
            if self._mixup is not None and self._cutmix is not None:
                always = {**common, "prob": 1.0}
                self._switch = Mix("stochastic", q_mix=1 - switch_prob, **always)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_options"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._options = _core.Options(threads=self._threads)

    def plan(
        self, *, batch: int, size: tuple[int, int], epoch: int = 0, first: int = 0,
        count: int | None = None,
    ) -> _core.Plan:  # fmt: skip
        """The plan of a batch, as `medley.Mix.plan`."""
        count = -1 if count is None else count
        return self._plan(self._stream.seed, (*size, batch, first, count, epoch))

    def _plan(self, seed: int, where: tuple[int, ...]) -> _core.Plan:
        def drawn(mix: Mix) -> _core.Plan:
            return mix._sampler(seed).plan(*where)

        mixup = None if self._mixup is None else drawn(self._mixup)
        if self._cutmix is None:
            return mixup
        cutmix = drawn(self._cutmix)
        if self.cutmix_minmax is not None:
            cutmix = _minmax_boxes(cutmix, self)
        if mixup is None:
            return cutmix
        # One draw decides between the two; each has a lam of its own law.
        return cutmix.choose(mixup, drawn(self._switch)._flat())

    def __call__(self, x: Any, target: Any) -> tuple[Any, Any]:
        """Mixes in place, as timm does.

        x: (N, C, H, W). target: classes (N,). Returns x and soft targets, float32 of shape
        (N, num_classes).
        """
        with self._stream.turn(len(x)) as place:
            plan = self._plan_at(place, len(x), (x.shape[-2], x.shape[-1]))
            targets = self._targets(plan, target)
            if self.method in _NEVER_IN_PLACE or _core.image_info(x)["copied"]:
                mixed = run(plan, x, None, False, "nchw", None, None, self._options)
                framework_of(x).overwrite(x, mixed)
            else:
                x = run(plan, x, None, True, "nchw", None, None, self._options)
        return x, targets

    def _plan_at(
        self, place: tuple[int, int, int], count: int, size: tuple[int, int]
    ) -> _core.Plan:
        batch, first, epoch = place
        where = (*size, batch, first, count, epoch)
        seed = self._stream.own_seed()
        if not self.mixup_enabled:
            return Mix("none")._sampler(seed).plan(*where)
        return self._plan(seed, where)

    def _targets(self, plan: _core.Plan, target: Any) -> Any:
        labels = mix_labels(plan, target, self.num_classes)
        return labels.soft(self.num_classes, self.label_smoothing)

    def set_epoch(self, epoch: int) -> None:
        """Starts an epoch."""
        self._stream.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the sequence of draws stands."""
        return self._stream.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues where `state_dict` was taken."""
        self._stream.load_state_dict(state)


class FastCollateMixup(Mixup):
    """timm's collate function that mixes uint8 images: a list of (image, class) in, with image
    uint8 of shape (C, H, W); a uint8 tensor (N, C, H, W) and soft targets (N, num_classes) out.
    """

    def __call__(self, batch: Any, _: Any = None) -> tuple[Any, Any]:  # type: ignore[override]
        import numpy
        import torch

        images = numpy.stack([numpy.asarray(item[0]) for item in batch])
        target = torch.tensor([item[1] for item in batch], dtype=torch.int64)
        with self._stream.turn(len(images)) as place:
            plan = self._plan_at(place, len(images), (images.shape[-2], images.shape[-1]))
            targets = self._targets(plan, target)
            x = run(
                plan, torch.from_numpy(images), None, False, "nchw", None, None,
                self._options,
            )  # fmt: skip
        return x, targets


def _minmax_boxes(plan: _core.Plan, rule: Mixup) -> _core.Plan:
    """The plan with boxes of sides uniform on [min, max) of the image, wholly inside."""
    import json

    import numpy

    data = json.loads(plan.to_json())
    height, width = plan.size
    low, high = rule.cutmix_minmax
    least_h, least_w = int(height * low), int(width * low)

    def draw(key: int) -> dict[str, Any]:
        # Counter-based like the library's own draws: a function of (seed, epoch, ordinal).
        bits = numpy.random.Philox(key=plan.seed, counter=[0, 0, key, plan.epoch])
        random = numpy.random.Generator(bits)
        cut_h = int(random.integers(least_h, max(int(height * high), least_h + 1)))
        cut_w = int(random.integers(least_w, max(int(width * high), least_w + 1)))
        top = int(random.integers(0, height - cut_h + 1))
        left = int(random.integers(0, width - cut_w + 1))
        return {"kind": "box", "top": top, "left": left, "height": cut_h, "width": cut_w}

    count = len(data["entries"])
    for i, entry in enumerate(data["entries"]):
        if entry["mask"]["kind"] != "box":
            continue  # not mixed: prob
        unit = {"batch": 0, "pair": min(i, count - 1 - i), "elem": i}[rule.mode]
        box = draw(plan.first + unit)
        weight = 1 - box["height"] * box["width"] / (height * width)
        entry["mask"] = {**box, "inside": 0.0, "outside": 1.0}
        entry["lam"] = entry["label_weight"] = weight
    return _core.Plan.from_json(json.dumps(data))

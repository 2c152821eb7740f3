"""Callables in the style of torchvision.transforms.v2: images and labels in, soft labels out.

    from medley.torchvision import CutMix, MixUp, HMix
    cutmix = CutMix(num_classes=100)
    images, labels = cutmix(images, labels)     # or cutmix((images, labels)), or a dict

Samples may be dicts, lists and tuples within each other; they come back as they are, with images
and labels replaced.

images: (N, C, H, W). labels: classes (N,), or soft labels (N, num_classes), of integers too. Maps
(N, H, W) and boxes beside them are refused. As in torchvision one draw serves the whole batch and
the partner is the neighbour in the batch; give `mode="sample"` or `pairing="batch"` for more
variety. Inputs are not changed. Calls count like those of `medley.Mix`, in DataLoader workers too.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Iterator, MutableMapping

from ._arrays import framework_of
from .labels import MixedLabels, as_array
from .mixers import Mix

__all__ = ["CutMix", "GMix", "HMix", "Mixed", "MixUp"]


class Mixed:
    """Any method as a transform: `Mixed("fmix", num_classes=100, decay=3.0)`.

    num_classes: of the soft labels; not needed where labels are soft already.
    labels_getter: finds the labels in a sample that is not (images, labels): a function that
        returns a part of the sample, or the key of a dict. By default the key is "labels" or
        "label", in any case. The dict is the sample or, beside the images, its second part.
    Other options: those of `medley.Mix`; mode is "batch" and pairing "roll" unless given.
    """

    def __init__(
        self,
        method: str,
        *,
        num_classes: int | None = None,
        labels_getter: Callable[[Any], Any] | str = "default",
        **options: Any,
    ) -> None:
        self.num_classes = num_classes
        options = {"mode": "batch", "pairing": "roll", **options}
        self.mix = Mix(method, num_classes=num_classes, **options)
        self._labels_getter = labels_getter

    def __call__(self, *inputs: Any) -> Any:
        sample = inputs if len(inputs) > 1 else inputs[0]
        labels = self._find_labels(sample)
        if not any(part is labels for part in _parts(sample)):
            raise ValueError(
                "the labels must be a part of the sample, to be replaced in it; labels_getter made "
                "new ones"
            )
        images = self._find_images(sample, labels)
        x, y = self.mix(images, self._checked(labels))
        if isinstance(y, MixedLabels):
            y = y.soft()
        return _replace(sample, {id(images): x, id(labels): y})

    def _find_labels(self, sample: Any) -> Any:
        if callable(self._labels_getter):
            return self._labels_getter(sample)
        if isinstance(sample, (tuple, list)) and len(sample) == 2:
            sample = sample[1]  # the labels, or a dict that holds them
            if not isinstance(sample, MutableMapping):
                return sample
        if not isinstance(sample, MutableMapping):
            raise ValueError("a sample must be (images, labels) or a dict; else give labels_getter")
        if self._labels_getter != "default":
            return sample[self._labels_getter]
        for key, value in sample.items():
            if str(key).lower() in ("label", "labels"):
                return value
        raise ValueError("no labels found: the sample needs a key label or labels")

    def _find_images(self, sample: Any, labels: Any) -> Any:
        others = [part for part in _parts(sample) if part is not labels]
        for part in others:
            if type(part).__name__ in ("BoundingBoxes", "Mask"):
                _refuse(type(part).__name__)
        found = [part for part in others if len(getattr(part, "shape", ())) == 4]
        if len(found) != 1:
            raise ValueError(f"a sample needs one batch of images (N, C, H, W), got {len(found)}")
        count, *sides = found[0].shape
        height, width = sides[1:] if self.mix.layout == "nchw" else sides[:2]
        if any(getattr(part, "shape", ()) == (count, height, width) for part in others):
            _refuse(f"maps of shape ({count}, {height}, {width})")
        return found[0]

    def _checked(self, labels: Any) -> Any:
        labels = as_array(labels)
        framework = framework_of(labels)
        shape, is_float = framework.shape(labels), framework.is_float(labels)
        if len(shape) == 1 and not is_float and self.num_classes is None:
            raise ValueError("num_classes must be given to mix labels that are classes")
        if len(shape) != 2:
            return labels
        if self.num_classes not in (None, shape[1]):
            raise ValueError(
                f"soft labels must have num_classes = {self.num_classes} columns, got {shape[1]}"
            )
        if is_float:
            return labels
        return labels.float() if hasattr(labels, "float") else labels.astype("float32")

    def set_epoch(self, epoch: int) -> None:
        """Starts an epoch."""
        self.mix.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the sequence of draws stands."""
        return self.mix.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continues where `state_dict` was taken."""
        self.mix.load_state_dict(state)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_classes={self.num_classes}, mix={self.mix!r})"


def _refuse(what: str) -> None:
    raise ValueError(
        f"the sample holds {what} that would stay unmixed; mix class maps by a plan, with "
        "medley.mix_class_maps(plan, maps) and medley.apply(plan, images), or give them as labels"
    )


def _parts(sample: Any) -> Iterator[Any]:
    """The sample and all that lies in its dicts, lists and tuples."""
    yield sample
    if isinstance(sample, MutableMapping):
        sample = sample.values()
    elif not isinstance(sample, (tuple, list)):
        return
    for part in sample:
        yield from _parts(part)


def _replace(sample: Any, new: dict[int, Any]) -> Any:
    """The sample with other parts, by their ids; containers keep their kind."""
    if id(sample) in new:
        return new[id(sample)]
    if isinstance(sample, MutableMapping):
        result = copy.copy(sample)
        for key, value in sample.items():
            result[key] = _replace(value, new)
        return result
    if not isinstance(sample, (tuple, list)):
        return sample
    values = [_replace(value, new) for value in sample]
    return sample._make(values) if hasattr(sample, "_make") else type(sample)(values)


class MixUp(Mixed):
    """As torchvision.transforms.v2.MixUp. Other options: those of `medley.Mixup`."""

    def __init__(
        self, *, alpha: float = 1.0, num_classes: int | None = None, **options: Any
    ) -> None:
        super().__init__("mixup", num_classes=num_classes, alpha=alpha, **options)


class CutMix(Mixed):
    """As torchvision.transforms.v2.CutMix. Other options: those of `medley.CutMix`."""

    def __init__(
        self, *, alpha: float = 1.0, num_classes: int | None = None, **options: Any
    ) -> None:
        super().__init__("cutmix", num_classes=num_classes, alpha=alpha, **options)


class HMix(Mixed):
    """HMix as a transform. Other options: those of `medley.HMix`."""

    def __init__(
        self, *, alpha: float = 1.0, num_classes: int | None = None, **options: Any
    ) -> None:
        super().__init__("hmix", num_classes=num_classes, alpha=alpha, **options)


class GMix(Mixed):
    """GMix as a transform. Other options: those of `medley.GMix`."""

    def __init__(
        self, *, alpha: float = 0.5, num_classes: int | None = None, **options: Any
    ) -> None:
        super().__init__("gmix", num_classes=num_classes, alpha=alpha, **options)

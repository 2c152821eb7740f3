"""Samples as loaders give them: images, labels and more, in dicts, lists and tuples."""

from __future__ import annotations

import copy
import sys
from array import array
from typing import Any, Callable, Iterator, Mapping, MutableMapping

from ._arrays import framework_of
from .labels import as_array
from .mixers import Mix

LabelsGetter = Callable[[Any], Any] | str | None

_PIXELS = frozenset(("uint8", "float16", "bfloat16", "float32", "float64"))
_UNMIXED = ("BoundingBoxes", "KeyPoints", "Mask")  # of torchvision.tv_tensors
_EXPLICIT = ("Image", "Video")


def mix_sample(
    mix: Mix,
    sample: Any,
    labels_getter: LabelsGetter,
    checked: Callable[[Any], Any] = as_array,
    finished: Callable[[Any, Any], Any] = lambda labels, mixed: mixed,
    place: tuple[int, int, int] | None = None,
    threads: int | None = None,
) -> Any:
    """The sample with its images and labels mixed, everything else as it is.

    checked: makes of the labels found what is mixed; finished: of them and the mixed ones what
    takes their place. place: (batch, first, epoch) instead of the mixer's count of calls.
    """
    refuse_unmixed(sample)
    labels = find_labels(sample, labels_getter)
    if labels is not None and not any(part is labels for part in parts(sample)):
        raise ValueError(
            "the labels must be a part of the sample, to be replaced in it; labels_getter made "
            "new ones"
        )
    images = find_images(sample, labels, mix.layout)
    wanted = None if labels is None else checked(labels)
    mixed, y = mix._mix_views([folded(image) for image in images], wanted, place, threads)
    new = {id(old): like(x, old) for old, x in zip(images, mixed)}
    if labels is not None:
        new[id(labels)] = finished(wanted, y)
    return replaced(sample, new)


def parts(sample: Any) -> Iterator[Any]:
    """The sample and all that lies in its dicts, lists and tuples."""
    yield sample
    if isinstance(sample, Mapping):
        sample = sample.values()
    elif not isinstance(sample, (tuple, list)):
        return
    for part in sample:
        yield from parts(part)


def replaced(sample: Any, new: dict[int, Any]) -> Any:
    """The sample with other parts, by their ids; containers keep their kind."""
    if id(sample) in new:
        return new[id(sample)]
    if isinstance(sample, MutableMapping):
        result = copy.copy(sample)
        for key, value in sample.items():
            result[key] = replaced(value, new)
        return result
    if not isinstance(sample, (tuple, list)):
        return sample
    values = [replaced(value, new) for value in sample]
    return sample._make(values) if hasattr(sample, "_make") else type(sample)(values)


def find_labels(sample: Any, getter: LabelsGetter) -> Any:
    """What the getter says; by default the second part of a sample (images, labels, ...), or what
    lies there or in the sample under the key labels, label or one that contains "label"."""
    if getter is None:
        return None
    if callable(getter):
        return getter(sample)
    if isinstance(sample, (tuple, list)) and len(sample) > 1:
        sample = sample[1]
        if getter == "default" and _may_be_labels(sample):
            return sample
    elif getter == "default" and hasattr(sample, "shape"):
        raise ValueError(
            "labels must come with the images, as (images, labels) or in a dict, got one array"
        )
    if not isinstance(sample, Mapping):
        raise ValueError(
            "labels must be an array or list of numbers, or stand in a dict, where labels_getter "
            f"does not find them, got {type(sample).__name__}"
        )
    key = _label_key(sample) if getter == "default" else getter
    if key is None or key not in sample:
        raise ValueError(
            f"no labels found: the sample needs a key {'label or labels' if key is None else key}, "
            f"got {', '.join(map(str, sample))}; labels_getter can name them"
        )
    if not _may_be_labels(sample[key]):
        raise ValueError(
            f"labels must be an array or a list of numbers, got {type(sample[key]).__name__} "
            f"under {key}"
        )
    return sample[key]


def _may_be_labels(part: Any) -> bool:
    if isinstance(part, (tuple, list)):
        return len(part) > 0 and not isinstance(part[0], (str, Mapping))
    return hasattr(part, "shape") or isinstance(part, (memoryview, array))


def _label_key(sample: Mapping[Any, Any]) -> Any:
    names = {key: str(key).lower() for key in sample}
    tests: tuple[Callable[[str], bool], ...] = (
        lambda name: name == "labels",
        lambda name: name == "label",
        lambda name: "label" in name,
    )
    for test in tests:
        for key, name in names.items():
            if test(name):
                return key
    return None


def refuse_unmixed(sample: Any) -> None:
    """Throws ValueError if there is anything beside the images that would have to be mixed too."""
    pictures = getattr(sys.modules.get("PIL.Image"), "Image", ())
    for part in parts(sample):
        if isinstance(part, pictures):
            raise ValueError("images must be batches of tensors or arrays, got a PIL image")
        if name := _kind(part, _UNMIXED):
            _refuse(name)


def _kind(part: Any, names: tuple[str, ...]) -> str | None:
    """Which class of torchvision.tv_tensors the part is of, subclasses too."""
    if not hasattr(part, "shape"):
        return None
    return next((base.__name__ for base in type(part).__mro__ if base.__name__ in names), None)


def _refuse(what: str) -> None:
    raise ValueError(
        f"the sample holds {what} that would stay unmixed; mix class maps by a plan, with "
        "medley.mix_class_maps(plan, maps) and medley.apply(plan, images), or give them as labels"
    )


def find_images(sample: Any, labels: Any, layout: str) -> list[Any]:
    """The batches of images: of torchvision's Image and Video if there are any, else all arrays
    (N, C, H, W), and (N, T, C, H, W) of videos, of pixels."""
    inner = {id(part) for part in parts(labels)} if labels is not None else set()
    others = [part for part in parts(sample) if id(part) not in inner and hasattr(part, "shape")]
    found = [part for part in others if _kind(part, _EXPLICIT)]
    for part in found:
        form = "(N, T, C, H, W)" if (name := _kind(part, _EXPLICIT)) == "Video" else "(N, C, H, W)"
        if len(part.shape) != form.count(",") + 1:
            raise ValueError(f"{name} must have the shape {form}, got {tuple(part.shape)}")
    ranks = (4, 5) if layout == "nchw" else (4,)
    if not found:
        found = [part for part in others if len(part.shape) in ranks and _are_pixels(part)]
    if not found:
        shapes = ", ".join(str(tuple(part.shape)) for part in others) or "none"
        raise ValueError(
            f"a sample needs a batch of images (N, C, H, W) beside its labels, got arrays of "
            f"shape {shapes}"
        )
    found = list({id(part): part for part in found}.values())
    for image in found:
        count = image.shape[0]
        height, width = image.shape[-2:] if layout == "nchw" else image.shape[1:3]
        maps = ((count, height, width), (count, 1, height, width))
        for part in others:
            shape = tuple(part.shape)
            if shape in maps and not _are_pixels(part) or shape == maps[0]:
                _refuse(f"maps of shape {shape}")
    return found


def _are_pixels(part: Any) -> bool:
    return framework_of(part).dtype(part) in _PIXELS


def folded(image: Any) -> Any:
    """A video (N, T, C, H, W) as images of T * C channels, with the same memory if it has no gaps."""
    shape = tuple(image.shape)
    if len(shape) != 5:
        return image
    return image.reshape(shape[0], shape[1] * shape[2], shape[3], shape[4])


def like(mixed: Any, image: Any) -> Any:
    """The result of the form and class of what was mixed."""
    if len(image.shape) == 5:
        mixed = mixed.reshape(mixed.shape[0], *image.shape[1:3], *mixed.shape[2:])
    if _kind(image, _EXPLICIT) and type(mixed) is not type(image):
        module = sys.modules.get("torchvision.tv_tensors")
        if module is not None:
            return module.wrap(mixed, like=image)
    return mixed

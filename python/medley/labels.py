"""Labels of mixed images."""

from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import Framework, check_array, framework_of
from ._checks import check_plan, whole_number
from ._mixed_labels import MixedLabels

_INTEGERS = frozenset(("bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int64"))


def mix_labels(plan: _core.Plan, labels: Any, num_classes: int | None = None) -> MixedLabels:
    """Mixes class indices, integers of shape (N,) or (N, 1), one per image handed to `apply`.

    plan: of the images. labels: an array or a list. num_classes: every label used must be in
    [0, num_classes), if they are in host memory: on CUDA nothing waits for the device. -100, which
    losses leave out, passes.
    """
    check_plan(plan)
    if num_classes is not None:
        num_classes = whole_number("num_classes", num_classes)
    labels = as_array(labels)
    framework = framework_of(labels)
    if framework.is_cuda(labels) and _core.has_cuda and framework.dtype(labels) in _INTEGERS:
        labels = framework.dense(labels, "int64")
        if framework.dtype(labels) == "int64":
            if framework.shape(labels)[1:] == (1,):
                labels = labels.reshape(-1)
            return _mix_on_device(plan, labels, num_classes)
    classes, weights = _core.mix_classes(
        plan, framework.host(labels), num_classes or 0, framework.single_weights
    )
    return MixedLabels(
        framework.adopt(classes, labels), framework.adopt(weights, labels), num_classes
    )


def _mix_on_device(plan: _core.Plan, labels: Any, num_classes: int | None) -> MixedLabels:
    framework = framework_of(labels)
    stream, dlpack_stream = framework.stream(labels)
    shape = (len(plan), plan.label_terms)
    classes = framework.empty(labels, shape, "int64", False)
    weights = framework.empty(labels, shape, "float32", False)
    framework.lend_stream(plan, labels)
    _core.mix_classes_cuda(plan, labels, classes, weights, stream, dlpack_stream)
    classes, weights = (framework.finish(array, stream) for array in (classes, weights))
    return MixedLabels(classes, weights, num_classes)


def mix_vectors(plan: _core.Plan, vectors: Any) -> Any:
    """Mixes soft labels, multi-label or regression targets linearly, by the label weights.

    plan: of the images. vectors: numbers of shape (N,) or (N, D). Returns float32 of shape
    (len(plan), ...). The sums are float64 on the host, float32 for CUDA tensors of PyTorch.
    """
    check_plan(plan)
    vectors = as_array(vectors)
    framework = framework_of(vectors)
    framework.check_constant("labels", vectors)
    if framework.is_cuda(vectors) and _core.has_cuda and hasattr(vectors, "index_select"):
        if vectors.ndim > 0 and vectors.numel() > 0:
            from . import torch as medley_torch

            return medley_torch.vectors_on_device(plan, vectors)
    return framework.adopt(_core.mix_rows(plan, framework.host(vectors)), vectors)


def mix_class_maps(
    plan: _core.Plan, maps: Any, padding: int = -1, *, windows: bool = False
) -> Any:
    """Mixes per-pixel classes: the greatest weight wins.

    plan: of the images. maps: integers of shape (N, H, W), of the plan's size. Where a window leaves
    the image the class is `padding`. windows: takes maps of another size, which the windows of the
    plan's sources cut or pad, as in `apply`. Returns int64 of shape (len(plan), *plan.size).
    """
    check_plan(plan)
    maps = as_array(maps, "maps")
    framework = framework_of(maps)
    return framework.adopt(_core.mix_maps(plan, framework.host(maps), padding, windows), maps)


def mix_class_maps_soft(
    plan: _core.Plan, maps: Any, num_classes: int, ignore: int = -1, *, windows: bool = False
) -> Any:
    """Probability maps, float32 of shape (len(plan), num_classes, H, W), from classes.

    plan: of the images. maps: integers of shape (N, H, W), of the plan's size. Pixels of class
    `ignore` add nothing. windows: as in `mix_class_maps`.
    """
    check_plan(plan)
    maps = as_array(maps, "maps")
    framework = framework_of(maps)
    return framework.adopt(
        _core.mix_maps_soft(plan, framework.host(maps), num_classes, ignore, windows), maps
    )


def mix_targets(plan: _core.Plan, labels: Any, num_classes: int | None = None) -> Any:
    """Mixes labels by what they are: classes, vectors or class maps."""
    labels = as_array(labels)
    framework = framework_of(labels)
    shape = tuple(framework.shape(labels))
    rank = len(shape)
    if rank > 0 and shape[0] != len(plan):
        raise ValueError(f"labels must be one per image, got {shape[0]} for {len(plan)} images")
    if framework.is_float(labels):
        if rank > 2:
            raise ValueError(
                "labels of floats must have the shape (N,) or (N, D); mix soft maps like images, "
                "with medley.apply(plan, maps)"
            )
        return mix_vectors(plan, labels)
    if rank == 3:
        if shape[1:] != tuple(plan.size):
            raise ValueError(
                f"class maps must have the size of the images, {plan.size[0]}x{plan.size[1]}, got "
                f"{shape[1]}x{shape[2]}"
            )
        return mix_class_maps(plan, labels)
    if rank == 2 and (shape[1] != 1 or framework.dtype(labels) == "bool"):
        _check_hot(framework, labels)
        return mix_vectors(plan, labels)
    return mix_labels(plan, labels, num_classes)


def _check_hot(framework: Framework, labels: Any) -> None:
    """Throws ValueError if rows of integers are anything but zeros and ones. On CUDA nothing waits
    for the device."""
    if framework.dtype(labels) == "bool" or framework.is_cuda(labels):
        return
    hot = (labels == 0) | (labels == 1) if hasattr(labels, "any") else None
    if hot is not None and not bool(hot.all()):
        raise ValueError(
            f"labels of integers (N, D) must be one-hot or multi-hot, of 0 and 1, got "
            f"{labels[~hot][0]}; pass floats to mix other numbers"
        )


def as_array(labels: Any, name: str = "labels") -> Any:
    """Lists and tuples of numbers become arrays. Throws TypeError for what holds no numbers."""
    if isinstance(labels, (list, tuple)):
        labels = _array_of(labels, name)
    kind = getattr(getattr(labels, "dtype", None), "kind", None)
    if kind in ("U", "S"):
        raise TypeError(f"{name} must be numbers, got text; number the classes from 0")
    if kind == "O":
        raise TypeError(f"{name} must be numbers in rows of one length, got other objects")
    check_array(name, labels)
    return labels


def _array_of(labels: list[Any] | tuple[Any, ...], name: str) -> Any:
    try:
        import numpy
    except ImportError:
        from array import array

        if not all(isinstance(label, (int, float)) for label in labels):
            raise TypeError(
                f"{name} must be numbers, or an array: rows in lists need NumPy, which is not "
                "installed"
            ) from None
        return array("q" if all(isinstance(label, int) for label in labels) else "d", labels)
    try:
        return numpy.asarray(labels)
    except ValueError:
        raise ValueError(f"{name} must be numbers in rows of one length, got other lists") from None

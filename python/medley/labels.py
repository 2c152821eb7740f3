"""Labels of mixed images."""

from __future__ import annotations

from typing import Any, Iterator

from . import _core
from ._arrays import framework_of, on_host

_INTEGERS = frozenset(("bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int64"))


class MixedLabels:
    """Class labels of a mixed batch, as classes with weights: no (N, num_classes) matrix.

    y_a, y_b: classes of the own image and of the partner, int64 of shape (N,).
    weight: what y_a gets, of shape (N,); y_b gets the rest. float64 (PyTorch, CuPy, JAX: float32).
    classes, weights: all terms, of shape (N, K); K is 2 unless the method mixes more images.

    `y_a, y_b, weight = y` unpacks it. `numpy.asarray(y)` gives soft labels if `num_classes` is
    known. Arrays are of the kind that the labels were.
    """

    __slots__ = ("_classes", "_weights", "num_classes", "_terms", "_like")

    def __init__(
        self,
        classes: Any,
        weights: Any,
        num_classes: int | None = None,
        terms: Any = None,
        like: Any = None,
    ) -> None:
        self._classes = classes
        self._weights = weights
        self.num_classes = num_classes
        self._terms = terms  # become arrays of the kind of `like` when they are asked for
        self._like = like

    @property
    def classes(self) -> Any:
        if self._terms is not None:
            self._read_terms()
        return self._classes

    @property
    def weights(self) -> Any:
        if self._terms is not None:
            self._read_terms()
        return self._weights

    def _read_terms(self) -> None:
        terms, like = self._terms, self._like
        if terms is None:  # another thread was here
            return
        framework = framework_of(like)
        classes, weights = _core.read_label_terms(terms, framework.single_weights)
        self._classes = framework.adopt(classes, like)
        self._weights = framework.adopt(weights, like)
        self._terms = None

    @property
    def y_a(self) -> Any:
        return self.classes[:, 0]

    @property
    def y_b(self) -> Any:
        return self.classes[:, 1]

    @property
    def weight(self) -> Any:
        return self.weights[:, 0]

    def soft(self, num_classes: int | None = None, smoothing: float = 0.0) -> Any:
        """Rows of probabilities, float32 of shape (N, num_classes).

        With label smoothing e a class gets 1-e+e/C instead of 1 and e/C instead of 0, before
        mixing.
        """
        count = self.num_classes if num_classes is None else num_classes
        if count is None:
            raise ValueError("num_classes must be given, here or when the mixer is made")
        framework = framework_of(self.classes)
        if framework.is_cuda(self.classes) and hasattr(self.classes, "scatter_add_"):
            from . import torch as medley_torch

            return medley_torch.soft_on_device(self, count, smoothing)
        classes, weights = framework.host(self.classes), framework.host(self.weights)
        return framework.adopt(_core.soft(classes, weights, count, smoothing), self.classes)

    def loss(self, logits: Any, **options: Any) -> Any:
        """`medley.torch.cross_entropy(logits, self)`, for logits of shape (N, num_classes)."""
        from . import torch as medley_torch

        return medley_torch.cross_entropy(logits, self, **options)

    def to(self, *args: Any, **kwargs: Any) -> MixedLabels:
        """A copy on another device, for PyTorch tensors; a dtype is that of the weights."""
        weights = self.weights.to(*args, **kwargs)
        how = dict(zip(("non_blocking", "copy"), (a for a in args if isinstance(a, bool))))
        how.update((name, kwargs[name]) for name in ("non_blocking", "copy") if name in kwargs)
        return MixedLabels(self.classes.to(weights.device, **how), weights, self.num_classes)

    def pin_memory(self, *args: Any) -> MixedLabels:
        """A copy in pinned memory, for PyTorch tensors; DataLoader calls this."""
        return MixedLabels(self.classes.pin_memory(), self.weights.pin_memory(), self.num_classes)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        return numpy.asarray(on_host(self.soft()), dtype=dtype)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.y_a, self.y_b, self.weight))

    def __len__(self) -> int:
        return self.classes.shape[0]

    def __repr__(self) -> str:
        return f"MixedLabels(y_a={self.y_a!r}, y_b={self.y_b!r}, weight={self.weight!r})"

    def __reduce__(self) -> Any:
        return MixedLabels, (self.classes, self.weights, self.num_classes)


def mix_labels(plan: _core.Plan, labels: Any, num_classes: int | None = None) -> MixedLabels:
    """Mixes class indices, integers of shape (N,), one per image handed to `apply`.

    `num_classes` checks that every label used is in [0, num_classes), if they are in host memory:
    on CUDA nothing waits for the device.
    """
    labels = as_array(labels)
    framework = framework_of(labels)
    if framework.is_cuda(labels) and _core.has_cuda and framework.dtype(labels) in _INTEGERS:
        labels = framework.dense(labels, "int64")
        if framework.dtype(labels) == "int64":
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

    vectors: floats of shape (N,) or (N, D). Returns float32 of shape (len(plan), ...). The sums are
    float64 on the host, float32 for CUDA tensors of PyTorch.
    """
    vectors = as_array(vectors)
    framework = framework_of(vectors)
    framework.check_constant("labels", vectors)
    if framework.is_cuda(vectors) and _core.has_cuda and hasattr(vectors, "index_select"):
        if vectors.ndim > 0 and vectors.numel() > 0:
            from . import torch as medley_torch

            return medley_torch.vectors_on_device(plan, vectors)
    return framework.adopt(_core.mix_rows(plan, framework.host(vectors)), vectors)


def mix_class_maps(plan: _core.Plan, maps: Any, padding: int = -1) -> Any:
    """Mixes per-pixel classes, integers of shape (N, H, W): the greatest weight wins.

    Where a window leaves the image the class is `padding`. Returns int64 of the same shape.
    """
    framework = framework_of(maps)
    return framework.adopt(_core.mix_maps(plan, framework.host(maps), padding), maps)


def mix_class_maps_soft(plan: _core.Plan, maps: Any, num_classes: int, ignore: int = -1) -> Any:
    """Probability maps, float32 of shape (len(plan), num_classes, H, W), from classes (N, H, W).

    Pixels of class `ignore` add nothing.
    """
    framework = framework_of(maps)
    return framework.adopt(
        _core.mix_maps_soft(plan, framework.host(maps), num_classes, ignore), maps
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
    return mix_labels(plan, labels, num_classes)


def as_array(labels: Any) -> Any:
    """Lists and tuples of numbers become arrays."""
    if not isinstance(labels, (list, tuple)):
        return labels
    try:
        import numpy

        return numpy.asarray(labels)
    except ImportError:
        from array import array

        return array("q" if all(isinstance(label, int) for label in labels) else "d", labels)

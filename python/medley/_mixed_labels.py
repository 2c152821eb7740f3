"""Class labels of a mixed batch."""

from __future__ import annotations

from itertools import chain
from typing import Any, Iterator, TYPE_CHECKING

from . import _core
from ._arrays import Torch, framework_of, on_host
from ._dynamo import opaque


class MixedLabels:
    """Class labels of a mixed batch, as classes with weights: no (N, num_classes) matrix.

    y_a, y_b: classes of the own image and of the partner, int64 of shape (N,).
    weight: what y_a gets, of shape (N,); y_b gets the rest. float64 (PyTorch, CuPy, JAX: float32).
    classes, weights: all terms, of shape (N, K); K is 2 unless the method mixes more images.
    num_classes: as the mixer was told, or None.
    terms, like: classes and weights that are still to become arrays of the kind of `like`.

    `y_a, y_b, weight = y` unpacks it. `numpy.asarray(y)` gives soft labels if `num_classes` is
    known. `y[rows]`, with a slice, a mask or indices, has the labels of these samples. Arrays are of
    the kind that the labels were; without NumPy they are memory views.

    PyTorch's cross_entropy and CrossEntropyLoss, and those of BCE with logits, take it as their
    target: they become those of `medley.torch`.
    """

    __slots__ = ("_classes", "_weights", "num_classes", "_terms", "_like")
    __hash__ = None  # type: ignore[assignment]  # it compares by value
    __array_ufunc__ = None  # NumPy leaves comparisons to this class

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
        self._terms = terms
        self._like = like

    @property
    def classes(self) -> Any:
        """All classes of each sample, (N, K)."""
        if self._terms is not None:
            self._read_terms()
        return self._classes

    @property
    def weights(self) -> Any:
        """What each of `classes` gets, (N, K)."""
        if self._terms is not None:
            self._read_terms()
        return self._weights

    @opaque
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
        """Class of each own image, (N,)."""
        return _column(self.classes, 0)

    @property
    def y_b(self) -> Any:
        """Class of each (first) partner, (N,)."""
        return _column(self.classes, 1)

    @property
    def weight(self) -> Any:
        """What `y_a` gets, (N,)."""
        return _column(self.weights, 0)

    @property
    def shape(self) -> tuple[int]:
        """(N,): a label per sample."""
        return (len(self),)

    def size(self, dim: int | None = None) -> Any:
        """The shape as that of tensors; with dim, which is 0 or -1, the number of samples."""
        if dim not in (None, 0, -1):
            raise IndexError(f"dim of mixed labels must be 0 or -1, got {dim!r}")
        return self.shape if dim is None else len(self)

    if not TYPE_CHECKING:  # to a checker every name would be there

        def __getattr__(self, name):
            raise AttributeError(
                f"mixed labels have no {name}, since they are no array: y.soft(num_classes) is one, "
                "and so are y.y_a, y.y_b and y.weight; medley.torch.accuracy(logits, y) counts "
                "predictions"
            )

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
        """`medley.torch.cross_entropy(logits, self)`, for logits of shape (N, num_classes); options
        are those of it."""
        from . import torch as medley_torch

        return medley_torch.cross_entropy(logits, self, **options)

    def to(self, *args: Any, **kwargs: Any) -> MixedLabels:
        """A copy on another device, for PyTorch tensors; a dtype is that of the weights."""
        self._check_tensors("to")
        weights = self.weights.to(*args, **kwargs)
        how = dict(zip(("non_blocking", "copy"), (a for a in args if isinstance(a, bool))))
        how.update((name, kwargs[name]) for name in ("non_blocking", "copy") if name in kwargs)
        return MixedLabels(self.classes.to(weights.device, **how), weights, self.num_classes)

    def cuda(self, device: Any = None, non_blocking: bool = False) -> MixedLabels:
        """A copy on a GPU, for PyTorch tensors. device: default the current one. non_blocking: as
        that of tensors."""
        self._check_tensors("cuda")
        classes, weights = (part.cuda(device, non_blocking) for part in (self.classes, self.weights))
        return MixedLabels(classes, weights, self.num_classes)

    def cpu(self) -> MixedLabels:
        """A copy in host memory, for PyTorch tensors."""
        self._check_tensors("cpu")
        return self.to("cpu")

    def pin_memory(self, *args: Any) -> MixedLabels:
        """A copy in pinned memory, for PyTorch tensors; DataLoader calls this."""
        self._check_tensors("pin_memory")
        return MixedLabels(self.classes.pin_memory(), self.weights.pin_memory(), self.num_classes)

    def _check_tensors(self, name: str) -> None:
        if not isinstance(framework_of(self.classes), Torch):
            raise TypeError(
                f"{name} is for labels that are PyTorch tensors, these are "
                f"{type(self.classes).__name__}: give the mixer a tensor of labels"
            )

    def __getitem__(self, rows: Any) -> MixedLabels:
        if not isinstance(rows, (slice, list)) and len(getattr(rows, "shape", ())) != 1:
            raise TypeError(
                f"y[rows] takes a slice, a mask or indices, got {type(rows).__name__}: y[3:4] has "
                "the label of one sample; its parts are y.y_a, y.y_b and y.weight"
            )
        classes, weights = (_rows(part, rows) for part in (self.classes, self.weights))
        return MixedLabels(classes, weights, self.num_classes)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, MixedLabels):
            return self.num_classes == other.num_classes and (
                _same(self.classes, other.classes) and _same(self.weights, other.weights)
            )
        if hasattr(other, "shape") or isinstance(other, (int, float, list, tuple)):
            raise TypeError(
                "mixed labels have several classes each, so == has no answer for them: "
                "medley.torch.accuracy(logits, y) counts predictions; compare y.y_a or y.y_b"
            )
        return NotImplemented

    @classmethod
    def __torch_function__(
        cls, function: Any, _: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        from . import torch as medley_torch

        return medley_torch.instead_of(function, args, kwargs or {})

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        return numpy.asarray(on_host(self.soft()), dtype=dtype)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.y_a, self.y_b, self.weight))

    def __len__(self) -> int:
        return int(self.classes.shape[0])

    def __repr__(self) -> str:
        shown = (part.tolist() if isinstance(part, memoryview) else part for part in self)
        y_a, y_b, weight = shown
        return f"MixedLabels(y_a={y_a!r}, y_b={y_b!r}, weight={weight!r})"

    def __reduce__(self) -> Any:
        if isinstance(self.classes, memoryview):  # of which there are no copies
            return _of_lists, (self.classes.tolist(), self.weights.tolist(), self.num_classes)
        return MixedLabels, (self.classes, self.weights, self.num_classes)


# A memory view of two axes can only be read element by element.


def _column(array: Any, k: int) -> Any:
    if not isinstance(array, memoryview):
        return array[:, k]
    if len(array) == 0:
        return memoryview(_core.Buffer("int64" if array.format in "lq" else "float64", [0]))
    return array.cast("B").cast(array.format)[k :: (array.shape or ())[1]]  # type: ignore[call-overload]


def _rows(array: Any, rows: Any) -> Any:
    if not isinstance(array, memoryview):
        return array[rows]
    if not isinstance(rows, slice):
        raise TypeError("y[rows] takes a slice where NumPy is not installed, got other rows")
    return _memory(array.tolist()[rows], (array.shape or ())[1], array.format in "lq")


def _memory(rows: list[Any], terms: int, whole: bool) -> memoryview:
    view = memoryview(_core.Buffer("int64" if whole else "float64", [len(rows), terms]))
    if rows:
        flat = view.cast("B").cast(view.format)  # type: ignore[call-overload]
        for at, value in enumerate(chain.from_iterable(rows)):
            flat[at] = value
    return view


def _of_lists(classes: list[Any], weights: list[Any], num_classes: int | None) -> MixedLabels:
    terms = len(classes[0]) if classes else 2
    return MixedLabels(_memory(classes, terms, True), _memory(weights, terms, False), num_classes)


def _same(a: Any, b: Any) -> bool:
    a, b = on_host(a), on_host(b)
    if type(a) is not type(b) or tuple(a.shape) != tuple(b.shape):
        return False
    equal = a == b
    return bool(equal.all() if hasattr(equal, "all") else equal)

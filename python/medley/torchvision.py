"""Transforms in the style of torchvision.transforms.v2: images and labels in, soft labels out.

    from medley.torchvision import CutMix, MixUp, HMix
    cutmix = CutMix(num_classes=100)
    images, labels = cutmix(images, labels)     # or cutmix((images, labels)), or a dict

Where PyTorch is installed they are `torch.nn.Module`s. Samples may be dicts, lists and tuples within
each other; they come back as they are, with images and labels replaced, tv_tensors.Image as such.

images: (N, C, H, W), or video (N, T, C, H, W). Of several batches of images all are mixed, with the
same draws; beside a tv_tensors.Image or Video, plain tensors stay as they are.
labels: classes (N,) or (N, 1), or soft labels (N, num_classes), of integers too. PIL images, and
maps (N, H, W), boxes and key points beside the images, are refused.

As in torchvision one draw serves the whole batch and the partner is the neighbor in the batch; give
`mode="sample"` or `pairing="batch"` for more variety. Inputs are not changed. Calls count like those
of `medley.Mix`, in DataLoader workers too. In a compiled step a call is a graph break.
"""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

from ._arrays import framework_of
from ._dynamo import opaque
from ._samples import LabelsGetter, mix_sample
from ._mixed_labels import MixedLabels
from .labels import as_array
from .mixers import Mix

if TYPE_CHECKING:
    from torch.nn import Module
else:
    try:
        from torch.nn import Module
    except ImportError:  # of NumPy arrays

        class Module:
            """What the transforms need of torch.nn.Module."""

            def __call__(self, *inputs):
                return self.forward(*inputs)

            def __repr__(self):
                return f"{type(self).__name__}({self.extra_repr()})"


__all__ = ["CutMix", "GMix", "HMix", "Mixed", "MixUp"]


class Mixed(Module):
    """Any method as a transform: `Mixed("fmix", num_classes=100, decay=3.0)`.

    method: its name. num_classes: of the soft labels; not needed where labels are soft already.
    labels_getter: finds the labels: a function that returns a part of the sample, or the key of a
        dict. By default they are the second part of a sample (images, labels, ...), or what stands
        there or in the sample under "labels", "label" or a key that contains "label", in any case.
        None: there are none.
    Other options: those of `medley.Mix`; mode is "batch" and pairing "roll" unless given.
    """

    def __init__(
        self,
        method: str,
        *,
        num_classes: int | None = None,
        labels_getter: LabelsGetter = "default",
        **options: Any,
    ) -> None:
        super().__init__()
        self.num_classes = num_classes
        options = {"mode": "batch", "pairing": "roll", **options}
        self.mix = Mix(method, num_classes=num_classes, **options)
        self._labels_getter = labels_getter

    @opaque
    def forward(self, *inputs: Any) -> Any:
        """The sample with images and labels mixed. inputs: the sample in one piece, or its parts."""
        if not inputs:
            raise TypeError("a sample must be given, such as (images, labels)")
        return self._mixed(inputs if len(inputs) > 1 else inputs[0])

    def _mixed(
        self,
        sample: Any,
        place: tuple[int, int, int] | None = None,
        threads: int | None = None,
    ) -> Any:
        return mix_sample(
            self.mix, sample, self._labels_getter, self._checked, _soft, place, threads
        )

    def _checked(self, labels: Any) -> Any:
        labels = as_array(labels)
        framework = framework_of(labels)
        shape, is_float = framework.shape(labels), framework.is_float(labels)
        if not 1 <= len(shape) <= 3:
            raise ValueError(
                "labels must be classes of shape (N,) or soft labels of shape (N, num_classes), got "
                f"the shape {tuple(shape)}"
            )
        if len(shape) == 1 and not is_float and self.num_classes is None:
            raise ValueError("num_classes must be given to mix labels that are classes")
        if len(shape) != 2:
            return labels
        if shape[1] == 1 and not is_float and framework.dtype(labels) != "bool":
            return labels.reshape(-1)
        if self.num_classes not in (None, shape[1]):
            raise ValueError(
                f"soft labels must have num_classes = {self.num_classes} columns, got {shape[1]}"
            )
        if is_float:
            return labels
        return labels.float() if hasattr(labels, "float") else labels.astype("float32")

    @property
    def alpha(self) -> float | None:
        """Of the Beta distribution; None for methods without."""
        return self.mix.options.get("alpha")

    @property
    def seed(self) -> int:
        """Start of the random numbers."""
        return self.mix.seed

    def set_epoch(self, epoch: int) -> None:
        """Starts an epoch."""
        self.mix.set_epoch(epoch)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        """Where the sequence of draws stands. As part of another module there is no state: then
        checkpoints of it are those with torchvision's transforms."""
        if args or kwargs:
            return super().state_dict(*args, **kwargs)
        return self.mix.state_dict()

    def load_state_dict(self, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        """Continues where `state_dict` was taken."""
        self.mix.load_state_dict(state_dict)

    def extra_repr(self) -> str:
        return f"num_classes={self.num_classes}, mix={self.mix!r}"


def _soft(labels: Any, mixed: Any) -> Any:
    """Rows of probabilities, of the dtype that soft labels had."""
    if isinstance(mixed, MixedLabels):
        return mixed.soft()
    if framework_of(labels).is_float(labels) and mixed.dtype != labels.dtype:
        if hasattr(mixed, "to"):
            return mixed.to(labels.dtype)
        return mixed.astype(labels.dtype) if hasattr(mixed, "astype") else mixed
    return mixed


class MixUp(Mixed):
    """As torchvision.transforms.v2.MixUp.

    alpha: of the Beta distribution. num_classes: of the soft labels. Other options: those of
    `Mixed` and `medley.Mixup`.
    """

    def __init__(
        self, *, alpha: float = 1.0, num_classes: int | None = None, **options: Any
    ) -> None:
        super().__init__("mixup", num_classes=num_classes, alpha=alpha, **options)


class CutMix(Mixed):
    """As torchvision.transforms.v2.CutMix.

    alpha: of the Beta distribution. num_classes: of the soft labels. Other options: those of
    `Mixed` and `medley.CutMix`.
    """

    def __init__(
        self, *, alpha: float = 1.0, num_classes: int | None = None, **options: Any
    ) -> None:
        super().__init__("cutmix", num_classes=num_classes, alpha=alpha, **options)


class HMix(Mixed):
    """HMix as a transform.

    alpha: of the Beta distribution. num_classes: of the soft labels. Other options: those of
    `Mixed` and `medley.HMix`.
    """

    def __init__(
        self, *, alpha: float = 1.0, num_classes: int | None = None, **options: Any
    ) -> None:
        super().__init__("hmix", num_classes=num_classes, alpha=alpha, **options)


class GMix(Mixed):
    """GMix as a transform.

    alpha: of the Beta distribution. num_classes: of the soft labels. Other options: those of
    `Mixed` and `medley.GMix`.
    """

    def __init__(
        self, *, alpha: float = 0.5, num_classes: int | None = None, **options: Any
    ) -> None:
        super().__init__("gmix", num_classes=num_classes, alpha=alpha, **options)

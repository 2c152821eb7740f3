"""Losses and metrics for mixed labels in PyTorch: no (N, num_classes) matrix of targets."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ._checks import real_number, whole_number
from ._core import Plan
from ._mixed_labels import MixedLabels
from .labels import mix_labels

__all__ = [
    "accuracy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "instead_of",
    "soft_on_device",
    "vectors_on_device",
]

_HALVES = (torch.float16, torch.bfloat16)


def cross_entropy(
    logits: Tensor,
    labels: MixedLabels | Tensor,
    *,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy against mixed labels: the sum over terms of weight * CE(logits, class).

    logits: (N, C). The loss is float32, under autocast and for half-precision logits too; float64
        of float64.
    labels: a `MixedLabels` of N samples; plain classes (N,) or soft labels (N, C) are accepted too,
        so that a validation loop can use the same function.
    weight: of each class, (C,).
    ignore_index: a class that adds nothing; the mean is over what is left of the label weights.
    reduction: "mean", "sum" or "none".
    label_smoothing: what all classes share, before mixing.

    The result equals PyTorch's cross_entropy with `labels.soft(C, label_smoothing)`, which like that
    of all soft labels has its mean over samples, not over class weights.
    """
    _check_smoothing("label_smoothing", label_smoothing)
    _check_reduction(reduction)
    _check_tensor("logits", logits)
    logits = _in_full(logits)
    ignore_index = whole_number("ignore_index", ignore_index)
    if weight is not None:
        _check_tensor("weight", weight)
        weight = weight.to(logits.device, logits.dtype)
        if weight.shape != logits.shape[1:2]:
            raise ValueError(
                f"weight must be one per class, {tuple(logits.shape[1:2])}, got "
                f"{tuple(weight.shape)}"
            )
    if not isinstance(labels, MixedLabels):
        _check_tensor("labels", labels)
        soft = labels.is_floating_point()
        try:
            return functional.cross_entropy(
                logits,
                labels.to(logits.dtype) if soft else labels,
                weight=weight,
                ignore_index=ignore_index,
                reduction=reduction,
                label_smoothing=label_smoothing,
            )
        except IndexError:
            if not soft:
                _check_classes(labels[labels != ignore_index], logits.shape[1])
            raise
    _check_logits(logits, labels)
    classes = torch.as_tensor(labels.classes, device=logits.device)
    log_p = functional.log_softmax(logits, dim=1)
    counted = classes != ignore_index
    weights = torch.as_tensor(labels.weights, device=logits.device, dtype=log_p.dtype) * counted
    classes = classes.masked_fill(~counted, 0)
    loss = -_gathered(log_p, classes) * weights
    if weight is not None:
        loss = loss * weight[classes]
    loss = loss.sum(1)
    kept = weights.sum(1)
    if label_smoothing > 0:
        uniform = -(log_p if weight is None else log_p * weight).mean(1)
        loss = (1 - label_smoothing) * loss + label_smoothing * kept * uniform
    if reduction == "mean":
        return loss.sum() / kept.sum()
    return loss.sum() if reduction == "sum" else loss


def binary_cross_entropy_with_logits(
    logits: Tensor,
    labels: MixedLabels | Tensor,
    *,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Binary cross entropy of every class against mixed labels.

    logits: (N, C). The loss is float32, under autocast and for half-precision logits too; float64
        of float64.
    labels: a `MixedLabels` of N samples, or plain classes (N,), whose rows of probabilities are the
        targets; or targets (N, C), as they come from mixing several labels per image.
    weight: of the elements, broadcast to (N, C). pos_weight: of positive targets, (C,).
    reduction: "mean", "sum" or "none".
    label_smoothing: what all classes share of the rows, before mixing; not of targets (N, C).

    PyTorch's function of this name, with `labels.soft(C, label_smoothing)`.
    """
    _check_smoothing("label_smoothing", label_smoothing)
    _check_reduction(reduction)
    _check_tensor("logits", logits)
    logits = _in_full(logits)
    for name, given in (("weight", weight), ("pos_weight", pos_weight)):
        if given is not None:
            _check_tensor(name, given)
    if not isinstance(labels, MixedLabels):
        _check_tensor("labels", labels)
    if isinstance(labels, MixedLabels) or labels.ndim == 1:
        if not isinstance(labels, MixedLabels):
            labels = MixedLabels(labels[:, None].long(), torch.ones_like(labels)[:, None].float())
        _check_logits(logits, labels)
        on_device = MixedLabels(
            torch.as_tensor(labels.classes, device=logits.device),
            torch.as_tensor(labels.weights, device=logits.device),
        )
        if not logits.is_cuda:
            _check_classes(on_device.classes, logits.shape[1])
        targets = soft_on_device(on_device, logits.shape[1], label_smoothing)
    else:
        if label_smoothing > 0:
            raise ValueError(
                "label_smoothing goes with classes; targets (N, C) are smoothed where they are made"
            )
        targets = labels
    return functional.binary_cross_entropy_with_logits(
        logits,
        targets.to(logits.device, logits.dtype),
        None if weight is None else weight.to(logits.device, logits.dtype),
        pos_weight=None if pos_weight is None else pos_weight.to(logits.device, logits.dtype),
        reduction=reduction,
    )


def instead_of(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What takes the place of a function of PyTorch that was given a `MixedLabels` among its args or
    options: a loss here."""
    ours = _INSTEAD.get(function)
    given = {name: value for name, value in options.items() if value is not None}
    if ours is None or given.keys() & {"size_average", "reduce"}:
        name = getattr(function, "__name__", str(function))
        raise TypeError(
            f"{name} takes tensors, got a MixedLabels: use y.loss(logits), "
            "medley.torch.cross_entropy, or soft labels, y.soft(num_classes)"
        )
    names = ("logits", "labels", "weight")
    given.update(zip(names, args))
    for theirs, own in (("input", "logits"), ("target", "labels")):
        if theirs in given:
            given[own] = given.pop(theirs)
    return ours(**given)


_INSTEAD: dict[Any, Any] = {
    functional.cross_entropy: cross_entropy,
    functional.binary_cross_entropy_with_logits: binary_cross_entropy_with_logits,
}


def accuracy(logits: Tensor, labels: MixedLabels | Tensor) -> Tensor:
    """Mean weight of the predicted class: 1 where the prediction is the whole label.

    logits: (N, C). labels: a `MixedLabels`, plain classes (N,) or soft labels (N, C). The accuracy
    of training on mixed samples; at most the mean greatest weight.
    """
    _check_tensor("logits", logits)
    if isinstance(labels, MixedLabels):
        _check_logits(logits, labels)
    else:
        _check_tensor("labels", labels)
    prediction = logits.argmax(1)
    if not isinstance(labels, MixedLabels):
        if labels.shape == logits.shape:
            return labels.gather(1, prediction[:, None]).float().mean()
        if labels.shape != prediction.shape:
            raise ValueError(
                f"labels must have the shape {tuple(prediction.shape)} or {tuple(logits.shape)}, "
                f"got {tuple(labels.shape)}"
            )
        return (prediction == labels).float().mean()
    classes = torch.as_tensor(labels.classes, device=logits.device)
    weights = torch.as_tensor(labels.weights, device=logits.device, dtype=torch.float32)
    return ((classes == prediction[:, None]) * weights).sum(1).mean()


def soft_on_device(labels: MixedLabels, num_classes: int, smoothing: float = 0.0) -> Tensor:
    """`labels.soft(num_classes, smoothing)` computed on the labels' own device; labels out of range
    are an error."""
    _check_smoothing("smoothing", smoothing)
    rows = torch.full(
        (len(labels), num_classes),
        smoothing / num_classes,
        dtype=torch.float32,
        device=labels.classes.device,
    )
    return rows.scatter_add_(1, labels.classes, labels.weights.float() * (1 - smoothing))


def vectors_on_device(plan: Plan, vectors: Tensor) -> Tensor:
    """`mix_vectors(plan, vectors)` computed on the vectors' own device, in float32."""
    terms = mix_labels(plan, torch.arange(len(vectors), device=vectors.device))
    vectors = vectors.float()
    parts = []
    for rows, weights in zip(terms.classes.T, terms.weights.T):
        weights = weights.reshape(-1, *[1] * (vectors.ndim - 1))
        part = vectors.index_select(0, rows) * weights
        parts.append(part.masked_fill(weights == 0, 0))  # 0 * inf is no number
    return torch.stack(parts).sum(0)


def _in_full(logits: Tensor) -> Tensor:
    return logits.float() if logits.dtype in _HALVES else logits


def _gathered(log_p: Tensor, classes: Tensor) -> Tensor:
    try:
        return log_p.gather(1, classes)
    except (IndexError, RuntimeError):
        _check_classes(classes, log_p.shape[1])
        raise


def _check_classes(classes: Tensor, count: int) -> None:
    wrong = classes[(classes < 0) | (classes >= count)]
    if len(wrong) > 0:
        raise ValueError(
            f"labels must be in [0, {count}), the classes of logits (N, {count}), got "
            f"{int(wrong[0])}"
        ) from None


def _check_tensor(name: str, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a PyTorch tensor, got {type(value).__name__}")


def _check_reduction(reduction: str) -> None:
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be mean, sum or none, got {reduction!r}")


def _check_logits(logits: Tensor, labels: MixedLabels) -> None:
    if logits.ndim != 2 or len(logits) != len(labels):
        raise ValueError(
            f"logits must have the shape ({len(labels)}, C), got {tuple(logits.shape)}"
        )


def _check_smoothing(name: str, value: float) -> None:
    if not 0 <= real_number(name, value) <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {value}")

"""Losses and metrics for mixed labels in PyTorch: no (N, num_classes) matrix of targets."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from ._core import Plan
from .labels import MixedLabels, mix_labels

__all__ = ["accuracy", "cross_entropy", "soft_on_device", "vectors_on_device"]


def cross_entropy(
    logits: Tensor,
    labels: MixedLabels | Tensor,
    *,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy against mixed labels: the sum over terms of weight * CE(logits, class).

    logits: (N, C). labels: a `MixedLabels` of N samples; plain classes (N,) or soft labels (N, C)
    are accepted too, so that a validation loop can use the same function. The result equals the
    cross entropy with `labels.soft(C, label_smoothing)`.
    """
    _check_smoothing("label_smoothing", label_smoothing)
    if not isinstance(labels, MixedLabels):
        return functional.cross_entropy(
            logits, labels, label_smoothing=label_smoothing, reduction=reduction
        )
    _check_logits(logits, labels)
    classes = torch.as_tensor(labels.classes, device=logits.device)
    log_p = functional.log_softmax(logits, dim=1)
    weights = torch.as_tensor(labels.weights, device=logits.device, dtype=log_p.dtype)
    loss = -(log_p.gather(1, classes) * weights).sum(1)
    if label_smoothing > 0:
        loss = (1 - label_smoothing) * loss - label_smoothing * log_p.mean(1)
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"reduction must be mean, sum or none, got {reduction!r}")


def accuracy(logits: Tensor, labels: MixedLabels | Tensor) -> Tensor:
    """Mean weight of the predicted class: 1 where the prediction is the whole label.

    logits: (N, C). labels: a `MixedLabels`, plain classes (N,) or soft labels (N, C). The accuracy
    of training on mixed samples; at most the mean greatest weight.
    """
    if isinstance(labels, MixedLabels):
        _check_logits(logits, labels)
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
    """`labels.soft(...)` computed on the labels' own device; labels out of range are an error."""
    _check_smoothing("smoothing", smoothing)
    rows = torch.full(
        (len(labels), num_classes),
        smoothing / num_classes,
        dtype=torch.float32,
        device=labels.classes.device,
    )
    return rows.scatter_add_(1, labels.classes, labels.weights.float() * (1 - smoothing))


def vectors_on_device(plan: Plan, vectors: Tensor) -> Tensor:
    """`mix_vectors` computed on the vectors' own device, in float32."""
    terms = mix_labels(plan, torch.arange(len(vectors), device=vectors.device))
    vectors = vectors.float()
    parts = []
    for rows, weights in zip(terms.classes.T, terms.weights.T):
        weights = weights.reshape(-1, *[1] * (vectors.ndim - 1))
        part = vectors.index_select(0, rows) * weights
        parts.append(part.masked_fill(weights == 0, 0))  # 0 * inf is no number
    return torch.stack(parts).sum(0)


def _check_logits(logits: Tensor, labels: MixedLabels) -> None:
    if logits.ndim != 2 or len(logits) != len(labels):
        raise ValueError(
            f"logits must have the shape ({len(labels)}, C), got {tuple(logits.shape)}"
        )


def _check_smoothing(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {value}")

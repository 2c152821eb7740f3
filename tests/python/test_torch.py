"""PyTorch tensors and losses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import METHODS, mixer, random_images

import medley

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import medley.torch  # noqa: E402


@pytest.mark.parametrize("method", METHODS)
def test_tensors_are_mixed_like_arrays(method):
    images = random_images((5, 3, 32, 32))
    labels = np.arange(5)
    a, y_a = mixer(method, seed=1)(images, labels)
    b, y_b = mixer(method, seed=1)(torch.from_numpy(images), torch.from_numpy(labels))
    assert isinstance(b, torch.Tensor)
    assert np.array_equal(a, b.numpy())
    assert isinstance(y_b.weight, torch.Tensor) and y_b.weight.dtype == torch.float32
    assert np.array_equal(y_a.classes, y_b.classes.numpy())


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float16, torch.bfloat16, torch.float32])
def test_dtypes(dtype):
    images = (torch.rand(4, 3, 8, 8) * 255).to(dtype)
    x = medley.CutMix(seed=1)(images)
    assert x.dtype == dtype
    plan = medley.CutMix(seed=1).plan(batch=4, size=8)
    expected = medley.apply(plan, images.float().numpy())
    assert np.array_equal(x.float().numpy(), expected)
    assert medley.apply(plan, images, dtype=torch.bfloat16).dtype == torch.bfloat16


def test_channels_last_is_recognized_and_kept():
    images = torch.rand(4, 3, 8, 6).contiguous(memory_format=torch.channels_last)
    assert medley._core.image_info(images)["memory"] == "nhwc"
    x = medley.GMix(seed=1)(images)
    assert x.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(x, medley.GMix(seed=1)(images.contiguous()))
    x = medley.GMix(seed=1, dtype="bf16")(images)
    assert x.is_contiguous(memory_format=torch.channels_last)


def test_out_and_in_place_are_the_callers_memory():
    images = torch.rand(4, 3, 8, 8)
    out = torch.empty_like(images)
    where = out.data_ptr()
    assert medley.Mixup(seed=1)(images, out=out) is out
    assert out.data_ptr() == where
    expected = out.clone()
    assert medley.Mixup(seed=1)(images, inplace=True) is images
    assert torch.equal(images, expected)
    mixed = np.empty((4, 3, 8, 8), np.float32)  # frameworks may be combined
    medley.Mixup(seed=1)(torch.rand(4, 3, 8, 8), out=mixed)


def test_single_samples_and_views():
    images = torch.rand(8, 3, 8, 8)
    mix = medley.Mixup(seed=1)
    assert mix(images[:1]).shape == (1, 3, 8, 8)
    plan = mix.plan(batch=4, size=8)
    assert torch.equal(medley.apply(plan, images[::2]), medley.apply(plan, images[::2].clone()))
    expanded = images[:1].expand(4, 3, 8, 8)
    assert torch.equal(medley.apply(plan, expanded), medley.apply(plan, expanded.clone()))


def test_gradients_are_refused():
    with pytest.raises(ValueError, match="must not require gradients"):
        medley.Mixup()(torch.rand(2, 1, 4, 4, requires_grad=True))


@pytest.mark.parametrize("method", ["mixup", "nmixup", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_is_that_of_soft_labels(method, smoothing, reduction):
    logits = torch.randn(6, 10, requires_grad=True)
    _, y = mixer(method, seed=1)(torch.rand(6, 1, 32, 32), torch.arange(6))
    loss = medley.torch.cross_entropy(
        logits, y, label_smoothing=smoothing, reduction=reduction
    )
    expected = torch.nn.functional.cross_entropy(
        logits, y.soft(10, smoothing), reduction=reduction
    )
    assert torch.allclose(loss, expected, atol=1e-6)
    grad, expected_grad = (torch.autograd.grad(v.sum(), logits)[0] for v in (loss, expected))
    assert torch.allclose(grad, expected_grad, atol=1e-6)
    if reduction == "mean":
        assert torch.equal(y.loss(logits, label_smoothing=smoothing), loss)


def test_cross_entropy_takes_plain_labels_and_checks_shapes():
    logits = torch.randn(6, 10)
    labels = torch.arange(6)
    expected = torch.nn.functional.cross_entropy(logits, labels)
    assert torch.equal(medley.torch.cross_entropy(logits, labels), expected)
    _, y = medley.Mixup()(torch.rand(5, 1, 4, 4), torch.arange(5))
    with pytest.raises(ValueError, match=r"logits must have the shape \(5, C\)"):
        medley.torch.cross_entropy(logits, y)


def mixed(count=6, method="mixup", labels=None):
    labels = torch.arange(count) if labels is None else labels
    return mixer(method, seed=1)(torch.rand(count, 1, 32, 32), labels)[1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_losses_of_half_precision_are_float32(dtype):
    logits = torch.randn(6, 10).to(dtype)
    for y in (mixed(), torch.arange(6), torch.eye(10)[:6]):
        for loss in (medley.torch.cross_entropy, medley.torch.binary_cross_entropy_with_logits):
            assert loss(logits, y).dtype == torch.float32
            assert torch.equal(loss(logits, y), loss(logits.float(), y))
    assert mixed().loss(logits).dtype == torch.float32
    assert mixed().loss(logits.double()).dtype == torch.float64


@pytest.mark.parametrize("method", ["mixup", "nmixup"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_class_weights(method, smoothing, reduction):
    logits = torch.randn(6, 10)
    weight = torch.rand(10)
    y = mixed(method=method)
    options = dict(weight=weight, reduction=reduction)
    loss = medley.torch.cross_entropy(logits, y, label_smoothing=smoothing, **options)
    expected = torch.nn.functional.cross_entropy(logits, y.soft(10, smoothing), **options)
    assert torch.allclose(loss, expected, atol=1e-6)
    with pytest.raises(ValueError, match=r"weight must be one per class, \(10,\), got \(9,\)"):
        medley.torch.cross_entropy(logits, y, weight=weight[:9])


@pytest.mark.parametrize("ignore_index, ignored", [(-100, -100), (3, 3)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ignored_classes_add_nothing(ignore_index, ignored, smoothing, reduction):
    logits = torch.randn(6, 10)
    labels = torch.tensor([0, ignored, 4, 9, ignored, 5])
    options = dict(
        ignore_index=ignore_index, label_smoothing=smoothing, reduction=reduction
    )
    alone = medley.torch.cross_entropy(logits, mixed(method="none", labels=labels), **options)
    expected = torch.nn.functional.cross_entropy(logits, labels, **options)
    assert torch.allclose(alone, expected, atol=1e-6)
    y = mixed(labels=labels)
    rows = torch.zeros(6, 10)
    kept = torch.zeros(6)
    for classes, weights in zip(y.classes.T, y.weights.T):
        counted = (classes != ignored).float() * weights
        one = torch.nn.functional.one_hot(classes.clamp(0), 10) * (1 - smoothing) + smoothing / 10
        rows, kept = rows + one * counted[:, None], kept + counted
    expected = -(rows * logits.log_softmax(1)).sum(1)
    if reduction != "none":
        expected = expected.sum() / (kept.sum() if reduction == "mean" else 1)
    assert torch.allclose(medley.torch.cross_entropy(logits, y, **options), expected, atol=1e-6)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_binary_cross_entropy_is_that_of_soft_labels(reduction):
    logits = torch.randn(6, 10, requires_grad=True)
    y = mixed()
    options = dict(weight=torch.rand(10), pos_weight=torch.rand(10), reduction=reduction)
    loss = medley.torch.binary_cross_entropy_with_logits(logits, y, label_smoothing=0.1, **options)
    expected = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, y.soft(10, 0.1), **options
    )
    assert torch.allclose(loss, expected, atol=1e-6)
    plain = medley.torch.binary_cross_entropy_with_logits(logits, torch.arange(6), **options)
    one_hot = medley.torch.binary_cross_entropy_with_logits(logits, torch.eye(10)[:6], **options)
    assert torch.allclose(plain, one_hot, atol=1e-6)
    loss.sum().backward()


def test_losses_of_pytorch_take_mixed_labels():
    logits, weight, y = torch.randn(6, 10), torch.rand(10), mixed()
    criterion = torch.nn.CrossEntropyLoss(weight, label_smoothing=0.1)
    expected = medley.torch.cross_entropy(logits, y, weight=weight, label_smoothing=0.1)
    assert torch.equal(criterion(logits, y), expected)
    assert torch.equal(torch.nn.BCEWithLogitsLoss(pos_weight=weight)(logits, y),
                       medley.torch.binary_cross_entropy_with_logits(logits, y, pos_weight=weight))
    for other in (torch.nn.MSELoss(), torch.nn.NLLLoss()):
        with pytest.raises(TypeError, match="got a MixedLabels: use y.loss"):
            other(logits, y)


def test_wrong_classes_and_logits_are_named():
    for y in (mixed(), torch.arange(6)):
        for loss in (medley.torch.cross_entropy, medley.torch.binary_cross_entropy_with_logits):
            with pytest.raises(ValueError, match=r"labels must be in \[0, 3\), .* got [345]"):
                loss(torch.randn(6, 3), y)
    with pytest.raises(TypeError, match="logits must be a PyTorch tensor, got ndarray"):
        mixed().loss(np.zeros((6, 10)))
    with pytest.raises(ValueError, match="reduction must be mean, sum or none, got 'avg'"):
        medley.torch.cross_entropy(torch.randn(6, 10), mixed(), reduction="avg")


def test_predictions_are_not_compared_with_mixed_labels():
    y = mixed()
    for compare in (lambda: torch.arange(6) == y, lambda: y != torch.arange(6)):
        with pytest.raises(TypeError, match="medley.torch.accuracy"):
            compare()
    assert y == mixed() and y.shape == (6,)


def test_labels_of_tensors_index_and_move():
    y = mixed()
    for rows in (slice(1, 3), [0, 5], torch.tensor([2, 4]), torch.arange(6) > 2):
        assert torch.equal(y[rows].classes, y.classes[rows])
        assert torch.equal(y[rows].weight, y.weight[rows])
    assert y.cpu() == y == y.to("cpu", copy=True)
    if not torch.cuda.is_available():
        with pytest.raises((AssertionError, RuntimeError)):
            y.cuda()


def test_sizes_are_those_of_tensors_of_classes():
    y = mixed()
    assert y.size() == (6,) and y.size(0) == y.size(-1) == y.size(dim=0) == 6
    with pytest.raises(IndexError, match="dim of mixed labels must be 0 or -1, got 1"):
        y.size(1)


@pytest.mark.parametrize("name", ["view_as", "unsqueeze", "long", "float", "argmax", "ndim", "item"])
def test_what_only_tensors_have_is_refused_with_what_to_write(name):
    with pytest.raises(AttributeError, match=f"mixed labels have no {name}, .* y.soft.*accuracy"):
        getattr(mixed(), name)
    assert not hasattr(mixed(), name)


@pytest.mark.parametrize("labels", [torch.arange(6)[:, None], torch.eye(6, dtype=torch.int64),
                                    torch.eye(6) > 0])
def test_tensors_of_other_labels(labels):
    y = mixed(labels=labels)
    expected = mixed(labels=torch.arange(6) if labels.shape[1] == 1 else labels.float())
    if labels.shape[1] == 1:
        assert y == expected
    else:
        assert y.dtype == torch.float32 and torch.equal(y, expected)


@pytest.mark.parametrize("smoothing", [-1.0, 2.0, float("nan")])
def test_smoothing_is_a_share(smoothing):
    logits = torch.randn(6, 10)
    _, y = medley.Mixup()(torch.rand(6, 1, 4, 4), torch.arange(6))
    for call in (
        lambda: y.loss(logits, label_smoothing=smoothing),
        lambda: medley.torch.cross_entropy(logits, torch.arange(6), label_smoothing=smoothing),
        lambda: medley.torch.soft_on_device(y, 10, smoothing),
        lambda: y.soft(10, smoothing),
    ):
        with pytest.raises(ValueError, match=r"smoothing must be in \[0, 1\], got"):
            call()


@pytest.mark.parametrize("shape", [(1, 10), (5, 10), (6,)])
def test_accuracy_checks_shapes(shape):
    _, y = medley.Mixup()(torch.rand(6, 1, 4, 4), torch.arange(6))
    with pytest.raises(ValueError, match=r"logits must have the shape \(6, C\), got"):
        medley.torch.accuracy(torch.rand(shape), y)


def test_accuracy_counts_weights():
    _, y = medley.Mixup(seed=1)(torch.rand(6, 1, 4, 4), torch.arange(6))
    logits = y.soft(6)
    expected = torch.where(y.y_a == y.y_b, torch.ones(6), torch.maximum(y.weight, 1 - y.weight))
    assert torch.isclose(medley.torch.accuracy(logits, y), expected.mean())
    assert medley.torch.accuracy(torch.eye(6), torch.arange(6)) == 1


def test_soft_on_device_equals_soft():
    _, y = medley.NMixup(seed=1)(torch.rand(6, 1, 4, 4), torch.arange(6))
    assert torch.allclose(medley.torch.soft_on_device(y, 10, 0.1), y.soft(10, 0.1), atol=1e-6)


def test_labels_move_and_pickle():
    _, y = medley.Mixup(seed=1)(torch.rand(6, 1, 4, 4), torch.arange(6))
    moved = y.to("cpu")
    assert torch.equal(moved.classes, y.classes)
    again = pickle.loads(pickle.dumps(y))
    assert torch.equal(again.weights, y.weights)


def test_classes_stay_whole_numbers_when_labels_move():
    _, y = medley.Mixup(seed=1)(torch.rand(6, 1, 4, 4), torch.arange(6) + 1000)
    for moved in (
        y.to(torch.bfloat16),
        y.to("cpu", torch.bfloat16, True),
        y.to(dtype=torch.bfloat16, non_blocking=True),
        y.to(torch.zeros(1, dtype=torch.bfloat16)),
    ):
        assert torch.equal(moved.classes, y.classes) and moved.classes.dtype == torch.int64
        assert moved.weights.dtype == torch.bfloat16
    for copied in (y.to("cpu", torch.float32, False, True), y.to("cpu", copy=True)):
        assert copied.classes.data_ptr() != y.classes.data_ptr()


# Tensors that are written to, or cannot be


def test_signs_that_are_still_to_be_flipped_are_refused():
    images = torch.randn(4, 3, 8, 8, dtype=torch.complex64).conj().imag
    assert images.is_neg()
    with pytest.raises(ValueError, match="resolve_neg"):
        medley.NoMix()(images)
    assert torch.equal(medley.NoMix()(images.resolve_neg()), images)


@pytest.mark.parametrize("inplace", [False, True])
def test_gradients_notice_that_their_input_was_overwritten(inplace):
    images = torch.rand(4, 3, 8, 8)
    weight = torch.rand(3, 3, 1, 1, requires_grad=True)
    loss = torch.nn.functional.conv2d(images, weight).sum()
    if inplace:
        medley.CutMix(seed=1)(images, inplace=True)
    else:
        medley.CutMix(seed=1)(images.clone(), out=images)
    with pytest.raises(RuntimeError, match="inplace operation"):
        loss.backward()


def test_plans_count_as_changes_too():
    images = torch.rand(4, 3, 8, 8)
    before = images._version
    medley.apply(medley.Mixup().plan(batch=4, size=8), images, inplace=True)
    assert images._version == before + 1


def test_nothing_that_requires_gradients_is_written_to_or_mixed_into_labels():
    images = torch.rand(4, 3, 8, 8)
    with pytest.raises(ValueError, match="out must not require gradients"):
        medley.Mixup()(images, out=torch.zeros_like(images, requires_grad=True))
    with pytest.raises(ValueError, match="labels must not require gradients"):
        medley.Mixup()(images, torch.rand(4, 2, requires_grad=True))


def test_inference_tensors_can_be_written_to():
    with torch.inference_mode():
        images = torch.rand(4, 3, 8, 8)
        medley.Mixup()(images, inplace=True)
    medley.Mixup()(torch.rand(4, 3, 8, 8), out=images)


def test_accuracy_of_plain_and_soft_labels():
    logits = torch.eye(4) * 10
    assert medley.torch.accuracy(logits, torch.arange(4)) == 1
    assert medley.torch.accuracy(logits, torch.eye(4)) == 1
    assert medley.torch.accuracy(logits, torch.full((4, 4), 0.25)) == 0.25
    with pytest.raises(ValueError, match="labels must have the shape"):
        medley.torch.accuracy(logits, torch.eye(4)[:, :3])

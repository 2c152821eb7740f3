"""Labels and losses with the PyTorch of today: autocast, its loss modules, its loaders."""

from __future__ import annotations

import pickle

import pytest
import torch

import medley
import medley.torch

CLASSES = 10


def mixed(count=8, **options):
    images = torch.rand(count, 3, 8, 8)
    return medley.Mixup(seed=1, num_classes=CLASSES, **options)(images, torch.arange(count))[1]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_losses_under_autocast_are_those_in_float32(dtype):
    model = torch.nn.Linear(32, CLASSES)
    features, y = torch.randn(8, 32), mixed()
    with torch.autocast("cpu", dtype=dtype):
        logits = model(features)
        assert logits.dtype == dtype
        losses = [y.loss(logits, label_smoothing=0.1),
                  medley.torch.cross_entropy(logits, y, label_smoothing=0.1),
                  torch.nn.CrossEntropyLoss(label_smoothing=0.1)(logits, y)]  # fmt: skip
        binary = medley.torch.binary_cross_entropy_with_logits(logits, y)
    expected = torch.nn.functional.cross_entropy(logits.float(), y.soft(CLASSES, 0.1))
    for loss in losses:
        assert loss.dtype == torch.float32
        torch.testing.assert_close(loss, expected, atol=1e-6, rtol=1e-6)
    assert binary.dtype == torch.float32
    losses[0].backward()
    assert model.weight.grad is not None and model.weight.grad.isfinite().all()


def test_the_loop_of_the_references_needs_no_change():
    """criterion(output, target), target.shape and .to as in pytorch/vision's classification."""
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, CLASSES))
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    mix = medley.CutMix(seed=1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        image, target = mix(torch.rand(8, 3, 8, 8), torch.randint(0, CLASSES, (8,)))
        image, target = image.to("cpu"), target.to("cpu", non_blocking=True)
        loss = criterion(model(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert image.shape[0] == target.shape[0] == len(target)
    with pytest.raises(TypeError, match="medley.torch.accuracy"):
        model(image).argmax(1) == target


def test_labels_pass_between_processes():
    y = mixed()
    assert pickle.loads(pickle.dumps(y)) == y
    loader = torch.utils.data.DataLoader(
        range(3), batch_size=None, num_workers=1, collate_fn=lambda _: y
    )
    assert [batch == y for batch in loader] == [True] * 3


def test_a_compiled_loss_is_the_eager_one():
    y, logits = mixed(), torch.randn(8, CLASSES)
    torch._dynamo.reset()
    compiled = torch.compile(
        lambda logits, classes, weights: medley.torch.cross_entropy(
            logits, medley.MixedLabels(classes, weights)
        ),
        backend="eager",
    )
    loss = compiled(logits, y.classes, y.weights)
    torch.testing.assert_close(loss, y.loss(logits))


@pytest.mark.parametrize("loss", [medley.torch.cross_entropy, torch.nn.CrossEntropyLoss()])
def test_a_compiled_step_takes_mixed_labels(loss):
    """In one graph once the labels are tensors, as after `.to(device)`."""
    model = torch.nn.Linear(192, CLASSES)
    torch._dynamo.reset()
    step = torch.compile(lambda x, y: loss(model(x), y), backend="eager", fullgraph=True)
    mix = medley.Mixup(seed=1)
    for _ in range(3):
        x, y = mix(torch.rand(8, 3, 8, 8), torch.arange(8))
        y = y.to("cpu")
        torch.testing.assert_close(step(x.flatten(1), y), loss(model(x.flatten(1)), y))

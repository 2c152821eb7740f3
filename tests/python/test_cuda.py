"""CUDA tensors of PyTorch: what comes out is what the CPU gives."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import METHODS, mixer

import medley

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import medley.theory  # noqa: E402
import medley.timm  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
needs_cuda_build = pytest.mark.skipif(not medley._core.has_cuda, reason="built without CUDA")


@needs_cuda_build
def test_cuda_tensors():
    for method in METHODS:
        images, labels = torch.rand(6, 3, 32, 32), torch.arange(6)
        x, y = mixer(method, seed=1)(images, labels)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            a, b = mixer(method, seed=1)(images.cuda(), labels.cuda())
        stream.synchronize()
        assert torch.equal(a.cpu(), x)
        assert torch.equal(b.classes.cpu(), y.classes)
        assert torch.allclose(b.soft(10, 0.1).cpu(), y.soft(10, 0.1), atol=1e-6)


@needs_cuda_build
def test_cuda_calls_follow_each_other_as_on_a_cpu():
    images = torch.rand(6, 3, 32, 32)
    on_cpu, on_gpu = medley.CutMix(seed=1), medley.CutMix(seed=1)
    for call in range(8):  # plans are drawn ahead, which must not show
        if call == 3:
            on_cpu.set_epoch(2)
            on_gpu.set_epoch(2)
        batch = images[:4] if call in (2, 5) else images
        batch = batch[..., :16] if call == 6 else batch
        assert torch.equal(on_gpu(batch.cuda()).cpu(), on_cpu(batch)), call


@needs_cuda_build
def test_cuda_tensors_are_overwritten():
    images, labels = torch.rand(6, 3, 32, 32), torch.arange(6)
    x, y = medley.CutMix(seed=1)(images, labels)
    on_gpu = images.cuda()
    a, b = medley.CutMix(seed=1)(on_gpu, labels.cuda(), inplace=True)
    assert a is on_gpu
    assert torch.equal(a.cpu(), x)
    assert torch.equal(b.classes.cpu(), y.classes)
    for method in (None, "nmixup", "resizemix"):
        expected, targets = medley.timm.Mixup(method=method, num_classes=6)(images.clone(), labels)
        on_gpu = images.cuda()
        a, b = medley.timm.Mixup(method=method, num_classes=6)(on_gpu, labels.cuda())
        assert a is on_gpu
        assert torch.equal(a.cpu(), expected)
        assert torch.allclose(b.cpu(), targets, atol=1e-6)


@needs_cuda_build
def test_strided_cuda_tensors():
    whole, labels = torch.rand(6, 3, 32, 32), torch.arange(6)
    for cut in (
        lambda t: t[:, :, ::2, ::2],
        lambda t: t.transpose(2, 3),
        lambda t: t[:, :1].expand(6, 3, 32, 32),
        lambda t: t.permute(0, 2, 3, 1)[:, :, ::2].permute(0, 3, 1, 2),
    ):
        images, on_gpu = cut(whole), cut(whole.cuda())
        x = medley.CutMix(seed=1)(images)
        assert torch.equal(medley.CutMix(seed=1)(on_gpu).cpu(), x)
        plan = medley.CutMix(seed=1).plan(batch=6, size=tuple(images.shape[2:]))
        assert torch.equal(medley.apply(plan, on_gpu).cpu(), x)
    for call in (
        lambda t: medley.CutMix(seed=1)(t, inplace=True),
        lambda t: medley.timm.Mixup(num_classes=6)(t, labels.to(t.device))[0],
    ):
        images, on_gpu = whole[:, :, ::2, ::2].contiguous(), whole.cuda()[:, :, ::2, ::2]
        expected = call(images)
        assert call(on_gpu) is on_gpu
        assert torch.equal(on_gpu.cpu(), expected)


@needs_cuda_build
def test_cuda_labels_of_all_kinds():
    images, classes = torch.rand(6, 3, 32, 32), torch.tensor([3, 1, 4, 1, 5, 9])
    table = torch.stack([classes, classes + 10], 1)
    vectors, maps = torch.rand(6, 7), torch.randint(0, 5, (6, 32, 32))
    for method in METHODS:
        if method == "resizemix":
            continue  # has no class maps
        for dtype in (torch.int64, torch.int32, torch.uint8):
            _, y = mixer(method, seed=1)(images, table.to(dtype)[:, 0])
            _, on_gpu = mixer(method, seed=1)(images.cuda(), table.to(dtype).cuda()[:, 0])
            assert on_gpu.classes.is_cuda and on_gpu.weights.is_cuda
            assert torch.equal(on_gpu.classes.cpu(), y.classes)
            assert torch.allclose(on_gpu.weights.cpu(), y.weights)
        for labels in (vectors, vectors.double(), vectors.half(), vectors[:, 0], vectors.T[:6]):
            _, y = mixer(method, seed=1)(images, labels)
            _, on_gpu = mixer(method, seed=1)(images.cuda(), labels.cuda())
            assert on_gpu.is_cuda and on_gpu.dtype == torch.float32
            assert torch.allclose(on_gpu.cpu(), y, atol=1e-6)
        _, y = mixer(method, seed=1)(images, maps)
        _, on_gpu = mixer(method, seed=1)(images.cuda(), maps.cuda())
        assert on_gpu.is_cuda and torch.equal(on_gpu.cpu(), y)


@needs_cuda_build
def test_cuda_class_labels_have_one_axis():
    images = torch.rand(6, 3, 32, 32).cuda()
    for labels in (torch.eye(6, dtype=torch.int64), torch.arange(6)[:, None], torch.eye(6).bool()):
        mix = medley.Mixup()
        with pytest.raises(ValueError, match="labels must have one axis"):
            mix(images, labels.cuda())
        assert mix.step == 0


@needs_cuda_build
def test_class_rules_take_cuda_labels():
    images, labels = torch.rand(6, 3, 32, 32), torch.tensor([0, 0, 0, 1, 1, 1])
    for rule in ("same_class", "other_class"):
        x, y = medley.CutMix(seed=1, **{rule: True})(images, labels)
        a, b = medley.CutMix(seed=1, **{rule: True})(images.cuda(), labels.cuda())
        assert torch.equal(a.cpu(), x)
        assert b.classes.is_cuda and torch.equal(b.classes.cpu(), y.classes)
        assert b.weights.is_cuda and torch.equal(b.weights.cpu(), y.weights)
        plans = [
            medley.CutMix(seed=1, **{rule: True}).plan(batch=6, size=32, labels=given)
            for given in (labels, labels.cuda())
        ]
        assert plans[0] == plans[1]


@needs_cuda_build
def test_soft_cuda_labels():
    images, labels = torch.rand(6, 3, 8, 8), torch.arange(6)
    _, y = medley.Mixup(seed=1, num_classes=6)(images, labels)
    _, on_gpu = medley.Mixup(seed=1, num_classes=6)(images.cuda(), labels.cuda())
    assert np.allclose(on_gpu, y, atol=1e-6)
    torch.set_default_dtype(torch.float64)
    try:
        assert on_gpu.soft().dtype == torch.float32
    finally:
        torch.set_default_dtype(torch.float32)


def test_what_is_computed_on_the_host_takes_cuda_tensors():
    gradients = torch.rand(2, 3, 4, 5)
    for a, b in zip(*(medley.theory.partial_grad_prod(g) for g in (gradients, gradients.cuda()))):
        assert np.array_equal(a, b)
    masks = torch.rand(2, 4, 4)
    plans = [medley.Custom(given).plan(batch=3, size=4) for given in (masks, masks.cuda())]
    assert plans[0] == plans[1]


@pytest.mark.skipif(medley._core.has_cuda, reason="built with CUDA")
def test_cuda_tensors_need_a_cuda_build():
    with pytest.raises(ValueError, match="MEDLEY_BUILD_CUDA"):
        medley.Mixup()(torch.rand(2, 3, 4, 4).cuda())

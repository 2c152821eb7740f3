"""PyTorch tensors, losses, and the adapters for timm and torchvision."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import METHODS, mixer, random_images

import medley
import statement

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import medley.timm  # noqa: E402
import medley.torch  # noqa: E402
import medley.torchvision  # noqa: E402


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


def test_channels_last_is_recognised_and_kept():
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


# timm


@pytest.mark.parametrize("method", ["resizemix", "nmixup", "hmix"])
def test_timm_mixup_takes_every_method(method):
    images = torch.from_numpy(random_images((4, 3, 16, 16)))
    fn = medley.timm.Mixup(method=method, num_classes=4, seed=3)
    again = pickle.loads(pickle.dumps(fn))
    x = images.clone()
    mixed, target = fn(x, torch.arange(4))
    assert mixed is x and target.shape == (4, 4)
    assert not torch.equal(mixed, images)
    same, _ = again(images.clone(), torch.arange(4))
    assert torch.equal(same, mixed)


@pytest.mark.parametrize("count", [8, 7])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_timm_mixup_in_batch_mode(count, smoothing):
    images = random_images((count, 3, 16, 16))
    labels = np.arange(count) % 5
    fn = medley.timm.Mixup(mixup_alpha=0.8, label_smoothing=smoothing, num_classes=5, seed=3)
    plan = fn.plan(batch=count, size=(16, 16))
    lam = plan.lam[0]
    assert (plan.lam == lam).all()
    x = torch.from_numpy(images.copy())
    mixed, target = fn(x, torch.from_numpy(labels))
    assert mixed is x  # in place, as timm
    assert np.allclose(mixed.numpy(), statement.timm_mixup(images, lam), atol=1e-6)
    expected = statement.timm_target(labels, 5, lam, smoothing)
    assert np.allclose(target.numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("count", [8, 7])
@pytest.mark.parametrize("minmax", [None, (0.2, 0.8)])
def test_timm_cutmix_in_batch_mode(count, minmax):
    images = random_images((count, 3, 16, 20))
    labels = np.arange(count) % 5
    fn = medley.timm.Mixup(0.0, 1.0, cutmix_minmax=minmax, num_classes=5, seed=3)
    box = fn.plan(batch=count, size=(16, 20)).entries[0]["mask"]
    expected, lam = statement.timm_cutmix(
        images, (box["top"], box["left"], box["height"], box["width"])
    )
    if minmax is not None:
        assert 0.2 * 16 - 1 < box["height"] < 0.8 * 16 and 0.2 * 20 - 1 < box["width"] < 0.8 * 20
    mixed, target = fn(torch.from_numpy(images.copy()), torch.from_numpy(labels))
    assert np.array_equal(mixed.numpy(), expected)
    assert np.allclose(target.numpy(), statement.timm_target(labels, 5, lam, 0.1), atol=1e-6)


@pytest.mark.parametrize("minmax", [(0.5, 0.5), (0.8, 0.2), (-1, 3), (0, float("nan"))])
def test_timm_box_sides_are_shares_of_the_image(minmax):
    with pytest.raises(ValueError, match="cutmix_minmax must be 0 <= min < max <= 1, got"):
        medley.timm.Mixup(cutmix_minmax=minmax)


def test_timm_box_sides_that_round_to_one_number():
    fn = medley.timm.Mixup(0.0, cutmix_minmax=[0.5, 0.55])
    box = fn.plan(batch=2, size=(8, 8)).entries[0]["mask"]
    assert (box["height"], box["width"]) == (4, 4)


@pytest.mark.parametrize("mode", ["batch", "pair", "elem"])
def test_timm_switches_between_two_laws(mode):
    fn = medley.timm.Mixup(0.2, 5.0, switch_prob=0.25, mode=mode, prob=0.75, num_classes=5, seed=1)
    kinds = {"flat": [], "box": []}
    unmixed = 0
    for step in range(200):
        for entry in fn.plan(batch=4, size=(32, 32), first=4 * step).entries:
            kinds[entry["mask"]["kind"]].append(entry["lam"])
    flat = np.array(kinds["flat"])
    unmixed = (flat == 1).sum()
    share = len(kinds["box"]) / (800 - unmixed)
    assert abs(unmixed / 800 - 0.25) < 0.11  # 200 draws in batch mode: 3.5 standard deviations
    assert abs(share - 0.25) < 0.13
    assert np.std(flat[flat < 1]) > 0.33 > 0.22 > np.std(kinds["box"])  # Beta(0.2), Beta(5)


def test_timm_pairs_share_a_draw():
    fn = medley.timm.Mixup(1.0, mode="pair", num_classes=5, seed=1)
    lam = fn.plan(batch=7, size=(8, 8)).lam
    assert np.array_equal(lam, lam[::-1])
    assert len(set(lam[:4])) == 4


def test_timm_elements_differ_and_drawn_labels():
    fn = medley.timm.Mixup(0.0, 1.0, mode="elem", correct_lam=False, num_classes=5, seed=1)
    plan = fn.plan(batch=6, size=(8, 8))
    assert len(set(plan.lam)) == 6
    assert np.array_equal(plan.lam, plan.label_weight)


@pytest.mark.parametrize("method", ["hmix", "gmix"])
def test_timm_with_other_methods(method):
    fn = medley.timm.Mixup(mixup_alpha=0.7, method=method, num_classes=5, seed=1)
    images = torch.rand(5, 3, 8, 8)
    expected = medley.Mix(method, alpha=0.7, mode="batch", pairing="reverse", seed=1)(images)
    mixed, target = fn(images.clone(), torch.arange(5))
    assert torch.equal(mixed, expected)
    assert target.shape == (5, 5)
    assert medley.timm.Mixup(method="hmix", ratio=0.25).plan(batch=2, size=(8, 8))


@pytest.mark.parametrize("option", [
    {"layout": "nhwc"}, {"out_layout": "nhwc"}, {"dtype": "f16"}, {"mean": (0.5,)}, {"std": (2,)},
    {"pad": 2}, {"flip": 0.5}, {"pad_mode": "reflect"}, {"pad_value": 1}, {"backend": "reference"},
    {"same_class": True}, {"other_class": True},
], ids=lambda option: next(iter(option)))  # fmt: skip
def test_timm_refuses_what_it_cannot_do_in_place(option):
    for kind in (medley.timm.Mixup, medley.timm.FastCollateMixup):
        with pytest.raises(TypeError, match=f"no option {next(iter(option))}; use medley.Mix"):
            kind(method="hmix", **option)


def test_timm_can_be_switched_off_and_resumed():
    fn = medley.timm.Mixup(num_classes=5)
    fn.mixup_enabled = False
    images = torch.rand(4, 1, 8, 8)
    mixed, target = fn(images.clone(), torch.arange(4))
    assert torch.equal(mixed, images)
    assert torch.allclose(target.max(1).values, torch.full((4,), 0.92))
    assert fn.state_dict()["step"] == 1
    with pytest.raises(ValueError, match="mixup_alpha > 0"):
        medley.timm.Mixup(0.0, 0.0)
    with pytest.raises(TypeError, match="ratio need a method"):
        medley.timm.Mixup(ratio=0.5)


def test_timm_fast_collate():
    fn = medley.timm.FastCollateMixup(num_classes=5, seed=2)
    batch = [(image, i % 5) for i, image in enumerate(random_images((6, 3, 8, 8), "uint8"))]
    x, target = fn(batch)
    assert x.dtype == torch.uint8 and x.shape == (6, 3, 8, 8) and target.shape == (6, 5)
    lam = fn.plan(batch=6, size=(8, 8)).lam[0]
    stacked = np.stack([image for image, _ in batch]).astype(np.float32)
    assert np.abs(statement.timm_mixup(stacked, lam) - x.numpy()).max() <= 0.5001


# torchvision


@pytest.mark.parametrize("name", ["MixUp", "CutMix", "HMix", "GMix"])
def test_torchvision_transforms(name):
    transform = getattr(medley.torchvision, name)(num_classes=5, seed=1)
    images, labels = torch.rand(6, 3, 16, 16), torch.arange(6) % 5
    before = images.clone()
    x, y = transform(images, labels)
    assert torch.equal(images, before)
    assert x.shape == images.shape and y.shape == (6, 5)
    assert torch.allclose(y.sum(1), torch.ones(6))
    plan = transform.mix.plan(batch=6, size=16)
    assert np.array_equal(plan.partner, (plan.own + 1) % 6)
    assert torch.equal(x, medley.apply(plan, images))
    transform.set_epoch(0)
    again = transform({"image": images, "labels": labels, "id": 7})
    assert again["id"] == 7 and torch.equal(again["image"], x) and torch.equal(again["labels"], y)
    transform.set_epoch(0)
    pair = transform((images, labels))
    assert isinstance(pair, tuple) and torch.equal(pair[1], y)


def test_torchvision_with_soft_labels_and_getters():
    images, soft = torch.rand(6, 3, 8, 8), torch.eye(6)
    x, y = medley.torchvision.CutMix()(images, soft)
    assert torch.allclose(y.sum(1), torch.ones(6))
    transform = medley.torchvision.MixUp(labels_getter=lambda sample: sample["y"])
    assert transform({"x": images, "y": soft})["y"].shape == (6, 6)
    transform = medley.torchvision.MixUp(labels_getter="y")
    assert transform({"x": images, "y": soft})["y"].shape == (6, 6)
    with pytest.raises(ValueError, match="num_classes must be given"):
        medley.torchvision.MixUp()(images, torch.arange(6))
    with pytest.raises(ValueError, match="no labels found"):
        medley.torchvision.MixUp()({"x": images})


def test_torchvision_finds_labels_at_any_depth():
    from collections import OrderedDict, namedtuple

    Target = namedtuple("Target", "labels path")
    images, labels = torch.rand(4, 3, 8, 8), torch.arange(4)
    expected, target = medley.torchvision.MixUp(num_classes=4, seed=1)(images, labels)
    samples = {
        "dict": ({"image": images, "t": {"labels": labels}}, lambda s: s["t"]["labels"]),
        "pair": ((images, {"Labels": labels, "id": [7]}), "default"),
        "key": ([images, {"y": labels}], "y"),
        "named": ({"image": [images], "t": Target(labels, "a")}, lambda s: s["t"].labels),
        "ordered": (OrderedDict(label=labels, image=images), "default"),
    }
    for name, (sample, getter) in samples.items():
        mixed = medley.torchvision.MixUp(num_classes=4, labels_getter=getter, seed=1)(sample)
        parts, before = (list(medley.torchvision._parts(s)) for s in (mixed, sample))
        assert [type(part) for part in parts] == [type(part) for part in before], name
        for part, old in zip(parts, before):
            if old is images:
                assert torch.equal(part, expected), name
            elif old is labels:
                assert torch.equal(part, target), name
            elif not isinstance(old, (dict, list, tuple)):
                assert part is old, name


def test_torchvision_refuses_labels_that_it_cannot_put_back():
    transform = medley.torchvision.MixUp(num_classes=4, labels_getter=lambda s: s["label"].float())
    with pytest.raises(ValueError, match="labels must be a part of the sample"):
        transform({"image": torch.rand(4, 3, 8, 8), "label": torch.arange(4)})
    assert transform.mix.step == 0


def test_torchvision_leaves_no_map_unmixed():
    images, labels = torch.rand(4, 3, 8, 6), torch.arange(4)
    maps = torch.randint(0, 5, (4, 8, 6))
    transform = medley.torchvision.CutMix(num_classes=4)
    for sample in (
        {"image": images, "labels": labels, "mask": maps},
        (images, {"labels": labels, "mask": maps}),
        {"image": images, "labels": labels, "mask": maps[:, None].as_subclass(Mask)},
        {"image": images, "labels": labels, "boxes": [torch.rand(1, 4).as_subclass(BoundingBoxes)]},
    ):
        with pytest.raises(ValueError, match=r"stay unmixed; mix class maps .*mix_class_maps\("):
            transform(sample)
    assert transform.mix.step == 0
    x, y = transform(images, maps)  # as labels they are mixed
    assert torch.equal(y, medley.mix_class_maps(transform.mix.plan(batch=4, size=(8, 6)), maps))


def test_torchvision_calls_that_fail_do_not_count():
    images = torch.rand(4, 3, 8, 8)
    transform = medley.torchvision.MixUp()
    with pytest.raises(ValueError, match="num_classes must be given"):
        transform(images, torch.arange(4))
    assert transform.mix.step == 0
    transform = medley.torchvision.MixUp(num_classes=3)
    with pytest.raises(ValueError, match=r"labels must be in \[0, 3\), got 3"):
        transform(images, torch.arange(4))
    with pytest.raises(ValueError, match="soft labels must have num_classes = 3 columns, got 4"):
        transform(images, torch.eye(4))
    assert transform.mix.step == 0


def test_torchvision_takes_one_hot_integers():
    images, one_hot = torch.rand(4, 3, 8, 8), torch.eye(4, dtype=torch.int64)
    _, expected = medley.torchvision.MixUp(num_classes=4, seed=1)(images, torch.arange(4))
    for labels in (one_hot, one_hot.bool(), one_hot.numpy()):
        _, y = medley.torchvision.MixUp(seed=1)(images, labels)
        assert np.array_equal(y, expected)


def test_torchvision_transforms_continue_after_a_restart():
    images, labels = torch.rand(4, 3, 8, 8), torch.arange(4)
    transform, again = (medley.torchvision.CutMix(num_classes=4, seed=1) for _ in range(2))
    transform(images, labels)
    again.load_state_dict(transform.state_dict())
    assert torch.equal(again(images, labels)[0], transform(images, labels)[0])


class Mask(torch.Tensor):
    """Stands for torchvision's."""


class BoundingBoxes(torch.Tensor):
    """Stands for torchvision's."""


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


def test_named_samples_keep_their_kind():
    from collections import namedtuple

    sample = namedtuple("Sample", "images labels")(torch.rand(4, 3, 8, 8), torch.arange(4))
    mixed = medley.torchvision.CutMix(num_classes=4)(sample)
    assert type(mixed) is type(sample) and mixed.labels.shape == (4, 4)


def test_timm_mixes_every_other_pixel_in_place_too():
    whole = torch.rand(4, 3, 9, 18)
    x = whole[:, :, :, ::2]
    expected, _ = medley.timm.Mixup(num_classes=4, seed=1)(x.contiguous(), torch.arange(4))
    mixed, _ = medley.timm.Mixup(num_classes=4, seed=1)(x, torch.arange(4))
    assert mixed is x and torch.equal(x, expected)

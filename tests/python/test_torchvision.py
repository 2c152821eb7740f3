"""The transforms in torchvision's style, without torchvision; tests/frameworks has those with it."""

from __future__ import annotations

import array

import numpy as np
import pytest

import medley
from medley import _samples

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import medley.torchvision  # noqa: E402


class Mask(torch.Tensor):
    """Stands for torchvision's."""


class BoundingBoxes(torch.Tensor):
    """Stands for torchvision's."""


@pytest.mark.parametrize("name", ["MixUp", "CutMix", "HMix", "GMix"])
def test_transforms(name):
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


def test_with_soft_labels_and_getters():
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


def test_finds_labels_at_any_depth():
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
        parts, before = (list(_samples.parts(s)) for s in (mixed, sample))
        assert [type(part) for part in parts] == [type(part) for part in before], name
        for part, old in zip(parts, before):
            if old is images:
                assert torch.equal(part, expected), name
            elif old is labels:
                assert torch.equal(part, target), name
            elif not isinstance(old, (dict, list, tuple)):
                assert part is old, name


def test_refuses_labels_that_it_cannot_put_back():
    transform = medley.torchvision.MixUp(num_classes=4, labels_getter=lambda s: s["label"].float())
    with pytest.raises(ValueError, match="labels must be a part of the sample"):
        transform({"image": torch.rand(4, 3, 8, 8), "label": torch.arange(4)})
    assert transform.mix.step == 0


def test_leaves_no_map_unmixed():
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


def test_calls_that_fail_do_not_count():
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


def test_takes_one_hot_integers():
    images, one_hot = torch.rand(4, 3, 8, 8), torch.eye(4, dtype=torch.int64)
    _, expected = medley.torchvision.MixUp(num_classes=4, seed=1)(images, torch.arange(4))
    for labels in (one_hot, one_hot.bool(), one_hot.numpy()):
        _, y = medley.torchvision.MixUp(seed=1)(images, labels)
        assert np.array_equal(y, expected)


def test_transforms_continue_after_a_restart():
    images, labels = torch.rand(4, 3, 8, 8), torch.arange(4)
    transform, again = (medley.torchvision.CutMix(num_classes=4, seed=1) for _ in range(2))
    transform(images, labels)
    again.load_state_dict(transform.state_dict())
    assert torch.equal(again(images, labels)[0], transform(images, labels)[0])


def test_named_samples_keep_their_kind():
    from collections import namedtuple

    sample = namedtuple("Sample", "images labels")(torch.rand(4, 3, 8, 8), torch.arange(4))
    mixed = medley.torchvision.CutMix(num_classes=4)(sample)
    assert type(mixed) is type(sample) and mixed.labels.shape == (4, 4)


class Image(torch.Tensor):
    """Stands for torchvision's."""


class KeyPoints(torch.Tensor):
    """Stands for torchvision's."""


IMAGES, LABELS = torch.rand(4, 3, 8, 6), torch.arange(4)


@pytest.mark.parametrize("key", ["labels", "LABELS", "LaBeL", "KEY_WITH_LABeL_IN_IT"])
@pytest.mark.parametrize("form", [tuple, list])
def test_labels_under_a_key_of_a_longer_sample(form, key):
    sample = form((IMAGES, {key: LABELS, "other": "x"}, "again"))
    mixed = medley.torchvision.MixUp(num_classes=4, seed=1)(sample)
    expected = medley.torchvision.MixUp(num_classes=4, seed=1)(IMAGES, LABELS)
    assert type(mixed) is form and mixed[2] == "again"
    assert torch.equal(mixed[0], expected[0]) and torch.equal(mixed[1][key], expected[1])


def test_the_key_labels_comes_first():
    mixed = medley.torchvision.MixUp(num_classes=4)(
        {"label_names": ["a"], "label": "b", "labels": LABELS, "image": IMAGES}
    )
    assert mixed["labels"].shape == (4, 4) and mixed["label"] == "b"


@pytest.mark.parametrize(
    "sample, text",
    [
        ((IMAGES, "cat"), "labels must be an array or list of numbers.*got str"),
        ((IMAGES, ["cat"] * 4), "labels must be an array or list of numbers.*got list"),
        ({"image": IMAGES, "labels": "cat"}, "labels must be an array or a list.*str under labels"),
        ((IMAGES, torch.tensor(3)), "labels must be classes of shape"),
        (IMAGES, "labels must come with the images"),
        ({"image": IMAGES, "y": LABELS}, "no labels found: .* got image, y; labels_getter"),
        ((IMAGES[None, None], LABELS), r"a batch of images \(N, C, H, W\) .* \(1, 1, 4, 3, 8, 6\)"),
        ({"x": [torch.rand(2, 2).as_subclass(KeyPoints)], "labels": LABELS}, "KeyPoints"),
        ((IMAGES[0].as_subclass(Image), LABELS), r"Image must have the shape \(N, C, H, W\)"),
    ],
)
def test_samples_that_cannot_be_meant(sample, text):
    transform = medley.torchvision.CutMix(num_classes=4)
    with pytest.raises(ValueError, match=text):
        transform(sample)
    assert transform.mix.step == 0


def test_pil_images_are_refused():
    pillow = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    with pytest.raises(ValueError, match="got a PIL image"):
        medley.torchvision.CutMix(num_classes=4)(pillow.new("RGB", (4, 4)), LABELS)


def test_videos_and_several_batches_of_images_have_one_draw():
    def transform():
        return medley.torchvision.CutMix(num_classes=4, seed=1)

    expected, target = transform()(IMAGES, LABELS)
    video = torch.stack([IMAGES, IMAGES.neg()], 1)
    mixed, y = transform()(video, LABELS)
    assert mixed.shape == video.shape and torch.equal(y, target)
    assert torch.equal(mixed[:, 0], expected) and torch.equal(mixed[:, 1], expected.neg())
    one = transform()
    both = one({"a": IMAGES, "b": IMAGES.neg(), "labels": LABELS})
    assert torch.equal(both["a"], expected) and torch.equal(both["b"], expected.neg())
    assert one.mix.step == 1
    explicit = transform()({"a": IMAGES, "b": IMAGES.as_subclass(Image), "labels": LABELS})
    assert explicit["a"] is IMAGES and torch.equal(explicit["b"], expected)
    with pytest.raises(ValueError, match="one size for cutmix, got 4x4 and 8x6"):
        transform()({"a": IMAGES, "b": IMAGES[:, :, :4, :4], "labels": LABELS})


def test_images_without_labels():
    alone = medley.torchvision.MixUp(labels_getter=None, seed=1)(IMAGES)
    assert torch.equal(alone, medley.torchvision.MixUp(num_classes=4, seed=1)(IMAGES, LABELS)[0])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_soft_labels_keep_their_dtype(dtype):
    assert medley.torchvision.MixUp()(IMAGES, torch.eye(4).to(dtype))[1].dtype == dtype


@pytest.mark.parametrize("labels", [LABELS[:, None], torch.nn.functional.one_hot(LABELS, 4),
                                    torch.nn.functional.one_hot(LABELS, 4) > 0])
def test_columns_and_one_hot_rows_are_classes(labels):
    _, expected = medley.torchvision.MixUp(num_classes=4, seed=1)(IMAGES, LABELS)
    _, y = medley.torchvision.MixUp(num_classes=4, seed=1)(IMAGES, labels)
    assert torch.allclose(y, expected)


def test_normalizes_as_other_mixers():
    pixels = (IMAGES * 255).to(torch.uint8)
    options = dict(dtype="f32", mean=(0.5,) * IMAGES.shape[1], std=(0.2,) * IMAGES.shape[1])
    x, _ = medley.torchvision.MixUp(num_classes=4, seed=1, **options)(pixels, LABELS)
    plain, _ = medley.torchvision.MixUp(num_classes=4, seed=1, dtype="f32")(pixels, LABELS)
    assert torch.allclose(x, (plain / 255 - 0.5) / 0.2, atol=1e-5)


def test_transforms_are_modules():
    transform = medley.torchvision.MixUp(alpha=0.5, num_classes=4, seed=1)
    assert transform.to("cpu").eval() is transform and transform.alpha == 0.5
    assert repr(transform).startswith("MixUp(num_classes=4, mix=")
    sequence = torch.nn.Sequential(transform)
    assert sequence.state_dict() == {} and sequence((IMAGES, LABELS))[1].shape == (4, 4)
    sequence.load_state_dict({})
    assert transform.mix.step == 1


@pytest.mark.parametrize("kind", [list, tuple, array.array, np.array, memoryview])
def test_labels_of_every_kind(kind):
    labels = array.array("q", LABELS.tolist())
    labels = kind("q", labels) if kind is array.array else kind(labels)
    _, y = medley.torchvision.CutMix(num_classes=4, seed=1)(IMAGES, labels)
    _, expected = medley.torchvision.CutMix(num_classes=4, seed=1)(IMAGES, LABELS)
    assert np.array_equal(y, expected)

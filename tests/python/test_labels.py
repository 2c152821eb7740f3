"""Mixed labels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import METHODS, mixer, random_images
from hypothesis import given
from hypothesis import strategies as st

import medley
import medley.data

LABELS = np.array([3, 1, 4, 1, 5])


def plan_of(method, **options):
    return mixer(method, seed=1, **options).plan(batch=5, size=32)


@pytest.mark.parametrize("method", METHODS)
def test_pairs_and_weights(method):
    plan = plan_of(method)
    y = medley.mix_labels(plan, LABELS)
    assert np.array_equal(y.y_a, LABELS)
    assert np.array_equal(y.weight, plan.label_weight)
    assert np.allclose(y.weights.sum(1), 1)
    if method != "nmixup":
        assert np.array_equal(y.y_b, LABELS[plan.partner])
    y_a, y_b, weight = y
    assert (y_a is not None) and len(y) == 5


@given(st.floats(0, 1), st.integers(6, 20))
def test_soft_rows(smoothing, num_classes):
    plan = plan_of("mixup")
    y = medley.mix_labels(plan, LABELS)
    rows = y.soft(num_classes, smoothing)
    one = np.eye(num_classes) * (1 - smoothing) + smoothing / num_classes
    w = plan.label_weight[:, None]
    expected = w * one[LABELS] + (1 - w) * one[LABELS[plan.partner]]
    assert rows.dtype == np.float32
    assert np.allclose(rows, expected, atol=1e-6)


def test_array_protocol():
    x, y = medley.Mixup(seed=1, num_classes=10)(random_images((5, 1, 4, 4)), LABELS)
    assert np.array_equal(np.asarray(y), y.soft(10))
    assert np.asarray(y, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="num_classes must be given"):
        np.asarray(medley.mix_labels(plan_of("mixup"), LABELS))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_any_integers(dtype):
    y = medley.mix_labels(plan_of("mixup"), LABELS.astype(dtype))
    assert np.array_equal(y.y_a, LABELS) and y.classes.dtype == np.int64


def test_integers_are_int64_itself():
    plan = plan_of("mixup")
    maps = np.zeros((5, 32, 32), np.int32)
    y = medley.mix_labels(plan, LABELS)
    arrays = (y.y_a, y.y_b, medley.mix_class_maps(plan, maps), plan.own, plan.partner,
              medley.data.synthetic(1, size=8)[1])  # fmt: skip
    assert all(array.dtype.type is np.int64 for array in arrays)


def test_lists_of_labels():
    y = medley.mix_labels(plan_of("mixup"), [3, 1, 4, 1, 5])
    assert np.array_equal(y.y_a, LABELS)


@pytest.mark.parametrize("labels, error, text", [
    (LABELS[:3], ValueError, "there are labels for 3"),
    (LABELS[:, None], ValueError, "labels must have one axis"),
    (np.array([3, 1, 4, 1, 12]), ValueError, r"labels must be in \[0, 10\), got 12"),
    (np.array(["a"] * 5), TypeError, "labels"),
])  # fmt: skip
def test_wrong_labels(labels, error, text):
    with pytest.raises(error, match=text):
        medley.mix_labels(plan_of("mixup"), labels, 10)


@pytest.mark.parametrize("labels", [
    np.arange(9), np.arange(4), np.zeros((6, 3), np.float32), np.zeros((4, 32, 32), np.int64),
])  # fmt: skip
def test_labels_are_one_per_image(labels):
    mix = medley.Mixup()
    with pytest.raises(ValueError, match=f"one per image, got {len(labels)} for 5 images"):
        mix(random_images((5, 1, 32, 32)), labels)


def test_class_maps_have_the_size_of_the_images():
    with pytest.raises(ValueError, match="size of the images, 32x32, got 31x32"):
        medley.NoMix()(random_images((2, 1, 32, 32)), np.zeros((2, 31, 32), np.int64))


def test_vectors_are_mixed():
    images = random_images((5, 1, 32, 32))
    soft = np.random.default_rng(0).random((5, 7)).astype(np.float32)
    mix = medley.CutMix(seed=1)
    plan = mix.plan(batch=5, size=32)
    x, y = mix(images, soft)
    w = plan.label_weight[:, None]
    assert np.allclose(y, w * soft + (1 - w) * soft[plan.partner], atol=1e-6)
    assert medley.mix_vectors(plan, soft[:, 0].astype(np.float64)).shape == (5,)
    assert medley.mix_vectors(plan, soft.astype(np.float16)).dtype == np.float32
    with pytest.raises(ValueError, match="mix soft maps like images"):
        mix(images, soft[:, :, None])


def test_class_maps_follow_the_mask():
    maps = np.random.default_rng(0).integers(0, 6, (5, 32, 32))
    mix = medley.CutMix(seed=1)
    plan = mix.plan(batch=5, size=32)
    x, y = mix(random_images((5, 1, 32, 32)), maps)
    own = medley.masks(plan) >= 0.5
    assert np.array_equal(y, np.where(own, maps, maps[plan.partner]))
    soft = medley.mix_class_maps_soft(plan, maps, 6)
    assert soft.shape == (5, 6, 32, 32)
    assert np.array_equal(soft.argmax(1), y)


def test_pickles():
    y = medley.mix_labels(plan_of("mixup"), LABELS, 10)
    again = pickle.loads(pickle.dumps(y))
    assert np.array_equal(again.soft(), y.soft())

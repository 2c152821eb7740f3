"""Mixed labels."""

from __future__ import annotations

import pickle
import subprocess
import sys

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
    (np.stack([LABELS, LABELS], 1), ValueError, "labels must have one axis"),
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
    plan = medley.NoMix().plan(batch=2, size=(2, 3))
    maps = np.arange(12).reshape(2, 3, 2)
    for call in (medley.mix_class_maps, lambda *a, **k: medley.mix_class_maps_soft(*a, 12, **k)):
        with pytest.raises(ValueError, match="plan's size, 2x3 .*, got 3x2; set windows"):
            call(plan, maps)
        assert call(plan, maps, windows=True).shape[-2:] == (2, 3)
    assert np.array_equal(
        medley.mix_class_maps(plan, maps, windows=True), [[[0, 1, -1], [2, 3, -1]],
                                                          [[6, 7, -1], [8, 9, -1]]]
    )


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
    assert again == y and np.array_equal(again.soft(), y.soft())


def test_a_column_of_classes_is_classes():
    images = random_images((5, 1, 32, 32))
    _, expected = medley.Mixup(seed=1)(images, LABELS)
    for labels in (LABELS[:, None], LABELS[:, None].astype(np.int32), LABELS[:, None].tolist()):
        assert medley.Mixup(seed=1)(images, labels)[1] == expected
    plan = medley.Mixup(seed=1).plan(batch=5, size=32)
    assert medley.mix_labels(plan, LABELS[:, None]) == expected
    x, y = medley.Mixup(seed=1, same_class=True)(images, LABELS[:, None])
    assert np.array_equal(y.y_a, y.y_b)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_rows_of_zeros_and_ones_are_mixed_as_vectors(dtype):
    images = random_images((5, 1, 32, 32))
    hot = np.eye(7)[LABELS] + (np.arange(7) == 6)
    _, expected = medley.CutMix(seed=1)(images, hot)
    _, y = medley.CutMix(seed=1)(images, hot.astype(dtype))
    assert y.dtype == np.float32 and np.array_equal(y, expected)
    _, y = medley.CutMix(seed=1)(images, hot[:, 6:].astype(bool))  # one answer, not a class
    assert np.array_equal(y, np.ones((5, 1)))


def test_rows_of_other_integers_are_refused():
    with pytest.raises(ValueError, match="one-hot or multi-hot, of 0 and 1, got 4"):
        medley.Mixup()(random_images((5, 1, 4, 4)), np.full((5, 2), 4))


def test_labels_that_losses_leave_out_pass():
    labels = np.array([3, -100, 4, 1, 5])
    for num_classes in (None, 10):
        y = medley.mix_labels(plan_of("mixup"), labels, num_classes)
        assert np.array_equal(y.y_a, labels)
    with pytest.raises(ValueError, match="got -100"):
        y.soft()
    with pytest.raises(ValueError, match="labels must be >= 0, got -1"):
        medley.mix_labels(plan_of("mixup"), labels.clip(-1))


def test_comparing_with_predictions_is_refused():
    y = medley.mix_labels(plan_of("mixup"), LABELS)
    for other in (LABELS, LABELS.tolist(), 3, np.int64(3)):
        for compare in (lambda: y == other, lambda: other == y, lambda: y != other):
            with pytest.raises(TypeError, match="medley.torch.accuracy"):
                compare()
    assert y == medley.mix_labels(plan_of("mixup"), LABELS)
    assert y != medley.mix_labels(plan_of("mixup"), LABELS + 1)
    assert y != medley.mix_labels(plan_of("mixup"), LABELS, 10) and y != None  # noqa: E711


@pytest.mark.parametrize("rows", [slice(1, 4), [0, 3], np.array([True, False, True, False, True])])
def test_rows_are_labels_of_samples(rows):
    y = medley.mix_labels(plan_of("nmixup"), LABELS, 10)
    some = y[rows]
    assert np.array_equal(some.classes, y.classes[rows]) and some.num_classes == 10
    assert np.array_equal(some.soft(), y.soft()[rows])
    assert some.shape == (len(some),) == some.y_b.shape


@pytest.mark.parametrize("row", [0, (0, 1), "weight", np.int64(0)])
def test_single_rows_say_what_to_write(row):
    with pytest.raises(TypeError, match=r"y\[3:4\] has the label of one sample"):
        medley.mix_labels(plan_of("mixup"), LABELS)[row]


@pytest.mark.parametrize("call", ["to", "cuda", "cpu", "pin_memory"])
def test_arrays_do_not_move(call):
    y = medley.mix_labels(plan_of("mixup"), LABELS)
    with pytest.raises(TypeError, match=f"^{call} is for labels that are PyTorch tensors"):
        getattr(y, call)()


WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
from array import array
import copy, pickle
import medley

images = memoryview(array("f", range(5 * 16))).cast("B").cast("f", (5, 4, 4))
labels = [3, 1, 4, 1, 5]
for method in ("mixup", "nmixup"):
    x, y = medley.Mix(method, seed=1, num_classes=6)(images, labels)
    assert x.shape == (5, 4, 4) and len(y) == 5 and y.shape == (5,)
    y_a, y_b, weight = y
    assert list(y_a) == labels, list(y_a)
    assert set(y_b) <= set(labels) and all(0 <= w <= 1 for w in weight)
    assert y.classes.tolist() == [list(row) for row in zip(*(
        [row[k] for row in y.classes.tolist()] for k in range(y.classes.shape[1])))]
    assert [round(sum(row), 6) for row in y.weights.tolist()] == [1] * 5
    assert y.soft().shape == (5, 6)
    assert y[1:3].y_a.tolist() == labels[1:3] and len(y[:0]) == 0 == len(y[:0].y_a)
    assert pickle.loads(pickle.dumps(y)) == y == copy.deepcopy(y) and y[1:] != y
    assert str(labels) in repr(y)
x, y = medley.Mixup(seed=1)(images, array("d", [0.5, 1, 2, 3, 4]))
assert y.shape == (5,)
try:
    medley.Mixup(seed=1)(images, [[0, 1]] * 5)
except TypeError as error:
    assert "need NumPy" in str(error)
"""


def test_labels_without_numpy():
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

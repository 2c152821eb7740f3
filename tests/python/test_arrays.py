"""Arrays in and out: frameworks, dtypes, layouts, strides."""

from __future__ import annotations

import array
import threading
import time

import numpy as np
import pytest
from conftest import METHODS, mixer, random_images
from hypothesis import given
from hypothesis import strategies as st

import medley
import statement

TWO_SOURCES = [m for m in METHODS if m not in ("nmixup", "resizemix")]
IN_PLACE = [info["name"] for info in medley.methods() if info["in_place"]]


@pytest.mark.parametrize("method", TWO_SOURCES)
def test_agrees_with_the_statement(method):
    images = random_images((5, 3, 32, 32))
    plan = mixer(method, seed=1).plan(batch=5, size=32)
    expected = statement.mix(plan, medley.masks(plan), images)
    # The statement forms 1 - M in float32, the kernels round it from float64.
    assert np.allclose(medley.apply(plan, images), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_inputs_stay_untouched(method):
    images = random_images((4, 3, 32, 32))
    before = images.copy()
    mixer(method, seed=1)(images)
    assert np.array_equal(images, before)


@pytest.mark.parametrize("method", IN_PLACE)
def test_in_place(method):
    images = random_images((5, 3, 32, 32))
    plan = mixer(method, seed=1).plan(batch=5, size=32)
    expected = medley.apply(plan, images)
    result = medley.apply(plan, images, inplace=True)
    assert result is images
    assert np.array_equal(images, expected)


def test_in_place_where_it_cannot_be():
    images = random_images((4, 3, 8, 8))
    with pytest.raises(ValueError, match="cannot be mixed in place"):
        medley.ResizeMix(seed=1)(images, inplace=True)
    with pytest.raises(ValueError, match="out must have contiguous rows"):
        medley.Mixup()(images[:, :, :, ::2], inplace=True)
    with pytest.raises(ValueError, match="cannot be combined with out"):
        medley.Mixup()(images, inplace=True, out=images.copy())


def test_out_is_filled_and_returned():
    images = random_images((4, 3, 8, 8))
    mix = medley.HMix(seed=1)
    plan = mix.plan(batch=4, size=8)
    out = np.empty_like(images)
    assert medley.apply(plan, images, out=out) is out
    assert np.array_equal(out, medley.apply(plan, images))


@pytest.mark.parametrize("out, text", [
    (np.empty((4, 3, 8, 9), np.float32), "the output must be 4x3x8x8"),
    (np.empty((4, 3, 8, 16), np.float32)[..., ::2], "out must have contiguous rows"),
    (np.broadcast_to(np.float32(0), (4, 3, 8, 8)), "out must be writable"),
])  # fmt: skip
def test_out_that_does_not_fit(out, text):
    with pytest.raises(ValueError, match=text):
        medley.Mixup()(random_images((4, 3, 8, 8)), out=out)


@pytest.mark.parametrize("labels", [None, np.arange(4)])
def test_results_have_the_dtype_that_was_asked_for(labels):
    images = random_images((4, 3, 8, 8), "uint8")
    before = images.copy()
    mix = medley.Mixup(dtype="f32", mean=(0.5, 0.5, 0.5), std=(0.2, 0.2, 0.2), seed=1)
    half = np.zeros(images.shape, np.float16)
    with pytest.raises(ValueError, match="images, which inplace=True .* float32, got uint8"):
        mix(images, labels, inplace=True)
    with pytest.raises(ValueError, match="out must have the dtype .* float32, got float16"):
        mix(images, labels, out=half)
    with pytest.raises(ValueError, match="out must have the dtype .* float32, got float16"):
        medley.apply(mix.plan(batch=4, size=8), images, out=half, dtype="f32")
    assert mix.step == 0 and not half.any() and np.array_equal(images, before)
    expected = mix(images, epoch=0, first=0)
    assert np.array_equal(mix(images, out=np.zeros(images.shape, np.float32)), expected)


def test_out_may_not_overlap_the_input():
    memory = random_images((5, 3, 8, 8))
    with pytest.raises(ValueError, match="overlap"):
        medley.Mixup()(memory[:4], out=memory[1:])


@pytest.mark.parametrize("images, error, text", [
    ([1, 2], TypeError, "must be an array .*got list"),
    (np.zeros((2, 1, 4, 4)), TypeError, "got float64"),
    (np.zeros((2, 1, 4, 4), np.int64), TypeError, "got int64"),
    (np.zeros((2, 1, 4, 4), complex), TypeError, "got complex128"),
    (np.zeros(4, np.float32), ValueError, "must have 4 axes"),
    (np.zeros((2, 1, 1, 4, 4), np.float32), ValueError, "must have 4 axes"),
    (np.zeros((0, 1, 4, 4), np.float32), ValueError, r"batch of at least one, got the shape \(0, 1, 4, 4\)"),
    (np.zeros((2, 0, 4, 4), np.float32), ValueError, "at least one image, channel and pixel"),
    (np.zeros((2, 1, 0, 4), np.float32), ValueError, "height and width"),
])  # fmt: skip
def test_wrong_images(images, error, text):
    with pytest.raises(error, match=text):
        medley.Mixup()(images)


@pytest.mark.parametrize("shape", [(64, 400), (64, 2, 1, 400), (64, 2, 400, 1)])
@pytest.mark.parametrize(
    "mix, weight",
    [
        (medley.CutMix(seed=1, lam=0.5, placement="inside"), 0.5),
        (medley.CutMix(seed=1, lam=0.5), 0.5625),  # cut at the border
        (medley.Stochastic(seed=1, lam=0.5, q_mix=0, placement="wrap"), 0.5),
        (medley.HMix(seed=1, lam=0.5), 0.5),
        (medley.GMix(seed=1, lam=0.5, form="calibrated"), 0.5),
        (medley.ResizeMix(seed=1, lam=0.5, placement="inside"), 0.5),
    ],
    ids=["inside", "clipped", "stochastic", "hmix", "gmix", "resizemix"],
)
def test_methods_cut_segments_of_one_row(mix, weight, shape):
    images = np.empty(shape, np.float32)
    images[:] = np.arange(64).reshape(-1, *[1] * (len(shape) - 1))
    x, y = mix(images, np.arange(64))
    assert abs(float(y.weight.mean()) - weight) < 0.06
    own = (x == images).reshape(64, -1).mean(1)
    if mix.method in ("cutmix", "stochastic"):
        assert np.allclose(np.where(y.y_a == y.y_b, 1, y.weight), own)
    elif mix.method == "hmix":  # a box of a quarter of the row
        partner = x.reshape(64, -1) == y.y_b[:, None]
        assert 0.15 < partner[y.y_a != y.y_b].mean() < 0.26


def test_gmix_of_one_row_has_the_share_of_an_image():
    for form in ("code", "paper"):
        mix = medley.GMix(seed=1, lam=0.95, form=form)  # of wide bumps more lies outside
        row, square = (
            float(mix.plan(batch=4000, size=size).label_weight.mean()) for size in ((1, 1024), 32)
        )
        assert abs(row - square) < 0.02, form


def test_gray_images_and_vectors():
    gray = random_images((4, 8, 6))
    mix = medley.CutMix(seed=1)
    x = mix(gray, epoch=0, first=0)
    assert np.array_equal(x, mix(gray[:, None], epoch=0, first=0)[:, 0])
    vectors = random_images((4, 10))
    x = medley.Bernoulli(seed=1)(vectors)
    assert x.shape == (4, 10)
    plan = medley.Bernoulli(seed=1).plan(batch=4, size=(1, 10))
    assert np.array_equal(x, medley.apply(plan, vectors[:, None, None])[:, 0, 0])


def test_no_layout_is_no_layout():
    images = random_images((4, 3, 8, 8))
    plan = medley.Mixup().plan(batch=4, size=8)
    for call in (
        lambda: medley.apply(plan, images, layout=None),
        lambda: medley._core.image_info(images, None),
        lambda: medley._core.Settings(
            None, None, medley._core.Options(), 0, False, True, None, None
        ),
    ):
        with pytest.raises(ValueError, match="layout must be nchw or nhwc, got None"):
            call()


def test_layouts_agree():
    images = random_images((4, 3, 8, 6))
    mix = medley.GMix(seed=1)
    plan = mix.plan(batch=4, size=(8, 6))
    expected = medley.apply(plan, images)
    nhwc = np.ascontiguousarray(images.transpose(0, 2, 3, 1))
    assert np.array_equal(medley.apply(plan, nhwc, layout="nhwc"), expected.transpose(0, 2, 3, 1))
    # Channels last in memory, N C H W as axes: recognized, and the result is the same way.
    view = nhwc.transpose(0, 3, 1, 2)
    assert medley._core.image_info(view) == {
        "shape": (4, 3, 8, 6), "dtype": "f32", "memory": "nhwc", "copied": False, "cuda": False,
    }  # fmt: skip
    result = medley.apply(plan, view)
    assert np.array_equal(result, expected)
    assert result.strides == view.strides
    assert np.array_equal(medley.apply(plan, nhwc, layout="nhwc", out_layout="nchw"), expected)


def test_converts_and_normalizes():
    images = random_images((4, 3, 8, 8), "uint8")
    mix = medley.Mixup(seed=1, dtype="f32", mean=(0.4, 0.45, 0.5), std=(0.2, 0.25, 0.3))
    x = mix(images, epoch=0, first=0)
    assert x.dtype == np.float32
    plain = medley.Mixup(seed=1, dtype=np.float32)(images)
    mean = np.array([0.4, 0.45, 0.5], np.float32)[:, None, None]
    std = np.array([0.2, 0.25, 0.3], np.float32)[:, None, None]
    assert np.allclose(x, (plain / 255 - mean) / std, atol=1e-5)


def normalized(images, **options):
    """By every way that takes statistics."""
    plan = medley.Mixup(seed=1).plan(batch=4, size=8)
    return [medley.Mixup(seed=1, **options)(images), medley.apply(plan, images, **options)]


@pytest.mark.parametrize("dtype, one", [("uint8", 255), ("float32", 1), ("float16", 1)])
def test_statistics_are_those_of_values_from_0_to_1(dtype, one):
    pixels = random_images((4, 3, 8, 8), "uint8")
    images = pixels if dtype == "uint8" else (pixels / np.float32(255)).astype(dtype)
    mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    plain = normalized(images, dtype="f32")[0] / one
    expected = (plain - np.array(mean)[:, None, None]) / np.array(std)[:, None, None]
    for x in normalized(images, dtype="f32", mean=mean, std=std):
        assert np.allclose(x, expected, atol=1e-5) and -3 < x.mean() < 3
    own = {"mean": [one * m for m in mean], "std": [one * s for s in std], "max_pixel_value": 1}
    for x in normalized(images, dtype="f32", **own):
        assert np.allclose(x, expected, atol=1e-5)
    for x in normalized(images * np.float32(1), mean=mean, std=std, max_pixel_value=one):
        assert np.allclose(x, expected, atol=1e-3)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("mean, std, text", [
    ((123.7, 116.3, 103.5), (58.4, 57.1, 57.4), "got mean 123.7: divide them by 255"),
    ((0.5, 0.5, 0.5), (58.4, 57.1, 57.4), "got std 58.4: divide them by 255"),
    ((0.5, -0.5, 0.5), (0.5, 0.5, 0.5), "got mean -0.5"),
    ((0.5,), (0.5,), "a number per channel, 3, got 1"),
])  # fmt: skip
def test_statistics_that_cannot_be_meant(dtype, mean, std, text):
    with pytest.raises(ValueError, match=text):
        normalized(random_images((4, 3, 8, 8), dtype), dtype="f32", mean=mean, std=std)


def test_normalized_values_do_not_fit_into_bytes():
    images = random_images((4, 1, 8, 8), "uint8")
    before = images.copy()
    for options in ({}, {"out": np.zeros_like(images)}, {"inplace": True}):
        mix = medley.Mixup(mean=(0.5,), std=(0.5,))
        with pytest.raises(ValueError, match='need a result of floats, got uint8: give dtype="f32"'):
            mix(images, **options)
        assert mix.step == 0 and np.array_equal(images, before)


def test_windows_pad_and_flip():
    images = random_images((4, 1, 8, 8), "uint8")
    x = medley.NoMix(seed=1, pad=2, flip=0.5, pad_value=7)(images)
    plan = medley.NoMix(seed=1, pad=2, flip=0.5).plan(batch=4, size=8)
    padded = np.pad(images, ((0, 0), (0, 0), (2, 2), (2, 2)), constant_values=7)
    for b, entry in enumerate(plan.entries):
        window = entry.get("window", {"dy": 0, "dx": 0, "flip": False})
        top, left = window["dy"] + 2, window["dx"] + 2
        cut = padded[b, 0, top : top + 8, left : left + 8]
        assert np.array_equal(x[b, 0], cut[:, ::-1] if window["flip"] else cut)


@pytest.mark.parametrize("backend", medley.backends())
def test_backends_agree(backend):
    images = random_images((4, 3, 16, 16))
    plan = medley.HMix(seed=1).plan(batch=4, size=16)
    expected = medley.apply(plan, images, backend="reference")
    assert np.array_equal(medley.apply(plan, images, backend=backend, threads=2), expected)


def test_plain_buffers():
    values = array.array("f", range(32))
    images = memoryview(values).cast("B").cast("f", (2, 1, 4, 4))
    x = medley.Mixup(seed=1)(images)
    expected = medley.Mixup(seed=1)(np.array(values, np.float32).reshape(2, 1, 4, 4))
    assert np.array_equal(x, expected)


@given(
    method=st.sampled_from(METHODS),
    dtype=st.sampled_from(["uint8", "float16", "float32"]),
    shape=st.tuples(*[st.integers(1, n) for n in (5, 4, 9, 11)]),
    steps=st.tuples(*[st.sampled_from([1, 2, -1, -3]) for _ in range(4)]),
    axes=st.permutations(range(4)),
    broadcast=st.sampled_from([None, 0, 1, 2, 3]),
    seed=st.integers(0, 2**64 - 1),
)
def test_any_strides_give_what_a_contiguous_copy_gives(
    method, dtype, shape, steps, axes, broadcast, seed
):
    slack = [n * abs(s) for n, s in zip(shape, steps)]
    memory = random_images([slack[a] for a in axes], dtype, seed % 1000)
    images = memory.transpose(np.argsort(axes))
    images = images[tuple(slice(None, None, s) for s in steps)]
    images = images[tuple(slice(0, n) for n in shape)]
    if broadcast is not None:
        images = np.broadcast_to(images.take([0], broadcast), images.shape)
    if method == "custom":
        mix = medley.Custom(np.full(images.shape[2:], 0.25), seed=seed)
    else:
        mix = medley.Mix(method, seed=seed)
    plan = mix.plan(batch=len(images), size=images.shape[2:])
    expected = medley.apply(plan, np.ascontiguousarray(images))
    result = medley.apply(plan, images)
    assert result.dtype == images.dtype and result.shape == images.shape
    assert np.array_equal(result, expected, equal_nan=dtype != "uint8")


@given(offset=st.integers(0, 7), gap=st.integers(0, 3))
def test_unaligned_and_padded_rows(offset, gap):
    raw = np.zeros(4 * 3 * 8 * (6 + gap) * 4 + offset, np.uint8)
    padded = raw[offset:].view(np.float32).reshape(4, 3, 8, 6 + gap)
    padded[...] = random_images(padded.shape)
    images = padded[..., :6]
    plan = medley.Mixup(seed=1).plan(batch=4, size=(8, 6))
    expected = medley.apply(plan, images.copy())
    assert np.array_equal(medley.apply(plan, images), expected)
    assert medley._core.image_info(images)["copied"] == (offset % 4 != 0)


@pytest.mark.parametrize("what", ["mixing", "copying"])
def test_the_gil_is_released(what):
    images = np.ones((64, 3, 224, 224), np.float32)
    plan = medley.GMix(seed=1).plan(batch=64, size=224)
    backend = "reference"
    if what == "copying":
        images = images.swapaxes(2, 3)
        plan = medley.NoMix().plan(batch=64, size=224)
        backend = "cpu"
    out = np.ones(images.shape, np.float32)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    medley.apply(plan, images, out=out, threads=1, backend=backend)
    end = time.perf_counter()
    done.set()
    thread.join()
    # With the GIL held the other thread could not run in the middle of the call.
    length = end - begin
    assert any(begin + 0.3 * length < t < end - 0.3 * length for t in ticks)


def kinds():
    yield "numpy", np.asarray
    try:
        import torch
    except ImportError:
        return
    yield "torch", lambda array: torch.from_numpy(np.ascontiguousarray(array))


@pytest.mark.parametrize("name, convert", list(kinds()))
@pytest.mark.parametrize("shape", [(8, 3, 16, 16), (8, 16, 16), (8, 20)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32])
def test_the_quick_way_is_the_long_way(name, convert, shape, dtype):
    images = convert(random_images(shape).astype(dtype))
    labels = convert(np.arange(8))
    quick, long = medley.Mixup(seed=3), medley.Mixup(seed=3)
    for out in (None, convert(np.zeros(shape, dtype))):
        x, y = quick(images, labels, out=out)
        x = np.array(x)
        expected, z = long(images, labels, out=out, threads=1)  # no quick way with threads
        assert type(expected) is type(images)
        assert np.array_equal(x, np.asarray(expected))
        assert np.array_equal(np.asarray(y.classes), np.asarray(z.classes))
        assert np.array_equal(np.asarray(y.weights), np.asarray(z.weights))
        assert y.weights.dtype == z.weights.dtype and len(y) == 8
    assert quick.state_dict() == long.state_dict()


@pytest.mark.parametrize("name, convert", list(kinds()))
def test_new_arrays_are_writable_and_outlive_the_mixer(name, convert):
    images = convert(random_images((4, 3, 8, 8)))
    mix = medley.CutMix(seed=1)
    x = mix(images)
    assert tuple(x.shape) == (4, 3, 8, 8) and x.dtype == images.dtype
    kept = np.array(x)
    del mix
    assert np.array_equal(np.asarray(x), kept)
    x[0] = 0
    assert not np.asarray(x)[0].any()


def test_plans_are_for_images_of_their_size():
    images = random_images((4, 32, 48, 3))
    plan = medley.CutMix().plan(batch=4, size=(32, 48))
    with pytest.raises(ValueError, match="images of the plan's size, 32x48"):
        medley.apply(plan, images)
    assert medley.apply(plan, images, layout="nhwc").shape == images.shape
    windows = medley.CutMix(pad=2).plan(batch=4, size=8)
    large = random_images((4, 3, 16, 16))
    with pytest.raises(ValueError, match="images of the plan's size, 8x8 .*, got 16x16; set windows"):
        medley.apply(windows, large)
    assert medley.apply(windows, large, windows=True).shape == (4, 3, 8, 8)


def test_a_call_that_fails_does_not_count():
    mix = medley.Mixup()
    images = random_images((4, 3, 8, 8))
    mix(images)
    with pytest.raises(TypeError, match="images must be"):
        mix(images.astype(np.float64))
    with pytest.raises(ValueError):
        mix(images, out=np.zeros((3, 3, 8, 8), np.float32))
    assert mix.step == 1


class _Elsewhere(np.ndarray):
    """An array that says it is on a GPU, although it has the buffer protocol, as JAX's do."""

    def __dlpack_device__(self):
        return 2, 0  # CUDA

    def __dlpack__(self, stream=None):
        raise BufferError("asked for DLPack")


def test_arrays_on_a_gpu_are_not_read_through_the_buffer_protocol():
    images = np.zeros((2, 3, 4, 4), np.float32).view(_Elsewhere)
    plan = medley.Mixup(seed=1).plan(batch=2, size=4)
    with pytest.raises(BufferError, match="asked for DLPack"):
        medley.apply(plan, images)

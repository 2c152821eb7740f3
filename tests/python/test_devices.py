"""Arrays on a GPU, as far as machines without one can show it."""

from __future__ import annotations

import ctypes
import threading
import types
import weakref

import numpy as np
import pytest
from conftest import random_images

import medley
import medley.theory

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import medley.timm  # noqa: E402
import medley.torch  # noqa: E402


class OnGpu:
    """An array that says it is on a GPU: for calls that do not touch its memory."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return 2, 0  # CUDA

    def __dlpack__(self, stream=None):
        capsule = torch.utils.dlpack.to_dlpack(self.tensor)
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        device = ctypes.c_int32.from_address(pointer(capsule, b"dltensor") + 8)  # after the data
        device.value = 2
        return capsule


class Gpu(medley._arrays.Framework):
    """The framework of these."""

    def is_cuda(self, array):
        return True

    def host(self, array):
        return array.tensor

    def adopt(self, buffer, like=None):
        return OnGpu(torch.from_dlpack(buffer.__dlpack__()))


@pytest.fixture
def on_gpu(monkeypatch):
    """Makes such arrays."""
    monkeypatch.setitem(medley._arrays._of_type, OnGpu, Gpu())
    return lambda array: OnGpu(torch.as_tensor(array))


@pytest.fixture
def as_if_cuda(monkeypatch):
    """Tensors are CUDA's to the package, in host memory to the extension."""
    monkeypatch.setattr(medley._arrays.Torch, "is_cuda", lambda self, tensor: True)


@pytest.fixture
def labels_as_if_cuda(as_if_cuda, monkeypatch):
    """And their labels are mixed as on a device, which takes what the extension takes."""

    def mix_classes(plan, labels, classes, weights, stream, dlpack_stream):
        assert labels.is_contiguous() and labels.dtype == torch.int64
        terms = medley._core.mix_classes(plan, labels, 0, True)
        for array, term in zip((classes, weights), terms):
            array.copy_(torch.from_dlpack(term.__dlpack__()))

    monkeypatch.setattr(medley._core, "has_cuda", True)
    monkeypatch.setattr(medley._core, "mix_classes_cuda", mix_classes)


def strided():
    """Tensors (4, 3, 8, 8) that the kernels cannot take as they are."""
    whole = torch.rand(4, 3, 16, 16)
    return {
        "every other pixel": whole[:, :, ::2, ::2],
        "transposed": whole[:, :, :8, :8].transpose(2, 3),
        "expanded": torch.rand(4, 1, 8, 8).expand(4, 3, 8, 8),
        "channels last": torch.rand(4, 16, 8, 3).permute(0, 3, 1, 2)[:, :, ::2],
    }


KERNELS_TAKE = ("channels last",)


@pytest.mark.parametrize("kind", strided())
def test_strides_that_the_kernels_cannot_take_are_known_on_a_gpu(kind):
    images = OnGpu(strided()[kind])
    info = medley._core.image_info(images)
    assert info["cuda"] and info["copied"] == (kind not in KERNELS_TAKE)
    if info["copied"]:
        plan = medley.Mixup(seed=1).plan(batch=4, size=8)
        options = medley._core.Options()
        with pytest.raises(ValueError, match="images must have contiguous rows"):
            medley._core.apply(plan, images, images, "nchw", "nchw", options)


@pytest.mark.parametrize("kind", strided())
def test_strided_images_are_copied_on_their_gpu(kind, as_if_cuda, monkeypatch):
    images = strided()[kind]
    expected = medley.CutMix(seed=1)(images.clone().contiguous())
    copies = []
    dense = medley._arrays.Torch.dense
    monkeypatch.setattr(
        medley._arrays.Torch, "dense", lambda self, t: copies.append(t) or dense(self, t)
    )
    assert torch.equal(medley.CutMix(seed=1)(images, threads=1), expected)
    plan = medley.CutMix(seed=1).plan(batch=4, size=8)
    assert torch.equal(medley.apply(plan, images), expected)
    assert len(copies) == (0 if kind in KERNELS_TAKE else 2)
    assert all(copied is images for copied in copies)


@pytest.mark.parametrize("kind", ["every other pixel", "transposed", "channels last"])
def test_strided_images_are_overwritten_on_their_gpu(kind, as_if_cuda):
    plan = medley.CutMix(seed=1).plan(batch=4, size=8)
    for call in (
        lambda x: medley.CutMix(seed=1)(x, inplace=True),
        lambda x: medley.apply(plan, x, inplace=True),
    ):
        images = strided()[kind]
        expected = medley.apply(plan, images.contiguous())
        where, changes = images.data_ptr(), images._version
        assert call(images) is images
        assert torch.equal(images, expected)
        assert images.data_ptr() == where
        assert images._version > changes  # gradients notice
    images = strided()[kind]
    expected, _ = medley.timm.Mixup(num_classes=4, seed=1)(images.contiguous(), torch.arange(4))
    assert medley.timm.Mixup(num_classes=4, seed=1)(images, torch.arange(4))[0] is images
    assert torch.equal(images, expected)


def test_class_labels_on_a_gpu_have_one_axis():
    plan = medley.Mixup(seed=1).plan(batch=4, size=8)
    one_hot = OnGpu(torch.eye(4, dtype=torch.int64))
    classes, weights = OnGpu(torch.zeros(4, 2, dtype=torch.int64)), OnGpu(torch.zeros(4, 2))
    with pytest.raises(ValueError, match="labels must have one axis, .* got int64 of shape 4x4"):
        medley._core.mix_classes_cuda(plan, one_hot, classes, weights, 0, -1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_labels_are_made_ready_on_their_gpu(dtype, labels_as_if_cuda, monkeypatch):
    monkeypatch.setattr(medley._arrays.Torch, "host", None)
    table = torch.tensor([[3, 0], [1, 0], [4, 0], [1, 0]]).to(dtype)
    plan = medley.Mixup(seed=1).plan(batch=4, size=8)
    expected = medley.mix_labels(plan, table[:, 0].numpy())
    y = medley.mix_labels(plan, table[:, 0])
    assert np.array_equal(y.classes, expected.classes)
    assert np.allclose(y.weights, expected.weights)


def test_float_labels_on_a_gpu_are_no_classes(labels_as_if_cuda):
    plan = medley.Mixup(seed=1).plan(batch=4, size=8)
    with pytest.raises(TypeError, match="labels must be integers, got float32"):
        medley.mix_labels(plan, torch.rand(4))


@pytest.mark.parametrize("method", ["mixup", "nmixup", "cutmix", "none"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_vectors_are_mixed_on_their_gpu(method, dtype, labels_as_if_cuda, monkeypatch):
    plan = medley.Mix(method, seed=1).plan(batch=6, size=8)
    for shape in ((6,), (6, 5), (6, 1)):
        vectors = torch.rand(shape).to(dtype)
        expected = medley.mix_vectors(plan, vectors.numpy())
        with monkeypatch.context() as patch:
            patch.setattr(medley._arrays.Torch, "host", None)
            mixed = medley.mix_vectors(plan, vectors)
        assert mixed.dtype == torch.float32 and mixed.shape == shape
        assert np.allclose(mixed, expected, rtol=1e-6, atol=1e-7)
    with pytest.raises(ValueError, match="vectors must have the shape N, D"):
        medley.mix_vectors(plan, torch.rand(6, 0))


def test_vectors_of_no_weight_do_not_matter_on_a_gpu(labels_as_if_cuda):
    plan = medley.Mixup(lam=1.0, no_self=True, seed=1).plan(batch=3, size=8)
    vectors = torch.tensor([1.0, float("nan"), float("inf")])
    mixed = medley.mix_vectors(plan, vectors)
    assert np.array_equal(mixed, vectors, equal_nan=True)


@pytest.mark.parametrize("quick", [True, False])
def test_class_rules_read_labels_of_a_gpu(quick, monkeypatch):
    images, labels = torch.rand(6, 1, 4, 4), torch.tensor([0, 0, 0, 1, 1, 1])
    monkeypatch.setattr(torch.Tensor, "is_cuda", property(lambda t: t is labels))
    monkeypatch.setattr(torch.Tensor, "is_cpu", property(lambda t: t is not labels))
    monkeypatch.setattr(torch.Tensor, "get_device", lambda t: 0)
    monkeypatch.setattr(torch.Tensor, "cpu", lambda t: t.clone())
    how = {} if quick else {"threads": 1}
    x, y = medley.Mixup(seed=1, same_class=True)(images, labels, **how)
    expected, _ = medley.Mixup(seed=1, same_class=True)(images, labels.numpy(), **how)
    assert torch.equal(x, expected) and torch.equal(y.y_a, y.y_b)
    assert torch.equal(y.y_a, labels.clone())
    _, y = medley.Mixup(seed=1, other_class=True)(images, labels, **how)
    assert (y.y_a != y.y_b).all()


def test_classes_of_rules_go_back_to_their_gpu(on_gpu):
    labels = on_gpu([0, 0, 0, 1, 1, 1])
    _, y = medley.Mixup(seed=1, same_class=True)(random_images((6, 1, 4, 4)), labels)
    assert isinstance(y.classes, OnGpu) and isinstance(y.weights, OnGpu)
    assert torch.equal(y.classes.tensor[:, 0], labels.tensor)
    assert torch.equal(y.classes.tensor[:, 1], labels.tensor)


def test_soft_labels_do_not_follow_the_default_dtype():
    _, y = medley.Mixup(seed=1)(torch.rand(6, 1, 4, 4), torch.arange(6))
    expected = y.soft(6, 0.1)
    torch.set_default_dtype(torch.float64)
    try:
        rows = medley.torch.soft_on_device(y, 6, 0.1)
        mixed = medley.torch.vectors_on_device(medley.Mixup().plan(batch=6, size=4), torch.eye(6))
    finally:
        torch.set_default_dtype(torch.float32)
    assert rows.dtype == mixed.dtype == torch.float32
    assert torch.allclose(rows, expected, atol=1e-6)


def test_soft_labels_of_a_gpu_become_arrays(on_gpu):
    y = medley.MixedLabels(on_gpu([[0, 1], [1, 1]]), on_gpu([[0.25, 0.75], [0.5, 0.5]]), 3)
    assert isinstance(y.soft(), OnGpu)
    assert np.array_equal(np.asarray(y), [[0.25, 0.75, 0], [0, 1, 0]])


def test_what_is_computed_on_the_host_takes_arrays_of_a_gpu(on_gpu):
    theory = medley.theory
    gradients = np.random.default_rng(0).normal(size=(2, 3, 4, 5))
    profile = theory.profile("smooth", 0.5, (4, 4))
    masks = np.linspace(0, 1, 16, dtype=np.float32).reshape(1, 4, 4)
    labels, order = np.array([0, 0, 0, 1, 1, 1]), np.arange(6)[::-1].copy()
    matrix, rows = np.full((2, 2), 0.3), np.array([[0.3, 0.25], [0.25, 0.3]])
    moments = theory.coefficients("mixup", 4, lam=0.3)
    one, other = (medley.Mixup(seed=seed).plan(batch=6, size=4) for seed in (1, 2))
    same = medley.Mixup(seed=1, same_class=True)
    picture = random_images((8, 8, 3), "uint8")
    design = medley.Design
    for call in (
        lambda a: theory.partial_grad_prod(a(gradients)),
        lambda a: theory.check_design(a(profile), 0.5),
        lambda a: theory.nearest_feasible(a(profile), 0.5),
        lambda a: moments.quadratic(a(profile)),
        lambda a: theory.monte_carlo("custom", 4, draws=64, masks=a(masks))[0].value,
        lambda a: medley.Custom(a(masks), seed=1).plan(batch=2, size=4),
        lambda a: same.plan(batch=6, size=4, labels=a(labels)),
        lambda a: one.choose(other, a(labels)),
        lambda a: medley.Mixup(pairing="dataset", seed=1).plan(
            batch=3, size=4, dataset_size=6, order=a(order)
        ),
        lambda a: medley.show("mixup", images=[a(picture)], tile=16, lams=[0.5]),
        lambda a: design.dense((1, 2), a(matrix), a(np.full(2, 0.5))).mean,
        lambda a: design.kronecker(a(rows), a(np.eye(1)), 0.5).size,
    ):
        np.testing.assert_equal(call(on_gpu), call(np.asarray))


# JAX and CuPy, by stand-ins


def test_jax_results_go_to_the_device_of_their_like():
    class Array(types.SimpleNamespace):
        def devices(self):
            return {self.device}

    class Device(str):
        platform = property(lambda self: str(self).partition(":")[0])

    framework = medley._arrays.Jax.__new__(medley._arrays.Jax)
    framework._jax = types.SimpleNamespace(
        dlpack=types.SimpleNamespace(from_dlpack=lambda buffer: Array(device=Device("cpu:0"))),
        device_put=lambda array, device: Array(device=device),
    )
    buffer = medley._core.Buffer("float32", [2])
    for where in ("gpu:1", "cuda:0", "cpu:0"):
        assert framework.adopt(buffer, Array(device=Device(where))).device == where
    assert framework.adopt(buffer).device == "cpu:0"


def test_labels_of_a_device_are_finished(labels_as_if_cuda, monkeypatch):
    finished = []
    monkeypatch.setattr(
        medley._arrays.Torch, "finish", lambda self, array, stream: finished.append(array) or array
    )
    y = medley.mix_labels(medley.Mixup().plan(batch=4, size=8), torch.arange(4))
    assert finished[0] is y.classes and finished[1] is y.weights


class Device:
    """One of CuPy's: current within `with`."""

    current = [0]

    def __init__(self, number):
        self.number = number

    def __enter__(self):
        self.current.append(self.number)

    def __exit__(self, *error):
        self.current.pop()


class Stream:
    def __init__(self, pointer):
        self.ptr = pointer


class Array(np.ndarray):
    """Is on the device that was current when it was made."""

    device = None  # NumPy 2 has one of its own

    def __array_finalize__(self, base):
        device = getattr(base, "device", None)
        self.device = device if isinstance(device, Device) else Device(Device.current[-1])
        self.written = None

    def __setitem__(self, where, value):
        super().__setitem__(where, value)
        self.written = Device.current[-1]


@pytest.fixture
def cupy():
    streams = [Stream(100), Stream(200)]
    framework = medley._arrays.CuPy.__new__(medley._arrays.CuPy)
    framework._cupy = types.SimpleNamespace(
        cuda=types.SimpleNamespace(get_current_stream=lambda: streams[Device.current[-1]]),
        empty=lambda shape, dtype: np.empty(shape, dtype).view(Array),
        asarray=lambda array: array.view(Array),
        asnumpy=lambda array: (np.array(array), Device.current[-1]),
        ascontiguousarray=lambda array, dtype: np.array(array, dtype).view(Array),
    )
    return framework


def test_cupy_arrays_are_made_on_the_device_of_their_like(cupy):
    with Device(1):
        like = cupy._cupy.empty((2, 3, 4, 4), "float32")
    assert Device.current == [0]
    buffer = medley._core.Buffer("float32", [2])
    for made in (
        cupy.empty_like(like),
        cupy.empty(like, (2, 3, 4, 4), "uint8", True),
        cupy.adopt(buffer, like),
        cupy.dense(like, "int64"),
    ):
        assert made.device.number == 1
    assert cupy.adopt(buffer).device.number == 0
    assert cupy.host(like)[1] == 1
    assert cupy.stream(like) == (200, -1)
    cupy.overwrite(like, 0)
    assert like.written == 1 and not like.any()


def test_a_plan_keeps_the_streams_of_cupy(cupy):
    with Device(1):
        like = cupy._cupy.empty((2,), "float32")
    plan = medley.Mixup().plan(batch=2, size=4)
    cupy.lend_stream(plan, like)
    stream = weakref.ref(cupy._current_stream(like))
    cupy._cupy.cuda.get_current_stream = None
    assert stream() is not None
    plan._keep_stream(200, Stream(200))  # it is known
    plan._keep_stream(300, Stream(300))
    assert stream() is not None
    del plan
    assert stream() is None


def test_streams_go_where_the_gil_is_not_held(monkeypatch):
    streams = []

    def mix_targets(plan, labels, num_classes):
        stream = Stream(100)
        streams.append(weakref.ref(stream))
        plan._keep_stream(stream.ptr, stream)
        return labels

    monkeypatch.setattr(medley.mixers, "mix_targets", mix_targets)
    mix = medley.Mixup()
    images, labels = random_images((4, 3, 64, 64)), np.zeros((4, 2), np.float32)
    threads = [threading.Thread(target=mix, args=(images, labels)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(streams) == 4 and all(stream() is None for stream in streams)

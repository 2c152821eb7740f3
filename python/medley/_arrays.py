"""What the frameworks do differently: making an array like another, and naming the CUDA stream.

Memory itself is exchanged in the extension, through the buffer protocol and DLPack.
"""

from __future__ import annotations

import math
import sys
from contextlib import nullcontext
from typing import Any, Sequence

from . import _core

_WORDS = {
    "u8": "uint8",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "uint8": "uint8",
    "float16": "float16",
    "half": "float16",
    "bfloat16": "bfloat16",
    "float32": "float32",
    "float": "float32",
}


def dtype_name(dtype: Any) -> str:
    """"float32" for "f32", "float32", numpy.float32 or torch.float32."""
    text = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", None) or str(dtype)
    name = _WORDS.get(text.rpartition(".")[2])
    if name is None:
        raise ValueError(f"dtype must be u8, f16, bf16 or f32, got {text}")
    return name


_LISTS = ("list", "tuple")
_LARGE = 1 << 20  # bytes from which on memory of earlier results is used again
_TORCH_DTYPES = (
    "uint8", "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "bool",
)  # fmt: skip


class Framework:
    """Anything with the buffer protocol or DLPack that is not known by name: results are NumPy
    arrays, or memory views where NumPy is not installed."""

    single_weights = False  # float32 label weights rather than float64
    writable = True

    def stream(self, array: Any) -> tuple[int, int | None]:
        """The CUDA stream to work on, and what to tell the array's `__dlpack__` about it."""
        return 0, None

    def lend_stream(self, plan: _core.Plan, array: Any) -> None:
        """Called before a plan is used on the stream of an array: it may outlive that stream, but
        its copy on the device may not."""

    def is_cuda(self, array: Any) -> bool:
        return False

    def is_float(self, array: Any) -> bool:
        return "float" in self.dtype(array)

    def shape(self, array: Any) -> tuple[int, ...]:
        return _core.describe(array)[1]

    def dtype(self, array: Any) -> str:
        """Such as "float32"."""
        return _core.describe(array)[0]

    def empty_like(self, array: Any) -> Any:
        """A new array of the same shape, dtype and memory order."""
        name, shape = _core.describe(array)
        return self.empty(array, shape, name, False)

    def empty(self, like: Any, shape: Sequence[int], dtype: str, channels_last: bool) -> Any:
        """An array of that shape; `channels_last` swaps the memory order of (N, C, H, W)."""
        return self.adopt(_core.Buffer(dtype, list(shape)))

    def channels_last(self, array: Any) -> bool:
        """Whether (N, C, H, W) lies in memory as N, H, W, C."""
        return False

    def adopt(self, buffer: _core.Buffer, like: Any = None) -> Any:
        """The memory of a result as an array, without a copy."""
        try:
            import numpy
        except ImportError:
            return memoryview(buffer)
        return numpy.asarray(buffer)

    def host(self, array: Any) -> Any:
        """The array in host memory."""
        return array

    def dense(self, array: Any, dtype: str | None = None) -> Any:
        """The array, or a copy on its GPU without gaps and of that dtype where there are such."""
        return array

    def check_constant(self, name: str, array: Any) -> None:
        """Throws if gradients are asked for."""

    def read_only(self, array: Any) -> bool:
        """Whether the memory may not be written to."""
        try:
            return memoryview(array).readonly
        except (TypeError, ValueError, BufferError):
            return False  # an array of another protocol, which says it when it is written to

    def written(self, array: Any) -> None:
        """Called with an array of the caller's after it was written to."""

    def overwrite(self, array: Any, value: Any) -> None:
        """Copies another array of the same shape there."""
        array[...] = value

    def finish(self, array: Any, stream: int) -> Any:
        """Called with a new output after the work on it was enqueued."""
        return array


class NumPy(Framework):
    def __init__(self) -> None:
        import numpy

        self._np = numpy
        _core.set_numpy(numpy.ndarray)

    def is_float(self, array: Any) -> bool:
        return array.dtype.kind == "f" or array.dtype.name == "bfloat16"

    def shape(self, array: Any) -> tuple[int, ...]:
        return array.shape

    def dtype(self, array: Any) -> str:
        return array.dtype.name

    def empty_like(self, array: Any) -> Any:
        if array.flags.c_contiguous and array.nbytes < _LARGE:
            return self._np.empty(array.shape, array.dtype)
        return self.empty(array, array.shape, array.dtype, self.channels_last(array))

    def channels_last(self, array: Any) -> bool:
        return _channels_last(array.strides)

    def empty(self, like: Any, shape: Sequence[int], dtype: Any, channels_last: bool) -> Any:
        if dtype == "bfloat16":
            dtype = like.dtype if like.dtype.name == "bfloat16" else _bfloat16()
        if channels_last:
            n, c, h, w = shape
            return self._new((n, h, w, c), dtype).transpose(0, 3, 1, 2)
        return self._new(shape, dtype)

    def _new(self, shape: Sequence[int], dtype: Any) -> Any:
        dtype = self._np.dtype(dtype)
        if dtype.itemsize * math.prod(shape) < _LARGE or dtype.name == "bfloat16":
            return self._np.empty(shape, dtype)
        return self._np.asarray(_core.Buffer(dtype.name, list(shape)))

    def adopt(self, buffer: _core.Buffer, like: Any = None) -> Any:
        return self._np.asarray(buffer)


def _bfloat16() -> Any:
    try:
        from ml_dtypes import bfloat16  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise TypeError(
            "NumPy has no bfloat16 of its own; install ml_dtypes, or pass a PyTorch tensor as out"
        ) from None
    return bfloat16


class Torch(Framework):
    single_weights = True

    def __init__(self) -> None:
        import torch
        import torch.utils.dlpack

        self._torch = torch
        self._dtypes = {getattr(torch, name): name for name in _TORCH_DTYPES}
        # Of later versions; before, a change that changes nothing does the same.
        self._count_change = getattr(torch.autograd.graph, "increment_version", None) or (
            lambda tensor: tensor.transpose_(0, 0)
        )
        _core.set_torch(
            torch.Tensor,
            torch.utils.dlpack.to_dlpack,
            getattr(torch._C, "_from_dlpack", torch.from_dlpack),
            torch.empty_like,
            getattr(torch._C, "_cuda_getCurrentRawStream", self._stream_of),
            self.written,
            self._dtypes,
        )

    def read_only(self, array: Any) -> bool:
        return False

    def check_constant(self, name: str, array: Any) -> None:
        if array.layout is not self._torch.strided:
            raise TypeError(f"{name} must be a dense tensor, got one of layout {array.layout}")
        if array.device.type not in ("cpu", "cuda"):
            raise TypeError(f"{name} must be in CPU or CUDA memory, got a tensor on {array.device}")
        if array.requires_grad:
            raise ValueError(
                f"{name} must not require gradients, since mixing has none; pass {name}.detach()"
            )

    def written(self, array: Any) -> None:
        if not array.is_inference():
            self._count_change(array)

    def stream(self, array: Any) -> tuple[int, int | None]:
        self.check_constant("images", array)
        if not array.is_cuda:
            return 0, None
        # The work runs on the tensor's own stream, so nothing has to wait (-1).
        return self._stream_of(array.device), -1

    def _stream_of(self, device: Any) -> int:
        return self._torch.cuda.current_stream(device).cuda_stream

    def is_cuda(self, array: Any) -> bool:
        return array.is_cuda

    def is_float(self, array: Any) -> bool:
        return array.is_floating_point()

    def shape(self, array: Any) -> tuple[int, ...]:
        return array.shape

    def dtype(self, array: Any) -> str:
        return self._dtypes.get(array.dtype) or str(array.dtype)[6:]

    def empty_like(self, array: Any) -> Any:
        if array.numel() * 4 < _LARGE and array.is_contiguous():
            return self._torch.empty_like(array)
        return self.empty(array, array.shape, array.dtype, self.channels_last(array))

    def channels_last(self, array: Any) -> bool:
        return _channels_last(array.stride())

    def empty(self, like: Any, shape: Sequence[int], dtype: Any, channels_last: bool) -> Any:
        torch = self._torch
        dtype = getattr(torch, dtype) if isinstance(dtype, str) else dtype
        if not like.is_cuda and 4 * math.prod(shape) >= _LARGE:
            name = self._dtypes[dtype]
            if not channels_last:
                return self.adopt(_core.Buffer(name, list(shape)))
            n, c, h, w = shape
            return self.adopt(_core.Buffer(name, [n, h, w, c])).permute(0, 3, 1, 2)
        return torch.empty(
            tuple(shape),
            dtype=dtype,
            device=like.device,
            memory_format=torch.channels_last if channels_last else torch.contiguous_format,
        )

    def adopt(self, buffer: _core.Buffer, like: Any = None) -> Any:
        tensor = self._torch.from_dlpack(buffer.__dlpack__())
        return tensor.to(like.device) if like is not None and like.is_cuda else tensor

    def host(self, array: Any) -> Any:
        return array.cpu()

    def dense(self, array: Any, dtype: str | None = None) -> Any:
        return (array if dtype is None else array.to(getattr(self._torch, dtype))).contiguous()


class CuPy(Framework):
    single_weights = True

    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found,unused-ignore]

        self._cupy = cupy

    # What is made is on the current device, and each device has a current stream of its own.

    def stream(self, array: Any) -> tuple[int, int | None]:
        return self._current_stream(array).ptr, -1

    def _current_stream(self, array: Any) -> Any:
        with array.device:
            return self._cupy.cuda.get_current_stream()

    def lend_stream(self, plan: _core.Plan, array: Any) -> None:
        stream = self._current_stream(array)
        plan._keep_stream(stream.ptr, stream)

    def is_cuda(self, array: Any) -> bool:
        return True

    def is_float(self, array: Any) -> bool:
        return array.dtype.kind == "f"

    def shape(self, array: Any) -> tuple[int, ...]:
        return array.shape

    def dtype(self, array: Any) -> str:
        return array.dtype.name

    def empty_like(self, array: Any) -> Any:
        return self.empty(array, array.shape, array.dtype, self.channels_last(array))

    def channels_last(self, array: Any) -> bool:
        return _channels_last(array.strides)

    def empty(self, like: Any, shape: Sequence[int], dtype: Any, channels_last: bool) -> Any:
        with like.device:
            if channels_last:
                n, c, h, w = shape
                return self._cupy.empty((n, h, w, c), dtype).transpose(0, 3, 1, 2)
            return self._cupy.empty(shape, dtype)

    def adopt(self, buffer: _core.Buffer, like: Any = None) -> Any:
        import numpy

        with nullcontext() if like is None else like.device:
            return self._cupy.asarray(numpy.asarray(buffer))

    def host(self, array: Any) -> Any:
        with array.device:
            return self._cupy.asnumpy(array)

    def dense(self, array: Any, dtype: str | None = None) -> Any:
        with array.device:
            return self._cupy.ascontiguousarray(array, dtype)

    def overwrite(self, array: Any, value: Any) -> None:
        with array.device:
            array[...] = value


class Jax(Framework):
    """JAX arrays are immutable: `out` and `inplace` are refused, results are new arrays."""

    single_weights = True
    writable = False

    def __init__(self) -> None:
        import jax  # type: ignore[import-not-found,unused-ignore]

        self._jax = jax

    def is_cuda(self, array: Any) -> bool:
        return next(iter(array.devices())).platform in ("gpu", "cuda")

    def stream(self, array: Any) -> tuple[int, int | None]:
        # The legacy default stream: JAX is asked to make it wait for the array.
        return (0, 1) if self.is_cuda(array) else (0, None)

    def is_float(self, array: Any) -> bool:
        return self._jax.numpy.issubdtype(array.dtype, self._jax.numpy.floating)

    def shape(self, array: Any) -> tuple[int, ...]:
        return array.shape

    def dtype(self, array: Any) -> str:
        return array.dtype.name

    def empty_like(self, array: Any) -> Any:
        return self.empty(array, array.shape, array.dtype.name, False)

    def empty(self, like: Any, shape: Sequence[int], dtype: Any, channels_last: bool) -> Any:
        if not self.is_cuda(like):
            return _core.Buffer(str(dtype), list(shape))
        out = self._jax.numpy.empty(tuple(shape), dtype, device=next(iter(like.devices())))
        return out.block_until_ready()

    def finish(self, array: Any, stream: int) -> Any:
        if isinstance(array, _core.Buffer):
            return self.adopt(array)
        _core.synchronize(array.__dlpack_device__()[1], stream)  # JAX works on streams of its own
        return array

    def adopt(self, buffer: _core.Buffer, like: Any = None) -> Any:
        array = self._jax.dlpack.from_dlpack(buffer)
        if like is None or not self.is_cuda(like):
            return array
        return self._jax.device_put(array, next(iter(like.devices())))

    def host(self, array: Any) -> Any:
        import numpy

        return numpy.asarray(array)


def _channels_last(strides: Sequence[int]) -> bool:
    return len(strides) == 4 and 0 < strides[1] < strides[3] <= strides[2]


_MAKERS = {"numpy": NumPy, "torch": Torch, "cupy": CuPy, "jax": Jax, "jaxlib": Jax}
_known: dict[str, Framework] = {}
_of_type: dict[type, Framework] = {}


def framework_of(array: Any) -> Framework:
    """The framework of an array, by its type; subclasses count as what they derive from."""
    found = _of_type.get(type(array))
    if found is None:
        found = _of_type[type(array)] = _find(type(array))
    return found


def _find(kind: type) -> Framework:
    for base in kind.__mro__:
        name = base.__module__.partition(".")[0]
        if name in _MAKERS and name in sys.modules:
            name = "jax" if name == "jaxlib" else name
            if name not in _known:
                _known[name] = _MAKERS[name]()
            return _known[name]
    return _known.setdefault("", Framework())


def check_array(name: str, array: Any) -> None:
    """Throws TypeError if it is no array of any kind."""
    if type(framework_of(array)) is not Framework or hasattr(array, "__dlpack__"):
        return
    try:
        memoryview(array)
    except TypeError:
        kind = type(array).__name__
        stack = "; stack them first, with numpy.stack or torch.stack" if kind in _LISTS else ""
        raise TypeError(
            f"{name} must be an array (NumPy, PyTorch, or anything with the buffer protocol or "
            f"DLPack), got {kind}{stack}"
        ) from None


def on_host(array: Any) -> Any:
    """An array in host memory; anything else as it is."""
    return framework_of(array).host(array)


def numpy_framework() -> Framework:
    """For results of calls that had no array: NumPy, or memory views without it."""
    if "numpy" not in _known:
        try:
            _known["numpy"] = NumPy()
        except ImportError:
            return _known.setdefault("", Framework())
    return _known["numpy"]

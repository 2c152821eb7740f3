"""Arrays on a GPU, as far as machines without one can show it."""

from __future__ import annotations

import types

import numpy as np
import pytest

import medley

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


# JAX and CuPy, by stand-ins


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
    ):
        assert made.device.number == 1
    assert cupy.adopt(buffer).device.number == 0
    assert cupy.host(like)[1] == 1
    assert cupy.stream(like) == (200, -1)
    cupy.overwrite(like, 0)
    assert like.written == 1 and not like.any()

"""Drawn pictures to try things with, and to test on: no downloads."""

from __future__ import annotations

from typing import Any

from . import _core
from ._arrays import numpy_framework
from ._checks import not_negative, seed_number

__all__ = ["classes", "synthetic"]

classes: tuple[str, ...] = _core.synthetic_classes
"""Names of what can be drawn."""


def synthetic(
    count: int, size: int | tuple[int, int] = 32, seed: int = 0, first: int = 0
) -> tuple[Any, Any]:
    """Pictures of objects on patterned backgrounds, with their classes.

    count: of pictures. size: (H, W) or one number. Returns images, uint8 of shape (count, H, W, 3),
    and labels, int64 of shape (count,): picture i shows class (first + i) % len(classes). Other
    `first` or `seed`, other pictures.
    """
    from array import array

    count, first = not_negative("count", count), not_negative("first", first)
    int64 = "l" if array("l").itemsize == 8 else "q"  # the one that NumPy calls so
    labels = array(int64, [(first + i) % len(classes) for i in range(count)])
    framework = numpy_framework()
    images = framework.adopt(_core.synthetic(labels, size, seed_number(seed), first))
    try:
        import numpy

        return images, numpy.asarray(labels)
    except ImportError:
        return images, labels

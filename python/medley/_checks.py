"""What arguments must be: each check names the argument, what was expected and what came."""

from __future__ import annotations

import operator
from array import array
from typing import Any

from . import _core


def whole_number(name: str, value: Any) -> int:
    """An int, of NumPy's kinds too."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise TypeError(f"{name} must be a whole number, got {type(value).__name__}")


def not_negative(name: str, value: Any) -> int:
    """An int of 0 or more."""
    number = whole_number(name, value)
    if number < 0:
        raise ValueError(f"{name} must be a whole number >= 0, got {number}")
    return number


def seed_number(value: Any) -> int:
    """An int that a seed can be."""
    seed = whole_number("seed", value)
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed must be in [0, 2**64), got {seed}")
    return seed


def real_number(name: str, value: Any) -> float:
    """A float, of anything that has one but text."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        if not hasattr(value, "__index__") or isinstance(value, bool):
            raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}") from None


def real_numbers(name: str, values: Any, which: str) -> tuple[float, ...]:
    """Numbers of a sequence or array; none of None. which: how many there should be, in words."""
    if values is None:
        return ()
    try:
        return tuple(array("d", values))
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be numbers, {which}, got {values!r}") from None


def true_or_false(name: str, value: Any) -> bool:
    """A bool, of NumPy's kind too."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TypeError(f"{name} must be True or False, got {type(value).__name__}")


def layout_word(name: str, value: Any) -> str:
    """Order of the axes of images."""
    if value in ("nchw", "nhwc"):
        return str(value)
    raise ValueError(f"{name} must be nchw or nhwc, got {value!r}")


def word(name: str, value: Any) -> str:
    """A str."""
    if isinstance(value, str):
        return value
    raise TypeError(f"{name} must be a word, got {type(value).__name__}")


def check_plan(plan: Any) -> None:
    """Throws TypeError for anything but a plan."""
    if not isinstance(plan, _core.Plan):
        raise TypeError(f"plan must be a medley.Plan, got {type(plan).__name__}")

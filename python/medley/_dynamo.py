"""Keeping torch.compile out of what it cannot trace: a graph break instead of a crash."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, Callable, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_STRATEGY = ("_FrameAction", "_FrameExecStrategy")
_waiting: list[CodeType] = []  # of functions that were defined before PyTorch was imported


def opaque(function: _Function) -> _Function:
    """A function that runs as it is when a compiled function calls it, with all that it calls.

    What `torch.compiler.disable` does, which would import the compiler here, in every process.
    """
    function._torchdynamo_disable = True  # type: ignore[attr-defined]
    _waiting.append(function.__code__)
    settle()
    return function


def settle() -> None:
    """Tells PyTorch, once it is imported, about the functions so far."""
    if not _waiting or "torch" not in sys.modules:
        return
    try:
        from torch._C._dynamo import eval_frame  # type: ignore[import-not-found,unused-ignore]
    except ImportError:  # before PyTorch 2
        _waiting.clear()
        return
    action, strategy = (getattr(eval_frame, name, None) for name in _STRATEGY)
    while _waiting:
        code = _waiting.pop()
        if action is not None and strategy is not None:
            eval_frame.set_code_exec_strategy(code, strategy(action.SKIP, action.SKIP))
        elif hasattr(eval_frame, "skip_code"):
            eval_frame.skip_code(code)

"""Methods whose masks a function makes."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from typing import Any, Callable, TypeVar

from . import _core
from ._checks import true_or_false, word
from .mixers import MixerOptions

Draw = TypeVar("Draw", bound=Callable[..., Any])

_GIVEN = ("lam", "rng", "height", "width")
_TYPES = {bool: "flag", int: "integer", float: "real", str: "text"}
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@typing.overload
def register(
    name: str, draw: Draw, *, summary: str = ..., source: str = ..., vectorized: bool = ...
) -> Draw: ...
@typing.overload
def register(
    name: str, *, summary: str = ..., source: str = ..., vectorized: bool = ...
) -> Callable[[Draw], Draw]: ...
def register(
    name: str,
    draw: Any = None,
    *,
    summary: str = "",
    source: str = "",
    vectorized: bool = False,
) -> Any:
    """Makes a method of your own known by its name, for the life of the process.

        @medley.register("halves", summary="the partner on the right")
        def halves(lam, rng, height, width, *, soft: bool = False):
            x = (np.arange(width) + 0.5) / width
            edge = np.clip((lam - x) * 4 + 0.5, 0, 1) if soft else x < lam
            return np.broadcast_to(edge, (height, width))

        x, y = medley.Mix("halves", soft=True)(images, labels)

    name: of the method, which no other has.
    draw: a function of lam (drawn from Beta(alpha, beta) or fixed; alpha, beta and lam are options of
        the method), a `medley.Random`, height and width of the images, and options of its own. It
        returns the mask: weights of the own image, numbers of shape (height, width). What it returns
        may depend on its arguments alone: so the draws are the same in every process. Without it,
        `register` decorates the function.
    summary, source: half a sentence each: what it does, and where it was published.
    vectorized: `draw` makes the masks of all samples at once: lam has the shape (K,), arrays of the
        generator have an axis of K in front, and (K, height, width) is returned.

    Options are the parameters after the first four. Each has a default and is of type float, int,
    bool, str or a Literal of words, by its annotation or its default, or None as well; with
    Annotated[float, "half a sentence"] it has a help text.

    DataLoader workers that are spawned import the module that registers; do so at its top.
    """
    word("name", name)
    word("summary", summary)
    word("source", source)
    true_or_false("vectorized", vectorized)
    if draw is None:
        return functools.partial(
            register, name, summary=summary, source=source, vectorized=vectorized
        )
    if not callable(draw):
        raise TypeError(f"draw must be a function, got {type(draw).__name__}")
    _core.register_method(name, draw, summary, source, bool(vectorized), _options_of(draw))
    return draw


def _options_of(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    parameters = list(inspect.signature(draw).parameters.values())
    if len(parameters) < 4 or any(
        p.kind not in (inspect.Parameter.POSITIONAL_ONLY, _NAMED[0]) for p in parameters[:4]
    ):
        raise TypeError(f"draw must take {', '.join(_GIVEN)} and then its options")
    hints = _hints_of(draw)
    return [_option_of(p, hints.get(p.name)) for p in parameters[4:]]


def _hints_of(draw: Any) -> dict[str, Any]:
    while isinstance(draw, functools.partial):
        draw = draw.func
    return typing.get_type_hints(
        draw if inspect.isroutine(draw) else type(draw).__call__, include_extras=True
    )


def _option_of(parameter: inspect.Parameter, hint: Any) -> dict[str, Any]:
    name, default = parameter.name, parameter.default
    if parameter.kind not in _NAMED or default is inspect.Parameter.empty:
        raise TypeError(f"draw must name its options and their defaults, {name} has none")
    if name in MixerOptions.__annotations__:
        raise ValueError(f"option {name} must have another name: every mixer has one of that")
    help_text = ""
    if typing.get_origin(hint) is typing.Annotated:
        hint, *notes = typing.get_args(hint)
        help_text = next((note for note in notes if isinstance(note, str)), "")
    optional = default is None
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
        optional = optional or len(kinds) < len(typing.get_args(hint))
        hint = kinds[0] if len(kinds) == 1 else None
    elif hint is None and not optional:
        hint = type(default)
    names: list[str] = []
    if typing.get_origin(hint) is typing.Literal:
        names = list(typing.get_args(hint))
        kind = "name" if all(isinstance(one, str) for one in names) else None
    else:
        kind = _TYPES.get(hint)
    if kind is None:
        raise TypeError(f"option {name} must be a float, int, bool, str or a Literal of words")
    return {"name": name, "type": kind, "default": default, "optional": optional,
            "names": names, "help": help_text}  # fmt: skip

"""Contact sheets: what a method does, as a picture."""

from __future__ import annotations

import sys
from typing import Any, Iterable, Sequence

from . import _core
from ._arrays import numpy_framework, on_host
from ._checks import real_numbers, seed_number, whole_number, word
from .mixers import Mix, method_info

_OF_THE_SHEET = ("lam", "pairing", "mode", "same_class", "other_class")


def show(
    *what: str | Mix,
    images: Iterable[Any] = (),
    lams: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
    tile: int = 96,
    seed: int = 6,
    title: str = "Mixed sample data augmentation",
    caption: str = "",
) -> Any:
    """A contact sheet: a row per method or mixer, a column per lam, each with its mask.

        medley.show()                                   # every method
        medley.show("hmix", medley.GMix(form="paper"))  # these two
        medley.show("cutmix", images=[cat, dog])        # on your own pictures

    images: uint8 of shape (H, W, 3) or (H, W): own image, partner, further partners. Missing ones
        are drawn.
    what: methods or mixers; nothing: every method.
    lams: a column each. tile: side of a picture in pixels, 16 to 1024. seed: of what is drawn.
    title, caption: lines of text above and below.

    Returns uint8 of shape (H, W, 3). A notebook shows it as a picture; `save(path)` writes a PNG.
    """
    rows = []
    for item in what:
        mixer = item if isinstance(item, Mix) else None
        method = mixer.method if mixer else method_info(item)["name"]
        options = mixer.options if mixer else {}
        options = {k: v for k, v in options.items() if v is not None and k not in _OF_THE_SHEET}
        note = ", ".join(f"{k} {v}" for k, v in options.items() if isinstance(v, (int, float, str)))
        rows.append((method, note, method, options))
    if not hasattr(images, "__iter__"):
        raise TypeError(f"images must be a list of pictures, got {type(images).__name__}")
    sources = [on_host(image) for image in images]
    sheet = _core.sheet(
        rows, sources, whole_number("tile", tile), list(real_numbers("lams", lams, "a column each")),
        seed_number(seed), word("title", title), word("caption", caption), False,
    )  # fmt: skip
    array = numpy_framework().adopt(sheet)
    return sys.modules[__name__].Picture(array) if hasattr(array, "view") else array


def __getattr__(name: str) -> Any:
    """`Picture`, made when it is needed first, here or by pickle, since NumPy is optional."""
    if name != "Picture":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import numpy

    class Picture(numpy.ndarray):
        """A uint8 array of shape (H, W, 3) that notebooks show as a picture."""

        __qualname__ = "Picture"

        def __new__(cls, array: Any) -> Any:
            return numpy.asarray(array).view(cls)

        def _repr_png_(self) -> bytes | None:
            colored = self.ndim == 3 and self.shape[2] == 3
            shown = self.dtype == numpy.uint8 and (colored or self.ndim == 2) and self.size > 0
            return _core.png(numpy.ascontiguousarray(self)) if shown else None

        def save(self, path: Any) -> None:
            """Writes a PNG file."""
            with open(path, "wb") as file:
                file.write(_core.png(numpy.ascontiguousarray(self)))

    return globals().setdefault(name, Picture)

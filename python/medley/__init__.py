"""Mixed sample data augmentation: Mixup, CutMix, HMix, GMix and the other published methods.

    import medley

    mix = medley.HMix(alpha=1.0, ratio=0.5, seed=0)
    x, y = mix(images, labels)      # images (N, C, H, W), labels (N,) of classes

`images` is a NumPy array, a PyTorch tensor (CPU or CUDA), or anything with the buffer protocol or
DLPack; `x` is of the same kind. `y` is a `MixedLabels`: `y.y_a`, `y.y_b` and `y.weight`.

Everything random is in a plan (`mix.plan(...)`), plain data that can be stored and replayed with
`apply`. The same seed gives the same bits here, in C++ and on the command line.

Submodules: `medley.torch` (losses), `medley.timm` and `medley.torchvision` (drop-in adapters),
`medley.collate` (DataLoader), `medley.theory` (what a method regularizes), `medley.data` (drawn
pictures to try things with).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import method_classes, theory
from ._core import Design, Plan, Random, __version__, backends, methods, simd_targets
from ._mixed_labels import MixedLabels
from ._register import register
from .labels import mix_class_maps, mix_class_maps_soft, mix_labels, mix_vectors
from .method_classes import *
from .mixers import Mix
from .pixels import apply, masks
from .show import show

__all__ = [
    "Design",
    "Mix",
    "MixedLabels",
    "Plan",
    "Random",
    "__version__",
    "apply",
    "backends",
    "masks",
    "methods",
    "mix_class_maps",
    "mix_class_maps_soft",
    "mix_labels",
    "mix_vectors",
    "register",
    "show",
    "simd_targets",
    "theory",
]
__all__ += method_classes.__all__

if TYPE_CHECKING:
    from . import collate, data, timm, torch, torchvision
else:
    _SUBMODULES = ("collate", "data", "timm", "torch", "torchvision")

    def __getattr__(name):
        """Submodules, imported when they are first used, since they may import PyTorch."""
        if name not in _SUBMODULES:
            raise AttributeError(f"module 'medley' has no attribute {name!r}")
        import importlib

        return importlib.import_module(f"medley.{name}")

    def __dir__():
        return sorted({*globals(), *_SUBMODULES})

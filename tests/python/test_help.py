"""`help()` explains every parameter of what is public."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest

import medley

MODULES = ["medley", "medley.data", "medley.theory", "medley.timm", "medley.torchvision"]
WITH_TORCH = ["medley.collate", "medley.torch"]


def public(name):
    try:
        module = importlib.import_module(name)
    except ImportError:
        return []  # of a framework that is not installed
    names = getattr(module, "__all__", [n for n in vars(module) if not n.startswith("_")])
    found = [(f"{name}.{n}", getattr(module, n)) for n in names]
    return [(n, item) for n, item in found
            if callable(item) and item.__module__.startswith("medley.")]  # fmt: skip


def parameters_of(item):
    try:
        parameters = inspect.signature(item).parameters.values()
    except ValueError:  # of the compiled part
        return []
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters
            if p.name not in ("self", "core") and p.kind not in variable]  # fmt: skip


def unexplained(item, text):
    return [name for name in parameters_of(item) if not re.search(rf"\b{name}\b", text)]


ITEMS = [item for name in MODULES + WITH_TORCH for item in public(name)]


@pytest.mark.parametrize("name, item", ITEMS, ids=[name for name, _ in ITEMS])
def test_parameters_are_explained(name, item):
    text = inspect.getdoc(item) or ""
    assert len(text) > 20 and not unexplained(item, text), name
    for method, function in inspect.getmembers(item, inspect.isfunction):
        if method.startswith("_") or not function.__module__.startswith("medley."):
            continue
        said = inspect.getdoc(function) or ""
        assert said and not unexplained(function, said), f"{name}.{method}"


def test_methods_are_public():
    assert {"medley.HMix", "medley.timm.Mixup", "medley.theory.monte_carlo"} <= {n for n, _ in ITEMS}
    assert medley.HMix in [item for _, item in ITEMS]

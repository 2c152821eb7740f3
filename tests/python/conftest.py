"""What the tests share. They import the package that the build put on PYTHONPATH."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import medley

settings.register_profile(
    "medley",
    deadline=None,
    max_examples=int(os.environ.get("MEDLEY_PYTHON_EXAMPLES", "40")),
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("medley")

METHODS = [info["name"] for info in medley.methods()]
SOURCE = Path(os.environ.get("MEDLEY_SOURCE", Path(__file__).parents[2]))


def mixer(method: str, **options) -> medley.Mix:
    """The method with what it cannot do without."""
    if method == "custom":
        side = np.linspace(0, 1, 32 * 32, dtype=np.float32).reshape(1, 32, 32)
        options.setdefault("masks", np.concatenate([side, 1 - side]))
    return medley.Mix(method, **options)


@pytest.fixture
def cli():
    """Runs the command line program; skips where it was not built."""
    program = os.environ.get("MEDLEY_CLI")
    if not program or not os.path.exists(program):
        pytest.skip("the medley program was not built")

    def run(*arguments: str) -> str:
        done = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    return run


def random_images(shape, dtype="float32", seed=0):
    generator = np.random.default_rng(seed)
    if dtype == "uint8":
        return generator.integers(0, 256, shape, dtype=np.uint8)
    return generator.normal(size=shape).astype(dtype)

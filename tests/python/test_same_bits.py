"""The same bits as C++ and the command line."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest
from conftest import METHODS

import medley

SHAPE = (6, 3, 32, 32)
LABELS = np.array([3, 1, 4, 1, 5, 9])


def values(count):
    """What reference.cc calls value(i)."""
    hashed = (np.arange(count, dtype=np.uint64) * 2654435761 % (1 << 32)).astype(np.uint32)
    return (hashed >> 8).astype(np.float32) * np.float32(2**-24)


@pytest.mark.parametrize("dtype", ["f32", "u8"])
@pytest.mark.parametrize("method", METHODS)
def test_mixes_like_cpp(method, dtype):
    program = os.environ.get("MEDLEY_REFERENCE")
    if not program:
        pytest.skip("the C++ reference program was not built")
    done = subprocess.run([program, method, "17", dtype], check=True, capture_output=True)

    images = values(np.prod(SHAPE)).reshape(SHAPE)
    if dtype == "u8":
        images = (images * np.float32(256)).astype(np.uint8)
    options = {"masks": values(2 * 32 * 32).reshape(2, 32, 32)} if method == "custom" else {}
    mix = medley.Mix(method, seed=17, **options)
    x, y = mix(images, LABELS, epoch=3, first=12)

    expected = done.stdout
    actual = x.tobytes() + y.classes.tobytes() + y.weights.tobytes() + y.soft(10, 0.1).tobytes()
    assert len(actual) == len(expected)
    assert actual == expected


@pytest.mark.parametrize("method", [m for m in METHODS if m != "custom"])
def test_plans_like_the_command_line(method, cli):
    text = cli(
        "plan", "--method", method, "--batch", "5", "--count", "3", "--first", "10", "--epoch",
        "2", "--height", "16", "--width", "24", "--seed", "99", "--pad", "2", "--masks", "--json",
    )  # fmt: skip
    mix = medley.Mix(method, seed=99, pad=2)
    plan = mix.plan(batch=5, size=(16, 24), epoch=2, first=10, count=3)
    assert json.loads(plan.to_json(masks=True)) == json.loads(text)
    assert medley.Plan.from_json(text) == plan


def test_every_option_of_the_command_line(cli):
    info = json.loads(cli("info", "--json"))
    assert medley.__version__ == info["version"]
    assert medley.backends() == info["backends"]
    assert [m["name"] for m in info["methods"]] == METHODS
    assert list(medley._core.common_options()) == list(info["common_options"])

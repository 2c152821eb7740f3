"""Nothing leaks."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from conftest import random_images

import medley


def resident():
    """Bytes of memory that the process holds."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def frameworks():
    yield "numpy", np.asarray
    try:
        import torch
    except ImportError:
        return
    yield "torch", lambda array: torch.from_numpy(np.ascontiguousarray(array))


@pytest.mark.parametrize("name, convert", list(frameworks()))
def test_ten_thousand_calls_hold_memory_flat(name, convert):
    images = convert(random_images((8, 3, 16, 16)))
    odd = images[:, :, :, ::2]  # is copied
    labels = convert(np.arange(8))
    mix = medley.HMix(seed=1, num_classes=10)

    def calls(count):
        for _ in range(count):
            x, y = mix(images, labels)
            y.soft()
            mix(odd)
            try:
                mix(images, out=labels)
            except TypeError:
                pass

    calls(1000)
    before = resident()
    calls(10_000)
    # A leak of one image batch, label array or plan per call would be tens of megabytes.
    assert resident() - before < 4 << 20


@pytest.mark.parametrize("name, convert", list(frameworks()))
def test_large_results_are_never_shared(name, convert):
    images = convert(random_images((4, 3, 256, 256)))
    mix = medley.Mixup(seed=1)
    results = [mix(images) for _ in range(5)]
    copies = [np.array(result) for result in results]
    first, results = results[0], None  # four of the five are given up
    again = [mix(images) for _ in range(5)]
    assert np.array_equal(np.asarray(first), copies[0])
    fresh = medley.Mixup(seed=1)
    expected = [np.array(fresh(images)) for _ in range(10)][5:]
    assert all(np.array_equal(np.asarray(a), e) for a, e in zip(again, expected))

"""What is said about wrong uses: one sentence of ours with the expectation and the fact."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import random_images

import medley
import medley.timm

X = random_images((4, 3, 8, 8))
Y = np.arange(4)
PLAN = medley.Mixup(seed=1).plan(batch=4, size=8)
MIX = medley.Mixup(seed=1)


class Picture:
    """An object that is no array, as PIL's images were for long."""


def read_only(images):
    images = images.copy()
    images.setflags(write=False)
    return images


def tensor(function):
    """With PyTorch, or skipped."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    import medley.torch

    return function(torch)


def mixed():
    return medley.mix_labels(PLAN, Y)


TABLE = [
    # images
    (lambda: MIX([X[0], X[1]]), TypeError, "images must be an array .* got list; stack them first"),
    (lambda: MIX([]), TypeError, "images must be an array .* got list"),
    (lambda: MIX(None), TypeError, "images must be an array .* got NoneType"),
    (lambda: MIX(Picture()), TypeError, "images must be an array .* got Picture"),
    (lambda: MIX(Picture(), Y, epoch=1), TypeError, "images must be an array .* got Picture"),
    (lambda: MIX(np.array(["a", "b"])), TypeError, "images must be numbers"),
    (lambda: MIX(np.array([{}, {}])), TypeError, "images must be numbers"),
    (lambda: MIX(X[:0]), ValueError, r"images must be a batch of at least one, got the shape \(0"),
    (lambda: MIX(X[:0], out=X), ValueError, "images must be a batch of at least one"),
    (lambda: MIX(np.float32(1)), ValueError, "images must be a batch of at least one"),
    (lambda: MIX(read_only(X), inplace=True), ValueError, "images must be writable with inplace"),
    (lambda: MIX(X, out=read_only(X)), ValueError, "out must be writable, got a read-only array"),
    (lambda: MIX(X, out=[X]), TypeError, "out must be an array .* got list"),
    (lambda: MIX(X, batch="4"), TypeError, "batch must be a whole number, got str"),
    (lambda: MIX(X, first=1.5), TypeError, "first must be a whole number, got float"),
    (lambda: MIX(X, epoch=-1), ValueError, "epoch must be a whole number >= 0, got -1"),
    (lambda: MIX(X, threads="2"), TypeError, "threads must be a whole number, got str"),
    # labels
    (lambda: MIX(X, ["cat", "dog", "cat", "dog"]), TypeError, "labels must be numbers, got text"),
    (lambda: MIX(X, np.array(["cat"] * 4)), TypeError, "labels must be numbers, got text"),
    (lambda: MIX(X, [[1, 2], [3], [4], [5]]), (TypeError, ValueError), "labels must be numbers in "
     "rows of one length"),
    (lambda: MIX(X, {"a": 1}), TypeError, "labels must be an array .* got dict"),
    (lambda: MIX(X, 3), TypeError, "labels must be an array .* got int"),
    (lambda: MIX(X, np.zeros(4, complex)), TypeError, "labels must be .* got complex128"),
    (lambda: medley.Mixup(same_class=True)(X), ValueError, "same_class and other_class need labels"),
    (lambda: medley.Mixup(other_class=True)(X, np.zeros((4, 3))), ValueError, "need labels that are "
     "classes"),
    (lambda: medley.Mixup(same_class=True).plan(batch=4, size=8), ValueError, "same_class needs 4 "
     "labels, got 0"),
    # plans
    (lambda: medley.apply(X, PLAN), TypeError, "plan must be a medley.Plan, got ndarray"),
    (lambda: medley.apply(PLAN, None), TypeError, "images must be an array .* got NoneType"),
    (lambda: medley.masks(MIX), TypeError, "plan must be a medley.Plan, got Mixup"),
    (lambda: medley.mix_labels(Y, PLAN), TypeError, "plan must be a medley.Plan, got ndarray"),
    (lambda: medley.mix_vectors(None, Y), TypeError, "plan must be a medley.Plan, got NoneType"),
    (lambda: medley.mix_class_maps(1, Y), TypeError, "plan must be a medley.Plan, got int"),
    (lambda: medley.mix_class_maps(PLAN, "map"), TypeError, "maps must be an array .* got str"),
    (lambda: medley.mix_class_maps_soft(PLAN, np.zeros((4, 8, 8), int), "3"), TypeError,
     "num_classes must be a whole number, got str"),
    (lambda: MIX.plan(batch=4, size=(3, 8, 8)), TypeError, r"size must be \(height, width\) or one "
     r"whole number, got \(3, 8, 8\)"),
    (lambda: MIX.plan(batch=4, size="8"), TypeError, "size must be a whole number, got str"),
    (lambda: MIX.plan(batch="4", size=8), TypeError, "batch must be a whole number, got str"),
    (lambda: MIX.plan(batch=4, size=8, epoch=-1), ValueError, "epoch must be a whole number >= 0"),
    (lambda: MIX.plan(batch=4, size=8, count="2"), TypeError, "count must be a whole number"),
    (lambda: medley.Plan.from_json(3), TypeError, "text must be JSON in a str, got int"),
    # options
    (lambda: medley.Mix(3), TypeError, "method must be a name such as hmix, got int"),
    (lambda: medley.Mixup(mean=0.5, std=0.2), TypeError, "mean must be numbers, one per channel"),
    (lambda: medley.Mixup(mean="0.5"), TypeError, "mean must be numbers, one per channel"),
    (lambda: medley.Mixup(mean=(0.5,)), ValueError, "mean and std go together"),
    (lambda: medley.Mixup(mean=(0.5,), std=(0,)), ValueError, "std must be finite and > 0, got 0"),
    (lambda: medley.Mixup(mean=(0.5,) * 3, std=(0.2,) * 3)(X[:, :1]), ValueError,
     "mean and std must have a number per channel, 1, got 3"),
    (lambda: medley.Mixup(max_pixel_value=0), ValueError, "max_pixel_value must be finite and > 0"),
    (lambda: medley.Mixup(max_pixel_value="255"), TypeError, "max_pixel_value must be a number"),
    (lambda: medley.Mixup(pad_value="0"), TypeError, "pad_value must be a number, got str"),
    (lambda: medley.Mixup(pad_mode=None), TypeError, "pad_mode must be a word, got NoneType"),
    (lambda: medley.Mixup(backend=1), TypeError, "backend must be a word, got int"),
    (lambda: medley.Mixup(threads=1.5), TypeError, "threads must be a whole number, got float"),
    (lambda: medley.Mixup(threads=np.arange(3)), TypeError, "threads must be a whole number"),
    # states
    (lambda: MIX.load_state_dict({}), ValueError, "state must be what state_dict.* with 'method'"),
    (lambda: MIX.load_state_dict({"method": "mixup"}), ValueError, "with 'seed', got"),
    (lambda: MIX.load_state_dict([1]), TypeError, "state must be the dict of state_dict.*got list"),
    # mixed labels
    (lambda: mixed().soft("3"), TypeError, "num_classes must be a whole number, got str"),
    (lambda: mixed().soft(4, "0.1"), TypeError, "smoothing must be a number, got str"),
    (lambda: mixed().to("cpu"), TypeError, "to is for labels that are PyTorch tensors, .* ndarray"),
    (lambda: mixed().cuda(), TypeError, "cuda is for labels that are PyTorch tensors"),
    (lambda: mixed()[0], TypeError, "takes a slice, a mask or indices, got int"),
    (lambda: tensor(lambda torch: mixed().loss(np.zeros((4, 4)))), TypeError,
     "logits must be a PyTorch tensor, got ndarray"),
    (lambda: tensor(lambda torch: mixed().loss(torch.zeros(4, 2))), ValueError,
     r"labels must be in \[0, 2\)"),
    (lambda: tensor(lambda torch: medley.torch.cross_entropy(torch.zeros(4, 2), torch.arange(4))),
     ValueError, r"labels must be in \[0, 2\)"),
    (lambda: tensor(lambda torch: MIX(torch.rand(4, 3, 8, 8).to_sparse())), TypeError,
     "images must be a dense tensor, got one of layout torch.sparse_coo"),
    (lambda: tensor(lambda torch: MIX(torch.empty(4, 3, 8, 8, device="meta"))), TypeError,
     "images must be in CPU or CUDA memory, got a tensor on meta"),
    # adapters
    (lambda: medley.timm.Mixup(cutmix_minmax=(0.5,)), ValueError, r"min < max <= 1, got \(0.5,\)"),
    (lambda: medley.timm.Mixup(cutmix_minmax=0.5), ValueError, r"min < max <= 1, got \(0.5,\)"),
    (lambda: medley.timm.Mixup()([X], Y), TypeError, "x must be an array .* got list"),
    (lambda: tensor(lambda torch: medley.timm.FastCollateMixup()(
        [(np.zeros((3, 8, 8), np.uint8), 0), (np.zeros((3, 8, 9), np.uint8), 1)])), ValueError,
     "images of a batch must have one shape"),
]  # fmt: skip

# Words of Python, NumPy, PyTorch and pybind11.
FOREIGN = re.compile(
    r"incompatible (function|constructor) arguments|object is not|has no attribute|unpack|"
    r"argument must be|the argument|the array|buffer source|memoryview|index .* is out of bounds|"
    r"stddev|setting an array|inhomogeneous|KeyError"
)


@pytest.mark.parametrize("use, error, text", TABLE, ids=[str(i) for i in range(len(TABLE))])
def test_wrong_uses(use, error, text):
    with pytest.raises(error, match=text) as caught:
        use()
    said = str(caught.value)
    assert not FOREIGN.search(said), said
    assert "\n" not in said
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("name", ["theory", "data"])
def test_submodules_need_no_import_of_their_own(name):
    program = f"import sys, medley; assert 'torch' not in sys.modules; medley.{name}; dir(medley)"
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="no attribute 'thoery'"):
        medley.thoery

"""What is said about wrong uses: one sentence of ours with the expectation and the fact."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import random_images

import medley
import medley.data
import medley.timm
import medley.torchvision
from medley._core import draws_version as DRAWS

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
    r"stddev|setting an array|inhomogeneous|KeyError|not supported between|unsupported operand|"
    r"cannot be interpreted|must be real number|Unable to cast|not iterable|combination of arguments"
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


class Junk:
    """What no argument can be."""


def on(function, **good):
    """A call that works, of whose arguments each is replaced by what it cannot be."""
    return function, good


def good_calls():
    def design(**arguments):
        return medley.Design.smooth(**{"sigma": 0.1, "length": 0.2, "mean": 0.5, **arguments})

    def state(**arguments):
        mix = medley.Mixup(seed=1)
        mix.load_state_dict({**mix.state_dict(), **arguments})

    moons = medley.theory.TwoMoons()
    maps = np.zeros((4, 8, 8), int)
    calls = {
        "mixer": on(
            medley.Mixup, alpha=1.0, beta=None, seed=0, rank=0, world_size=1, lam=None, prob=1.0,
            label="drawn", mode="batch", pairing="roll", no_self=False, pad=0, flip=0.0,
            num_classes=3, layout="nchw", out_layout=None, dtype="f32", mean=None, std=None,
            max_pixel_value=None, pad_mode="constant", pad_value=0.0, threads=0, backend="auto",
        ),
        "call": on(MIX, images=X, labels=Y, out=None, epoch=0, first=0, batch=4, threads=1),
        "plan": on(MIX.plan, batch=4, size=8, epoch=0, first=0, count=4, dataset_size=0,
                   labels=None, order=None, threads=1),
        "apply": on(
            medley.apply, plan=PLAN, images=X, out=None, layout="nchw", out_layout=None, dtype=None,
            mean=None, std=None, max_pixel_value=None, pad_mode="constant", pad_value=0.0,
            threads=0, backend="auto", windows=False,
        ),
        "set_epoch": on(MIX.set_epoch, epoch=0),
        "state": on(state, seed=1, epoch=0, step=0, batch=4, method="mixup"),
        "masks": on(medley.masks, plan=PLAN),
        "labels": on(medley.mix_labels, plan=PLAN, labels=Y, num_classes=4),
        "vectors": on(medley.mix_vectors, plan=PLAN, vectors=np.zeros((4, 2))),
        "maps": on(medley.mix_class_maps, plan=PLAN, maps=maps, padding=0, windows=False),
        "soft_maps": on(medley.mix_class_maps_soft, plan=PLAN, maps=maps, num_classes=3, ignore=0,
                        windows=False),
        "show": on(medley.show, images=(), lams=(0.5,), tile=16, seed=1, title="", caption=""),
        "soft": on(mixed().soft, num_classes=4, smoothing=0.0),
        "choose": on(PLAN.choose, other=PLAN, take=Y),
        "json": on(medley.Plan.from_json, text=PLAN.to_json()),
        "to_json": on(PLAN.to_json, masks=False),
        "design": on(design, size=8, sigma=0.1, length=0.2, mean=0.5),
        "synthetic": on(medley.data.synthetic, count=2, size=8, seed=0, first=0),
        "timm": on(
            medley.timm.Mixup, mixup_alpha=1.0, cutmix_alpha=1.0, cutmix_minmax=None, prob=1.0,
            switch_prob=0.5, mode="batch", method=None, seed=0, threads=0,
        ),
        "timm_call": on(medley.timm.Mixup(num_classes=4), x=X.copy(), target=Y),
        "torchvision": on(lambda x, y: medley.torchvision.MixUp(num_classes=4)(x, y), x=X, y=Y),
        "coefficients": on(medley.theory.coefficients, method="mixup", size=4, lam=0.5),
        "monte_carlo": on(medley.theory.monte_carlo, method="mixup", size=4, draws=64, seed=0,
                          effective=False, clip=False, threads=1),
        "two_moons": on(medley.theory.TwoMoons, method="mixup", centered=True),
        "exact": on(moons.exact, model=(0.0, 0.0, 0.0)),
        "descend": on(moons.descend, objective="exact", steps=2, rate=1.0, every=1),
        "profile": on(medley.theory.profile, name="mixup", lam=0.5, size=4),
        "check_design": on(medley.theory.check_design, size=None, mean=0.5,
                           moments=medley.theory.profile("mixup", 0.5, 4)),
        "grad_prod": on(medley.theory.partial_grad_prod, gradients=np.ones((2, 1, 4, 4)),
                        magnitude="each", normalize="none"),
    }  # fmt: skip
    try:
        import torch
    except ImportError:
        return calls
    from medley import collate
    from medley import torch as ours

    logits = torch.zeros(4, 4)
    data = [(torch.zeros(3, 8, 8), 0)] * 8
    losses = {"logits": logits, "labels": mixed(), "reduction": "mean", "label_smoothing": 0.0}
    return {
        **calls,
        "cross_entropy": on(ours.cross_entropy, weight=None, ignore_index=1, **losses),
        "binary": on(ours.binary_cross_entropy_with_logits, weight=None, pos_weight=None,
                     **losses),
        "accuracy": on(ours.accuracy, logits=logits, labels=mixed()),
        "loader": on(collate.Loader, dataset=data, mix=MIX, batch_size=2, seed=1, rank=0,
                     world_size=1),
        "loader_state": on(
            lambda **state: collate.Loader(data, MIX).load_state_dict(state), draws=DRAWS, epoch=0,
            step=0,
        ),
    }  # fmt: skip


CALLS = good_calls()


@pytest.mark.parametrize("call", CALLS)
def test_wrong_types_are_named_in_our_words(call):
    function, good = CALLS[call]
    function(**good)
    for name in good:
        for junk in (Junk(), "x", 1.5, -3, None, [], [1, "a"]):
            try:
                function(**{**good, name: junk})
            except (TypeError, ValueError) as error:
                said = str(error)
                assert not FOREIGN.search(said) and "\n" not in said, f"{name}={junk!r}: {said}"

"""Methods from Python: `medley.register`."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from typing import Annotated, Literal

import numpy as np
import pytest
from conftest import random_images

import medley


@medley.register("sides", summary="the partner on one side", source="nowhere")
def sides(
    lam,
    rng,
    height,
    width,
    *,
    soft: Annotated[float, "width of the edge"] = 0.0,
    side: Literal["left", "right"] = "right",
):
    x = (np.arange(width) + 0.5) / width
    mask = np.clip((lam - x) / soft + 0.5, 0, 1) if soft else (x < lam).astype(np.float32)
    return np.broadcast_to(mask[::-1] if side == "left" else mask, (height, width))


@medley.register("noise-one")
def noise_one(lam, rng, height, width, scale: float = 0.5):
    noise = rng.uniform((height, width)) + rng.integers(3) + scale * rng.normal((height, width))
    return (lam * noise).astype(np.float32)


@medley.register("noise-many", vectorized=True)
def noise_many(lam, rng, height, width, scale: float = 0.5):
    noise = (
        rng.uniform((height, width))
        + rng.integers(3)[:, None, None]
        + scale * rng.normal((height, width))
    )
    return (lam[:, None, None] * noise).astype(np.float32)


def test_methods_lists_it():
    [info] = [info for info in medley.methods() if info["name"] == "sides"]
    assert (info["title"], info["summary"], info["source"]) == (
        "Sides", "the partner on one side", "nowhere"
    )  # fmt: skip
    assert list(info["options"]) == ["alpha", "beta", "lam", "soft", "side"]
    soft, side = info["options"]["soft"], info["options"]["side"]
    assert (soft["type"], soft["default"], soft["help"]) == ("real", 0.0, "width of the edge")
    assert (side["type"], side["default"], side["names"]) == ("name", "right", ["left", "right"])
    assert info["uses_lam"] and not info["unbounded_lam"]


def test_masks_are_what_the_function_returns():
    plan = medley.Mix("sides", lam=0.25, seed=1).plan(batch=3, size=(4, 8))
    expected = np.tile(np.arange(8) < 2, (3, 4, 1))
    assert np.array_equal(medley.masks(plan), expected)
    assert np.array_equal(plan.lam, [0.25] * 3)
    assert np.array_equal(plan.label_weight, [0.25] * 3)
    left = medley.Mix("sides", lam=0.25, side="left", seed=1).plan(batch=3, size=(4, 8))
    assert np.array_equal(medley.masks(left), expected[:, :, ::-1])


def test_mixes_images_and_labels():
    images = random_images((6, 3, 8, 12))
    mix = medley.Mix("sides", soft=0.5, seed=3)
    x, y = mix(images, np.arange(6))
    plan = mix.plan(batch=6, size=(8, 12))
    masks = medley.masks(plan)[:, None]
    expected = masks * images + (1 - masks) * images[plan.partner]
    np.testing.assert_allclose(x, expected, atol=1e-6)
    np.testing.assert_allclose(y.weight, medley.masks(plan).mean((1, 2)), atol=1e-6)
    assert len(set(plan.lam.tolist())) == 6


def test_lam_is_drawn_as_for_other_methods():
    ours = medley.Mix("sides", alpha=0.3, beta=2, seed=9).plan(batch=8, size=16)
    theirs = medley.Mixup(alpha=0.3, beta=2, seed=9).plan(batch=8, size=16)
    assert np.array_equal(ours.lam, theirs.lam)
    assert np.array_equal(ours.partner, theirs.partner)
    drawn = medley.Mix("sides", lam=0.3, label="drawn", seed=9).plan(batch=8, size=16)
    assert np.array_equal(drawn.label_weight, [0.3] * 8)


def test_several_at_once_are_the_same_draws():
    one = medley.Mix("noise-one", seed=4, scale=0.25).plan(batch=5, size=(6, 7), epoch=2, first=5)
    many = medley.Mix("noise-many", seed=4, scale=0.25).plan(batch=5, size=(6, 7), epoch=2, first=5)
    assert np.array_equal(medley.masks(one), medley.masks(many))
    assert np.array_equal(one.label_weight, many.label_weight)
    a, b = medley.masks(many)[:2]
    assert not np.array_equal(a, b)


@pytest.mark.parametrize("method", ["noise-one", "noise-many"])
@pytest.mark.parametrize("mode", ["sample", "batch", "pair"])
def test_draws_depend_on_the_sample_alone(method, mode):
    mix = medley.Mix(method, seed=4, mode=mode, prob=0.7)
    whole = mix.plan(batch=8, size=5, first=8)
    assert whole == mix.plan(batch=8, size=5, first=8, threads=1)
    assert whole == pickle.loads(pickle.dumps(mix)).plan(batch=8, size=5, first=8)
    if mode == "sample":
        masks = medley.masks(mix.plan(batch=8, size=5, first=8, count=3))
        assert np.array_equal(masks, medley.masks(whole)[:3])
    if mode == "batch":
        masks = medley.masks(whole)
        assert np.array_equal(masks, masks[:1].repeat(8, 0))


def test_plans_replay_as_json():
    images = random_images((4, 2, 6, 6))
    plan = medley.Mix("noise-many", seed=4).plan(batch=4, size=6)
    text = plan.to_json(masks=True)
    assert json.loads(text)["method"] == "noise-many"
    again = medley.Plan.from_json(text)
    assert again == plan and pickle.loads(pickle.dumps(plan)) == plan
    assert np.array_equal(medley.apply(again, images), medley.apply(plan, images))


def test_monte_carlo_knows_it():
    shown, means = medley.theory.monte_carlo("sides", (4, 8), draws=640, lam=0.25)
    assert np.array_equal(means.value, np.tile(np.arange(8) >= 2, (4, 1)))
    assert shown.value.shape == (4, 8)
    with pytest.raises(ValueError):
        medley.theory.coefficients("sides", 8, lam=0.5)


def test_contact_sheets_show_it():
    assert medley.show("sides", tile=16, lams=[0.5]).ndim == 3


def test_threads_share_it():
    images = random_images((8, 1, 16, 16))
    mix = medley.Mix("noise-many", seed=1)
    expected = mix(images, epoch=0, first=0)
    wrong = []

    def work():
        for _ in range(20):
            if not np.array_equal(mix(images, epoch=0, first=0), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not wrong


def test_dataloader_workers_draw_alike():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    import medley.collate

    data = torch.utils.data.TensorDataset(torch.rand(12, 1, 6, 6), torch.arange(12))
    batches = []
    for workers in (0, 2):
        mix = medley.Mix("noise-many", seed=2, threads=1)
        loader = medley.collate.Loader(data, mix, batch_size=4, num_workers=workers)
        batches.append([x for x, _ in loader])
    assert all(torch.equal(a, b) for a, b in zip(*batches))


class Distance:
    """A callable."""

    def __call__(self, lam, rng, height, width, *, metric: str = "max", steps: int = 2):
        assert metric == "max" and steps in (2, 3) and isinstance(rng, medley.Random)
        return [[lam] * width] * height if steps == 3 else memoryview(np.full((height, width), lam))


def test_callables_and_buffers():
    assert medley.register("distance", Distance()).__class__ is Distance
    plan = medley.Mix("distance", seed=1).plan(batch=2, size=3)
    assert np.allclose(medley.masks(plan), plan.lam[:, None, None])
    with pytest.raises(TypeError, match="the masks of method distance must be an array"):
        medley.Mix("distance", steps=3).plan(batch=2, size=3)


def test_what_the_function_raises_comes_out():
    @medley.register("raises")
    def raises(lam, rng, height, width):
        raise KeyError("of mine")

    images = random_images((2, 1, 4, 4))
    mix = medley.Mix("raises", seed=1)
    for call in (
        lambda: mix(images),
        lambda: mix(images, epoch=0, first=0),
        lambda: mix.plan(batch=2, size=4),
        lambda: medley.theory.monte_carlo("raises", 4, draws=640),
        lambda: medley.show("raises", tile=16, lams=[0.5]),
    ):
        with pytest.raises(KeyError, match="of mine"):
            call()
    assert mix.step == 0


@pytest.mark.parametrize(
    "mask, text",
    [
        (np.zeros((4, 5)), "of shape 4x4 in host memory, got float64 of shape 4x5"),
        (np.zeros((1, 4, 4)), "of shape 4x4 in host memory, got float64 of shape 1x4x4"),
        (np.full((4, 4), np.nan), "must be finite"),
    ],
)
def test_wrong_masks(mask, text):
    name = f"wrong-{mask.shape}-{text[:6]}"
    medley.register(name, lambda lam, rng, height, width: mask)
    with pytest.raises(ValueError, match=text):
        medley.Mix(name, seed=1).plan(batch=2, size=4)


def nothing(lam, rng, height, width):
    return np.zeros((height, width))


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: medley.register("mixup", nothing), ValueError, 'is called "mixup" already'),
        (lambda: medley.register("", nothing), ValueError, "a method must have a name"),
        (lambda: medley.register(3, nothing), TypeError, "name must be a word, got int"),
        (lambda: medley.register("x", 3), TypeError, "draw must be a function, got int"),
        (lambda: medley.register("x", lambda lam: lam), TypeError, "must take lam, rng, height, w"),
        (lambda: medley.register("x", lambda a, b, c, d, e: a), TypeError, "e has none"),
        (lambda: medley.register("x", lambda a, b, c, d, **e: a), TypeError, "e has none"),
        (lambda: medley.register("x", lambda a, b, c, d, e=[]: a), TypeError, "option e must be a fl"),
        (lambda: medley.register("x", lambda a, b, c, d, seed=1: a), ValueError, "every mixer has one"),
        (lambda: medley.register("x", lambda a, b, c, d, pad=1: a), ValueError, "every mixer has one"),
        (lambda: medley.register("x", lambda a, b, c, d, alpha=1: a), ValueError, "every mixer has"),
        (lambda: medley.Mix("sides", soft="1"), TypeError, "soft must be a number, got str"),
        (lambda: medley.Mix("sides", side="up"), ValueError, "side must be left or right, got"),
        (lambda: medley.Mix("sides", ratio=1), TypeError, "method sides has no option ratio"),
        (lambda: medley.Mix("sides", lam=2), ValueError, r"lam must be in \[0, 1\], got 2"),
    ],
)
def test_wrong_calls(make, error, text):
    with pytest.raises(error, match=text):
        make()
    assert "x" not in [info["name"] for info in medley.methods()]


def test_programs_end_that_registered():
    program = (
        "import medley, numpy\n"
        "medley.register('mine', lambda lam, rng, height, width: numpy.full((height, width), lam))\n"
        "mix = medley.Mix('mine', seed=1)\n"
        "x = mix(numpy.zeros((4, 1, 8, 8), 'f4'))\n"
        "print('done')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env=os.environ, capture_output=True,
                          text=True, timeout=120)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_random_numbers():
    seen = {}

    @medley.register("watches")
    def watches(lam, rng, height, width):
        seen["numbers"] = (
            rng.uniform(), rng.normal(), rng.integers(10), rng.uniform(3), rng.normal((2, 3)),
            rng.integers(5, (2,)), rng.uniform((0, 2)),
        )  # fmt: skip
        for wrong in (lambda: rng.uniform(-1), lambda: rng.integers(0)):
            with pytest.raises(ValueError):
                wrong()
        with pytest.raises(TypeError):
            rng.uniform(1.5)
        return np.zeros((height, width))

    medley.Mix("watches", seed=1).plan(batch=1, size=2)
    u, n, i, three, normals, integers, none = seen["numbers"]
    assert 0 <= u < 1 and isinstance(n, float) and isinstance(i, int) and 0 <= i < 10
    assert three.shape == (3,) and three.dtype == np.float64 and ((three >= 0) & (three < 1)).all()
    assert normals.shape == (2, 3) and integers.dtype == np.int64 and none.shape == (0, 2)

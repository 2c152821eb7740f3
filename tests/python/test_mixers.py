"""Mixers: options, state, errors."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import METHODS, SOURCE, mixer, random_images

import medley

INFOS = [medley._core.method_info(method) for method in METHODS]
CLASSES = {info["name"]: getattr(medley, info["title"]) for info in INFOS}


def test_classes_are_what_the_generator_writes():
    core = medley._core.__file__
    done = subprocess.run(
        [sys.executable, SOURCE / "tools" / "generate", "--check", "--core", core],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_titles_are_those_of_the_papers():
    assert [info["title"] for info in INFOS] == [
        "NoMix", "Mixup", "CutMix", "Stochastic", "HMix", "GMix", "Bernoulli", "NMixup", "FMix",
        "ResizeMix", "GaussianField", "Custom",
    ]  # fmt: skip


@pytest.mark.parametrize("info", INFOS, ids=METHODS)
def test_class_has_the_options_and_defaults_of_the_method(info):
    parameters = inspect.signature(CLASSES[info["name"]]).parameters
    own = {k: p.default for k, p in parameters.items() if p.kind != inspect.Parameter.VAR_KEYWORD}
    assert set(own) == set(info["options"])
    for name, option in info["options"].items():
        required = option["required"]
        assert own[name] == (inspect.Parameter.empty if required else option["default"])


def test_specs_say_what_an_option_takes():
    options = medley._core.method_info("hmix")["options"]
    assert {k: options["alpha"][k] for k in ("type", "default", "low", "above_low", "high")} == {
        "type": "real", "default": 1.0, "low": 0.0, "above_low": True, "high": None,
    }  # fmt: skip
    assert options["beta"]["absent"] == "alpha" and options["beta"]["overridden_by"] == ["lam"]
    assert options["placement"]["names"] == ["clipped", "inside", "wrap"]
    assert options["placement"]["allowed"] == "clipped, inside or wrap"
    common = medley._core.common_options()
    assert common["mode"]["default"] == "sample" and common["pad"]["type"] == "integer"


def test_flat_methods_take_any_size():
    flat = [info["name"] for info in INFOS if info["flat"]]
    for method in flat:
        small, large = (medley.Mix(method, seed=1).plan(batch=4, size=side) for side in (4, 9))
        assert small.entries == large.entries
    assert flat == ["none", "mixup", "nmixup"]


@pytest.mark.parametrize("method", [m for m in METHODS if m != "custom"])
def test_class_and_name_are_the_same_mixer(method):
    a = CLASSES[method](seed=5).plan(batch=4, size=16)
    assert a == medley.Mix(method, seed=5).plan(batch=4, size=16)


@pytest.mark.parametrize("method", METHODS)
def test_help_has_a_text(method):
    assert len(inspect.getdoc(CLASSES[method])) > 40


def test_calls_walk_through_the_epoch():
    images = random_images((4, 3, 8, 8))
    mix = medley.Mixup(seed=1)
    for step in range(3):
        x = mix(images)
        plan = mix.plan(batch=4, size=8, first=4 * step)
        assert np.array_equal(x, medley.apply(plan, images))
    assert (mix.epoch, mix.step) == (0, 3)


def test_a_short_last_batch_keeps_the_nominal_size():
    mix = medley.CutMix(seed=1)
    mix(random_images((4, 1, 8, 8)))
    images = random_images((3, 1, 8, 8))
    plan = mix.plan(batch=4, size=8, first=4, count=3)
    assert np.array_equal(mix(images), medley.apply(plan, images))


def test_epochs_differ_and_can_be_set():
    images = random_images((4, 1, 8, 8))
    mix = medley.Mixup(seed=1)
    first = mix(images)
    mix.set_epoch(1)
    second = mix(images)
    mix.set_epoch(0)
    assert np.array_equal(mix(images), first)
    assert not np.array_equal(first, second)


def test_numpy_integers_are_whole_numbers():
    images = random_images((4, 1, 8, 8))
    mix = medley.Mixup(seed=np.int64(3))
    mix.set_epoch(np.int32(2))
    same = medley.Mixup(seed=3)
    same.set_epoch(2)
    assert np.array_equal(mix(images), same(images))
    for wrong in (True, 1.5, "1"):
        with pytest.raises(TypeError, match="whole number"):
            medley.Mixup(seed=wrong)


def test_explicit_ordinals_change_no_state():
    images = random_images((4, 1, 8, 8))
    mix = medley.Mixup(seed=1)
    a = mix(images, epoch=2, first=8)
    assert mix.step == 0
    assert np.array_equal(a, mix(images, epoch=2, first=8))
    assert np.array_equal(a, medley.apply(mix.plan(batch=4, size=8, epoch=2, first=8), images))


def test_state_continues_after_a_restart():
    images = random_images((4, 1, 8, 8))
    mix = medley.HMix(seed=3)
    mix.set_epoch(2)
    mix(images)
    state = mix.state_dict()
    expected = [mix(images) for _ in range(3)]
    again = medley.HMix(seed=3)
    again.load_state_dict(state)
    assert all(np.array_equal(again(images), e) for e in expected)


def test_state_of_another_mixer_is_refused():
    with pytest.raises(ValueError, match="seed 3, this mixer has 4"):
        medley.HMix(seed=4).load_state_dict(medley.HMix(seed=3).state_dict())


@pytest.mark.parametrize("make", [medley.HMix, lambda: medley.torchvision.HMix(num_classes=3)])
def test_state_of_other_draws_is_refused(make):
    state = make().state_dict()
    older = {name: value for name, value in state.items() if name != "draws"}
    for draws, other in ((1, older), (state["draws"] + 1, {**state, "draws": state["draws"] + 1})):
        text = f"of draws version {draws}, this Medley has {state['draws']}"
        with pytest.raises(ValueError, match=text):
            make().load_state_dict(other)
    make().load_state_dict(state)


@pytest.mark.parametrize("name", ["epoch", "step", "batch"])
def test_states_that_cannot_be_are_refused(name):
    mix = medley.HMix(seed=3)
    mix(random_images((4, 1, 8, 8)))
    before = mix.state_dict()
    with pytest.raises(ValueError, match=f"{name} must be a whole number >= 0, got -1"):
        mix.load_state_dict({**before, name: -1})
    with pytest.raises(TypeError, match=f"{name} must be a whole number, got float"):
        mix.load_state_dict({**before, name: 1.5})
    assert mix.state_dict() == before


def test_steps_beyond_all_samples_are_refused():
    mix = medley.HMix(seed=3)
    state = {**mix.state_dict(), "step": 1 << 62, "batch": 4}
    mix.load_state_dict(state)
    with pytest.raises(ValueError, match="an epoch has at most"):
        mix(random_images((4, 1, 8, 8)))
    assert mix.state_dict() == state


def test_method_and_seed_are_for_life():
    mix = medley.HMix(seed=3)
    with pytest.raises(AttributeError):
        mix.seed = 9
    with pytest.raises(AttributeError):
        mix.method = "gmix"
    assert (mix.method, mix.seed) == ("hmix", 3)


@pytest.mark.parametrize("method", METHODS)
def test_pickles_with_its_state(method):
    mix = mixer(method, seed=4)
    images = random_images((4, 1, 32, 32))
    mix(images)
    again = pickle.loads(pickle.dumps(mix))
    assert type(again) is type(mix)
    assert np.array_equal(again(images), mix(images))


class Named(medley.HMix):
    def __init__(self, name):
        super().__init__(seed=3)
        self.name = name


def test_copies_keep_what_subclasses_add():
    images = random_images((4, 1, 8, 8))
    mix = Named(["a"])
    mix(images)
    for again in (copy.deepcopy(mix), pickle.loads(pickle.dumps(mix))):
        assert type(again) is Named and again.name == ["a"] and again.name is not mix.name
        assert np.array_equal(again(images), mix(images, epoch=0, first=4))


def test_options_are_read_once():
    images = random_images((4, 2, 8, 8))
    mean, std = [0.1, 0.2], np.array([0.25, 0.5])
    same = medley.NoMix(mean=(0.1, 0.2), std=(0.25, 0.5))(images)
    live = medley.NoMix(mean=mean, std=std)
    once = medley.NoMix(mean=iter(mean), std=iter(std))
    mean[:], std[:] = [1, 1], 1
    for mix in (live, once, copy.deepcopy(live), copy.deepcopy(once)):
        assert np.array_equal(mix(images), same)
        assert np.array_equal(mix(images, threads=1), same)


def test_masks_and_designs_are_the_mixers_own():
    masks = np.full((8, 8), 0.25, np.float32)
    moments = np.full((2, 2), 0.3) - [[0, 0.05], [0.05, 0]]
    mix = medley.Custom(masks, seed=1)
    design = medley.Design.dense((1, 2), moments, 0.5)
    masks[:], moments[:] = 1, 0
    assert copy.deepcopy(mix).plan(batch=2, size=8) == mix.plan(batch=2, size=8)
    again = pickle.loads(pickle.dumps(design))
    a, b = (medley.GaussianField(design=d, seed=1).plan(batch=2, size=(1, 2)) for d in (design, again))
    assert a == b
    view = memoryview(np.full((8, 8), 0.25, np.float32))
    assert medley.Design.kronecker(memoryview(np.eye(2)), np.eye(1), 0.5).size == (2, 1)
    assert medley.Custom(view, seed=1).plan(batch=2, size=8) == mix.plan(batch=2, size=8)


def test_threads_share_a_mixer():
    images = random_images((8, 3, 16, 16))
    mix = medley.HMix(seed=1)
    results = []

    def work():
        for _ in range(20):
            results.append(mix(images).tobytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = medley.HMix(seed=1)
    assert sorted(results) == sorted(alone(images).tobytes() for _ in range(80))


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: medley.Mixup(alpha=-0.2), ValueError, "alpha must be > 0, got -0.2"),
        (lambda: medley.Mixup(alpha=float("nan")), ValueError, "alpha must be > 0, got nan"),
        (lambda: medley.Mixup(alpha="1"), TypeError, "alpha must be a number, got str"),
        (lambda: medley.Mixup(alpha=True), TypeError, "alpha must be a number, got bool"),
        (lambda: medley.Mix("cutmx"), ValueError, 'did you mean "cutmix"'),
        (lambda: medley.Mix("mixup", ratio=0.5), TypeError, "method mixup has no option ratio"),
        (lambda: medley.Mixup(rato=1), TypeError, "mixup has no option rato; it takes alpha"),
        (lambda: medley.CutMix(placement="in"), ValueError, "clipped, inside or wrap, got"),
        (lambda: medley.CutMix(lam=1.5), ValueError, r"lam must be in \[0, 1\], got 1.5"),
        (lambda: medley.NMixup(n=2.5), TypeError, "n must be a whole number, got float"),
        (lambda: medley.NMixup(n=10**30), ValueError, r"n must be in \[2, 1024\]"),
        (lambda: medley.Mixup(no_self=1), TypeError, "no_self must be True or False, got int"),
        (lambda: medley.Mixup(seed=-1), ValueError, "seed must be in"),
        (lambda: medley.Mixup(seed=1.0), TypeError, "seed must be a whole number"),
        (lambda: medley.Mixup(num_classes=-1), ValueError, "num_classes must be >= 1, got -1"),
        (lambda: medley.Mixup(num_classes=0), ValueError, "num_classes must be >= 1, got 0"),
        (lambda: medley.Mixup(num_classes=2.5), TypeError, "num_classes must be a whole number"),
        (lambda: medley.Mixup(layout="hwc"), ValueError, "layout must be nchw or nhwc"),
        (lambda: medley.Mixup(layout=None), ValueError, "^layout must be nchw or nhwc, got None"),
        (lambda: medley.Mixup(out_layout="hwc"), ValueError, "out_layout must be nchw or nhwc"),
        (lambda: medley.Mixup(dtype="f64"), ValueError, "dtype must be u8, f16, bf16 or f32"),
        (lambda: medley.Mixup(backend="tpu"), ValueError, "backend"),
        (lambda: medley.Mixup(same_class=True, other_class=True), ValueError, "exclude each other"),
        (lambda: medley.Custom(np.ones((2, 4, 4), int)), TypeError, "masks must be floats"),
        (lambda: medley.Custom(None), ValueError, "needs at least one mask"),
    ],
)
def test_wrong_options(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_numpy_scalars_are_numbers():
    mix = medley.HMix(alpha=np.float32(2), ratio=np.float64(0.25), pad=np.int64(1), prob=1, seed=1)
    same = medley.HMix(alpha=2, ratio=0.25, pad=1, seed=1)
    assert mix.plan(batch=2, size=8) == same.plan(batch=2, size=8)


def test_dataset_pairing_goes_through_a_plan():
    images = random_images((10, 1, 8, 8))
    mix = medley.Mixup(seed=1, pairing="dataset")
    with pytest.raises(ValueError, match="dataset_size"):
        mix(images)
    plan = mix.plan(batch=4, size=8, first=3, count=5, dataset_size=10)
    assert medley.apply(plan, images).shape == (5, 1, 8, 8)


def test_class_rules_take_the_labels():
    labels = np.array([0, 0, 0, 1, 1, 1])
    x, y = medley.Mixup(seed=1, same_class=True)(random_images((6, 1, 4, 4)), labels)
    assert np.array_equal(y.y_a, y.y_b)
    x, y = medley.Mixup(seed=1, other_class=True)(random_images((6, 1, 4, 4)), labels)
    assert (y.y_a != y.y_b).all()


def test_designs_pickle_and_mix():
    design = medley.Design.smooth((8, 8), 0.1, 0.5, 0.4)
    assert design.size == (8, 8)
    mix = medley.GaussianField(design=design, seed=1)
    again = pickle.loads(pickle.dumps(mix))
    assert mix.plan(batch=2, size=8) == again.plan(batch=2, size=8)
    matrix = np.full((2, 2), 0.3) - [[0, 0.05], [0.05, 0]]
    dense = medley.Design.dense((1, 2), matrix, np.array([0.5, 0.5]))
    assert dense.mean == 0.5
    rows = np.array([[0.3, 0.25], [0.25, 0.3]])
    assert medley.Design.kronecker(rows, np.eye(1), 0.5).size == (2, 1)
    with pytest.raises(ValueError, match="matrix must have the shape 2x2"):
        medley.Design.dense((1, 2), np.eye(3), 0.5)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize(
    "labels",
    [
        np.full(4, 7),
        np.zeros(3, np.int64),
        np.zeros((3, 5), np.float32),
        np.zeros((4, 2, 2), np.int64),
        [[1, 2], [3, 4]],
    ],
    ids=["class", "count", "vectors", "maps", "axes"],
)
def test_a_call_that_fails_changes_nothing(labels, inplace):
    mix, other = (medley.Mixup(seed=1, num_classes=3) for _ in range(2))
    x = random_images((4, 3, 8, 8))
    before = x.copy()
    out = None if inplace else np.zeros_like(x)
    with pytest.raises(ValueError):
        mix(x, labels, inplace=inplace, out=out)
    assert mix.step == 0
    np.testing.assert_array_equal(x, before)
    assert inplace or not out.any()
    np.testing.assert_array_equal(mix(x), other(x))


def test_a_failed_larger_batch_is_forgotten():
    mix = medley.Mixup(seed=1)
    with pytest.raises(ValueError):
        mix(random_images((8, 3, 4, 4)), np.zeros(3, np.int64))
    assert mix.state_dict()["batch"] == 0

"""`medley.timm` beside the installed timm (1.0.31): its code, given the draws of a plan, mixes alike."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import timm.data
import timm.data.mixup as theirs
import torch

import medley.timm as ours

CLASSES = 7


def images(count=8, size=(21, 26)):
    return torch.rand(count, 3, *size)


def labels(count=8):
    return torch.arange(count) % CLASSES


class Given:
    """timm's random numbers, from the entries of a plan: those of the elements that it asks for."""

    def __init__(self, entries):
        self.entries = entries

    def per_batch(self):
        return self.entries[0]["lam"], self.entries[0]["mask"]["kind"] == "box"

    def per_elem(self, count):
        lam = np.array([entry["lam"] for entry in self.entries[:count]], np.float32)
        return lam, np.array([entry["mask"]["kind"] == "box" for entry in self.entries[:count]])

    def boxes(self):
        found = [entry for entry in self.entries if entry["mask"]["kind"] == "box"]
        for entry in found:
            box = entry["mask"]
            yield (box["top"], box["top"] + box["height"], box["left"], box["left"] + box["width"])


def given_draws(monkeypatch, mixup, plan):
    """timm's mixup, with the draws of the plan."""
    given = Given(plan.entries)
    boxes = given.boxes()
    monkeypatch.setattr(theirs, "rand_bbox", lambda *a, **k: next(boxes))
    monkeypatch.setattr(theirs, "rand_bbox_minmax", lambda *a, **k: next(boxes))
    mixup._params_per_batch = given.per_batch
    mixup._params_per_elem = given.per_elem
    return mixup


SETTINGS = [
    {"mixup_alpha": 0.8},
    {"mixup_alpha": 0.0, "cutmix_alpha": 1.0},
    {"mixup_alpha": 0.8, "cutmix_alpha": 1.0, "switch_prob": 0.4},
    {"mixup_alpha": 0.0, "cutmix_minmax": (0.2, 0.8)},
    {"mixup_alpha": 0.8, "cutmix_alpha": 1.0, "prob": 0.5, "correct_lam": False},
]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("mode", ["batch", "pair", "elem"])
@pytest.mark.parametrize("options", SETTINGS, ids=lambda options: "-".join(options))
def test_mixes_as_timm(monkeypatch, options, mode, smoothing):
    common = {**options, "mode": mode, "label_smoothing": smoothing, "num_classes": CLASSES}
    for seed in range(6):
        mine = ours.Mixup(**common, seed=seed)
        other = timm.data.Mixup(**common)
        other = given_draws(monkeypatch, other, mine.plan(batch=8, size=(21, 26)))
        x = images()
        expected, expected_target = other(x.clone(), labels())
        mixed, target = mine(x, labels())
        assert mixed is x
        torch.testing.assert_close(mixed, expected, rtol=0, atol=2e-7)
        torch.testing.assert_close(target, expected_target, rtol=0, atol=2e-7)


@pytest.mark.parametrize("multi_label", [False, True])
@pytest.mark.parametrize("mode", ["batch", "pair", "elem", "half"])
@pytest.mark.parametrize("options", SETTINGS, ids=lambda options: "-".join(options))
def test_collates_as_timm(monkeypatch, options, mode, multi_label):
    common = {**options, "mode": mode, "num_classes": CLASSES, "multi_label": multi_label}
    pixels = np.random.default_rng(0).integers(0, 256, (8, 3, 21, 26), dtype=np.uint8)
    targets = [int(y) for y in labels()]
    if multi_label:
        targets = list((torch.rand(8, CLASSES) < 0.4).long())
    samples = [(image.copy(), y) for image, y in zip(pixels, targets)]
    mine = ours.FastCollateMixup(**common, seed=5)
    plan_mode = {**common, "mode": "elem" if mode == "half" else mode}
    plan = ours.Mixup(**plan_mode, seed=5).plan(batch=8, size=(21, 26))
    if mode == "half":
        plan = plan._head(4)
    mixed, target = mine(samples)
    assert all(np.array_equal(sample[0], image) for sample, image in zip(samples, pixels))
    theirs_ = given_draws(monkeypatch, timm.data.FastCollateMixup(**common), plan)
    expected, expected_target = theirs_(samples)
    assert mixed.dtype == expected.dtype == torch.uint8 and mixed.shape == expected.shape
    # Halves are rounded to the even number by NumPy, lam is a float32 there.
    difference = (mixed.int() - expected.int()).abs()
    assert difference.max() <= 1 and (difference > 0).float().mean() < 0.01
    torch.testing.assert_close(target, expected_target, rtol=0, atol=2e-7)
    samples = [(torch.from_numpy(image), y) for image, y in zip(pixels, targets)]
    mine.set_epoch(0)
    assert torch.equal(mine(samples)[0], mixed)


# Laws of the boxes


def boxes_of(mixup, count, size, **where):
    return [mixup.plan(batch=1, size=size, first=k, **where).entries[0]["mask"]
            for k in range(count)]  # fmt: skip


def test_odd_sides_are_kept():
    """lam = 0.45, 32 pixels: a side of 23, from row c - 11 to c + 12."""
    ratio = np.sqrt(1 - 0.45)
    assert int(32 * ratio) == 23
    mine = ours.Mixup(0.0, 1.0, seed=1)
    heights = set()
    for first in range(4000):
        entry = mine.plan(batch=1, size=(32, 32), first=first).entries[0]
        side = int(32 * np.sqrt(1 - entry["lam"]))
        box = entry["mask"]
        assert box["height"] <= side
        heights.add((box["height"], side))
    inside = {side for height, side in heights if height == side}
    assert {1, 3, 11, 23} <= inside


@pytest.mark.parametrize("lam", [0.2, 0.45, 0.9])
def test_functions_have_timms_law(lam):
    """All boxes of timm occur, no others, and about as often."""
    count = 40_000
    torch.manual_seed(3)
    np.random.seed(3)
    for function, arguments in (
        ("rand_bbox", ((1, 3, 7, 10), lam)),
        ("rand_bbox", ((1, 3, 9, 9), lam, 0.3)),
        ("rand_bbox_minmax", ((1, 3, 7, 10), (0.3, 0.9))),
    ):
        mine, other = (
            np.unique(np.stack(getattr(module, function)(*arguments, count=count), 1), axis=0,
                      return_counts=True)
            for module in (ours, theirs)
        )  # fmt: skip
        assert np.array_equal(mine[0], other[0])
        # Difference of two multinomial counts: 6 standard deviations.
        assert (np.abs(mine[1] - other[1]) < 6 * np.sqrt(mine[1] + other[1])).all()
        single = getattr(ours, function)(*arguments)
        assert [int(side) for side in single] in mine[0].tolist()


@pytest.mark.parametrize("options", [{"cutmix_alpha": 1.0}, {"cutmix_minmax": (0.3, 0.9)}])
def test_boxes_of_the_adapter_have_timms_law(options):
    """Rows and columns of the boxes, by sides that timm's own function gives for the same lam."""
    count, size = 30_000, (7, 10)
    mine = ours.Mixup(0.0, **options, seed=2)
    plan = ours.Mixup(0.0, **options, mode="elem", seed=2).plan(batch=count, size=size)
    assert len(plan) == count and mine
    found = np.array([[m["mask"][k] for k in ("top", "height", "left", "width")]
                      for m in plan.entries])  # fmt: skip
    found[:, 1] += found[:, 0]
    found[:, 3] += found[:, 2]
    np.random.seed(3)
    if "cutmix_minmax" in options:
        other = np.stack(theirs.rand_bbox_minmax(size, options["cutmix_minmax"], count=count), 1)
    else:
        other = np.array([theirs.rand_bbox(size, lam) for lam in np.random.beta(1, 1, count)])
    for axis in (slice(0, 2), slice(2, 4)):
        cells = 12
        keys = [np.bincount(b[:, axis][:, 0] * cells + b[:, axis][:, 1], minlength=cells * cells)
                for b in (found, other)]  # fmt: skip
        assert (np.abs(keys[0] - keys[1]) <= 6 * np.sqrt(keys[0] + keys[1])).all()


def test_lam_of_boxes():
    for options in ({}, {"correct_lam": False}, {"ratio_minmax": (0.2, 0.6)}):
        box, lam = ours.cutmix_bbox_and_lam((3, 32, 32), 0.4, **options)
        top, bottom, left, right = box
        share = 1 - (bottom - top) * (right - left) / 1024
        assert lam == (0.4 if "correct_lam" in options else share)


# Functions and arguments


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("lam", [0.3, torch.rand(6, 1)], ids=["number", "column"])
def test_targets(lam, smoothing):
    y = labels(6)
    expected = theirs.mixup_target(y, CLASSES, lam, smoothing)
    torch.testing.assert_close(ours.mixup_target(y, CLASSES, lam, smoothing), expected)
    dense = (torch.rand(6, CLASSES) < 0.5).long()
    expected = theirs.mixup_target(dense, CLASSES, lam, smoothing, True)
    torch.testing.assert_close(ours.mixup_target(dense, CLASSES, lam, smoothing, True), expected)
    assert torch.equal(ours.one_hot(y, CLASSES, 0.9, 0.1), theirs.one_hot(y, CLASSES, 0.9, 0.1))
    with pytest.raises(ValueError, match=r"dense targets must have the shape \(N, 7\)"):
        ours.mixup_target(y, CLASSES, multi_label=True)


def test_dense_targets_with_the_tenth_positional_argument(monkeypatch):
    positional = (0.8, 0.0, None, 1.0, 0.5, "elem", True, 0.1, CLASSES, True)
    dense = (torch.rand(8, CLASSES) < 0.4).long()
    mine = ours.Mixup(*positional, seed=1)
    plan = mine.plan(batch=8, size=(21, 26))
    expected = given_draws(monkeypatch, timm.data.Mixup(*positional), plan)
    x = images()
    expected_x, expected_y = expected(x.clone(), dense)
    mixed, y = mine(x, dense)
    torch.testing.assert_close(mixed, expected_x, rtol=0, atol=2e-7)
    torch.testing.assert_close(y, expected_y, rtol=0, atol=2e-7)
    with pytest.raises(ValueError, match=r"dense targets must have the shape \(N, 7\)"):
        mine(x, labels())


def test_every_argument_of_timm_has_its_place_and_default():
    import inspect

    for name in ("Mixup", "FastCollateMixup"):
        mine, other = (inspect.signature(getattr(m, name)).parameters for m in (ours, theirs))
        for a, b in zip(mine.values(), other.values()):
            assert (a.name, a.default) == (b.name, b.default)
    for name in ("mixup_target", "rand_bbox", "rand_bbox_minmax", "cutmix_bbox_and_lam", "one_hot"):
        mine, other = (inspect.signature(getattr(m, name)).parameters for m in (ours, theirs))
        assert [(p.name, p.default) for p in mine.values()] == [
            (p.name, p.default) for p in other.values()
        ]


# Attributes


def weights(mixup, count=12, mode=None):
    mixup.label_smoothing = 0.0
    found = [mixup(torch.rand(4, 3, 8, 8), labels(4))[1].max(1).values for _ in range(count)]
    return torch.stack(found)


def test_attributes_take_effect():
    mixup = ours.Mixup(num_classes=CLASSES, seed=1)
    assert (weights(mixup) < 1).any()
    mixup.mix_prob = 0.0
    assert (weights(mixup) == 1).all()
    mixup.mix_prob = 1.0
    mixup.mixup_alpha = 1000.0
    assert ((weights(mixup) - 0.5).abs() < 0.1).all()
    mixup.mixup_alpha, mixup.mode = 1.0, "elem"
    assert len(set(weights(mixup, 1)[0].tolist())) > 2
    mixup.mode, mixup.cutmix_alpha, mixup.switch_prob = "batch", 1.0, 1.0
    assert mixup.plan(batch=4, size=(32, 32)).entries[0]["mask"]["kind"] == "box"
    mixup.switch_prob = 0.0
    assert mixup.plan(batch=4, size=(32, 32)).entries[0]["mask"]["kind"] == "flat"
    mixup.cutmix_minmax, mixup.switch_prob = [0.4, 0.5], 1.0
    assert mixup.plan(batch=4, size=(20, 20)).entries[0]["mask"]["height"] in (8, 9)
    mixup.mixup_enabled = False
    assert (weights(mixup) == 1).all()
    again = pickle.loads(pickle.dumps(mixup))
    assert again.cutmix_minmax == [0.4, 0.5] and not again.mixup_enabled
    mixup.mixup_enabled, mixup.mode = True, "whole"
    with pytest.raises(ValueError, match="mode must be batch, pair or elem, got 'whole'"):
        mixup(torch.rand(4, 3, 8, 8), labels(4))


def test_modes():
    with pytest.raises(ValueError, match="mode must be batch, pair or elem, got 'half'"):
        ours.Mixup(mode="half")
    half = ours.FastCollateMixup(mode="half", num_classes=3)
    with pytest.raises(ValueError, match="even number of samples, got 3"):
        half([(np.zeros((1, 4, 4), np.uint8), 0)] * 3)


@pytest.mark.parametrize(
    "beside",
    [{"cutmix_alpha": 1.0}, {"cutmix_minmax": (0.2, 0.8)}, {"switch_prob": 0.8}],
    ids=lambda options: next(iter(options)),
)
def test_options_that_a_method_cannot_have(beside):
    name = next(iter(beside))
    with pytest.raises(ValueError, match=f"method='hmix' mixes alone, so {name} must not be given"):
        ours.Mixup(method="hmix", **beside)


@pytest.mark.parametrize("shape", [(6, 20), (6, 9, 10), (6, 3, 9, 10), (6, 4, 3, 9, 10)])
@pytest.mark.parametrize("mode", ["batch", "elem"])
def test_shapes(shape, mode):
    x = torch.rand(shape)
    before = x.clone()
    mixup = ours.Mixup(num_classes=CLASSES, mode=mode, seed=1, label_smoothing=0.0)
    mixed, y = mixup(x, labels(6))
    assert mixed is x
    lam = y[torch.arange(6), labels(6)].reshape(-1, *[1] * (len(shape) - 1))
    expected = before * lam + before.flip(0) * (1 - lam)
    torch.testing.assert_close(mixed, expected, rtol=0, atol=2e-7)


# timm's loaders


def loader(collate, workers, persistent=False, **options):
    class Pictures(torch.utils.data.Dataset):
        transform = None

        def __len__(self):
            return 32

        def __getitem__(self, index):
            return np.full((3, 32, 32), index, np.uint8), index

    return timm.data.create_loader(
        Pictures(), (3, 32, 32), 4, is_training=True, no_aug=True, collate_fn=collate,
        num_workers=workers, persistent_workers=persistent, device=torch.device("cpu"), **options,
    )  # fmt: skip


def mixed_of(source):
    return [round(float(y.max(1).values[0]), 6) for _, y in source]


def with_transform_kept(collate, workers, persistent=False):
    found = loader(collate, workers, persistent)
    found.loader.dataset.transform = None  # samples are pixels already
    return found


@pytest.mark.parametrize("workers, persistent", [(0, False), (2, False), (2, True)])
def test_mixing_can_be_switched_off_for_the_last_epochs(workers, persistent):
    collate = ours.FastCollateMixup(num_classes=32, label_smoothing=0.1)
    source = with_transform_kept(collate, workers, persistent)
    assert isinstance(source, timm.data.loader.PrefetchLoader) and source.mixup_enabled
    first, second = mixed_of(source), mixed_of(source)
    assert len(set(first + second)) == 16
    source.mixup_enabled = False
    assert source.mixup_enabled is False and collate.mixup_enabled is False
    unmixed = round(0.9 + 0.1 / 32, 6)
    assert mixed_of(source) == pytest.approx([unmixed] * 8)


def test_classes_are_timms():
    assert issubclass(ours.FastCollateMixup, timm.data.FastCollateMixup)
    assert issubclass(ours.Mixup, timm.data.Mixup)
    collate = ours.FastCollateMixup(num_classes=CLASSES, seed=3)
    for again in (copy.deepcopy(collate), pickle.loads(pickle.dumps(collate))):
        again.mixup_enabled = False
        assert collate.mixup_enabled

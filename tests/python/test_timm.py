"""The adapter for timm, without timm; tests/frameworks compares it with timm's code."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import random_images

import medley
import statement

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import medley.timm  # noqa: E402


@pytest.mark.parametrize("method", ["resizemix", "nmixup", "hmix"])
def test_mixup_takes_every_method(method):
    images = torch.from_numpy(random_images((4, 3, 16, 16)))
    fn = medley.timm.Mixup(method=method, num_classes=4, seed=3)
    again = pickle.loads(pickle.dumps(fn))
    x = images.clone()
    mixed, target = fn(x, torch.arange(4))
    assert mixed is x and target.shape == (4, 4)
    assert not torch.equal(mixed, images)
    same, _ = again(images.clone(), torch.arange(4))
    assert torch.equal(same, mixed)


@pytest.mark.parametrize("count", [8, 7])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_mixup_in_batch_mode(count, smoothing):
    images = random_images((count, 3, 16, 16))
    labels = np.arange(count) % 5
    fn = medley.timm.Mixup(mixup_alpha=0.8, label_smoothing=smoothing, num_classes=5, seed=3)
    plan = fn.plan(batch=count, size=(16, 16))
    lam = plan.lam[0]
    assert (plan.lam == lam).all()
    x = torch.from_numpy(images.copy())
    mixed, target = fn(x, torch.from_numpy(labels))
    assert mixed is x  # in place, as timm
    assert np.allclose(mixed.numpy(), statement.timm_mixup(images, lam), atol=1e-6)
    expected = statement.timm_target(labels, 5, lam, smoothing)
    assert np.allclose(target.numpy(), expected, atol=1e-6)


@pytest.mark.parametrize("count", [8, 7])
@pytest.mark.parametrize("minmax", [None, (0.2, 0.8)])
def test_cutmix_in_batch_mode(count, minmax):
    images = random_images((count, 3, 16, 20))
    labels = np.arange(count) % 5
    fn = medley.timm.Mixup(0.0, 1.0, cutmix_minmax=minmax, num_classes=5, seed=3)
    box = fn.plan(batch=count, size=(16, 20)).entries[0]["mask"]
    expected, lam = statement.timm_cutmix(
        images, (box["top"], box["left"], box["height"], box["width"])
    )
    if minmax is not None:
        assert 0.2 * 16 - 1 < box["height"] < 0.8 * 16 and 0.2 * 20 - 1 < box["width"] < 0.8 * 20
    mixed, target = fn(torch.from_numpy(images.copy()), torch.from_numpy(labels))
    assert np.array_equal(mixed.numpy(), expected)
    assert np.allclose(target.numpy(), statement.timm_target(labels, 5, lam, 0.1), atol=1e-6)


@pytest.mark.parametrize("minmax", [(0.5, 0.5), (0.8, 0.2), (-1, 3), (0, float("nan"))])
def test_box_sides_are_shares_of_the_image(minmax):
    with pytest.raises(ValueError, match="cutmix_minmax must be 0 <= min < max <= 1, got"):
        medley.timm.Mixup(cutmix_minmax=minmax)


def test_box_sides_that_round_to_one_number():
    fn = medley.timm.Mixup(0.0, cutmix_minmax=[0.5, 0.55])
    box = fn.plan(batch=2, size=(8, 8)).entries[0]["mask"]
    assert (box["height"], box["width"]) == (4, 4)


@pytest.mark.parametrize("mode", ["batch", "pair", "elem"])
def test_switches_between_two_laws(mode):
    fn = medley.timm.Mixup(0.2, 5.0, switch_prob=0.25, mode=mode, prob=0.75, num_classes=5, seed=1)
    kinds = {"flat": [], "box": []}
    unmixed = 0
    for step in range(200):
        for entry in fn.plan(batch=4, size=(32, 32), first=4 * step).entries:
            kinds[entry["mask"]["kind"]].append(entry["lam"])
    flat = np.array(kinds["flat"])
    unmixed = (flat == 1).sum()
    share = len(kinds["box"]) / (800 - unmixed)
    assert abs(unmixed / 800 - 0.25) < 0.11  # 200 draws in batch mode: 3.5 standard deviations
    assert abs(share - 0.25) < 0.13
    assert np.std(flat[flat < 1]) > 0.33 > 0.22 > np.std(kinds["box"])  # Beta(0.2), Beta(5)


def test_pairs_share_a_draw():
    fn = medley.timm.Mixup(1.0, mode="pair", num_classes=5, seed=1)
    lam = fn.plan(batch=7, size=(8, 8)).lam
    assert np.array_equal(lam, lam[::-1])
    assert len(set(lam[:4])) == 4


def test_elements_differ_and_drawn_labels():
    fn = medley.timm.Mixup(0.0, 1.0, mode="elem", correct_lam=False, num_classes=5, seed=1)
    plan = fn.plan(batch=6, size=(8, 8))
    assert len(set(plan.lam)) == 6
    assert np.array_equal(plan.lam, plan.label_weight)


@pytest.mark.parametrize("method", ["hmix", "gmix"])
def test_with_other_methods(method):
    fn = medley.timm.Mixup(mixup_alpha=0.7, method=method, num_classes=5, seed=1)
    images = torch.rand(5, 3, 8, 8)
    expected = medley.Mix(method, alpha=0.7, mode="batch", pairing="reverse", seed=1)(images)
    mixed, target = fn(images.clone(), torch.arange(5))
    assert torch.equal(mixed, expected)
    assert target.shape == (5, 5)
    assert medley.timm.Mixup(method="hmix", ratio=0.25).plan(batch=2, size=(8, 8))


@pytest.mark.parametrize("option", [
    {"layout": "nhwc"}, {"out_layout": "nhwc"}, {"dtype": "f16"}, {"mean": (0.5,)}, {"std": (2,)},
    {"pad": 2}, {"flip": 0.5}, {"pad_mode": "reflect"}, {"pad_value": 1}, {"backend": "reference"},
    {"same_class": True}, {"other_class": True},
], ids=lambda option: next(iter(option)))  # fmt: skip
def test_refuses_what_it_cannot_do_in_place(option):
    for kind in (medley.timm.Mixup, medley.timm.FastCollateMixup):
        with pytest.raises(TypeError, match=f"no option {next(iter(option))}; use medley.Mix"):
            kind(method="hmix", **option)


def test_can_be_switched_off_and_resumed():
    fn = medley.timm.Mixup(num_classes=5)
    fn.mixup_enabled = False
    images = torch.rand(4, 1, 8, 8)
    mixed, target = fn(images.clone(), torch.arange(4))
    assert torch.equal(mixed, images)
    assert torch.allclose(target.max(1).values, torch.full((4,), 0.92))
    assert fn.state_dict()["step"] == 1
    with pytest.raises(ValueError, match="mixup_alpha > 0"):
        medley.timm.Mixup(0.0, 0.0)
    with pytest.raises(TypeError, match="ratio need a method"):
        medley.timm.Mixup(ratio=0.5)


def test_fast_collate():
    fn = medley.timm.FastCollateMixup(num_classes=5, seed=2)
    batch = [(image, i % 5) for i, image in enumerate(random_images((6, 3, 8, 8), "uint8"))]
    x, target = fn(batch)
    assert x.dtype == torch.uint8 and x.shape == (6, 3, 8, 8) and target.shape == (6, 5)
    lam = fn.plan(batch=6, size=(8, 8)).lam[0]
    stacked = np.stack([image for image, _ in batch]).astype(np.float32)
    assert np.abs(statement.timm_mixup(stacked, lam) - x.numpy()).max() <= 0.5001


def test_mixes_every_other_pixel_in_place_too():
    whole = torch.rand(4, 3, 9, 18)
    x = whole[:, :, :, ::2]
    expected, _ = medley.timm.Mixup(num_classes=4, seed=1)(x.contiguous(), torch.arange(4))
    mixed, _ = medley.timm.Mixup(num_classes=4, seed=1)(x, torch.arange(4))
    assert mixed is x and torch.equal(x, expected)


def weights(mixup, count=8):
    mixup.label_smoothing = 0.0
    found = [mixup(torch.rand(4, 1, 8, 8), torch.arange(4))[1].max(1).values for _ in range(count)]
    return torch.stack(found)


def test_attributes_take_effect():
    mixup = medley.timm.Mixup(num_classes=4, seed=1)
    assert (weights(mixup) < 1).all()
    mixup.mix_prob = 0.0
    assert (weights(mixup) == 1).all()
    mixup.mix_prob, mixup.mixup_alpha = 1.0, 1000.0
    assert ((weights(mixup) - 0.5).abs() < 0.1).all()
    mixup.mixup_alpha, mixup.mode = 1.0, "elem"
    assert len(set(weights(mixup, 1)[0].tolist())) > 2
    mixup.cutmix_alpha, mixup.switch_prob = 1.0, 1.0
    assert mixup.plan(batch=4, size=(32, 32)).entries[0]["mask"]["kind"] == "box"
    mixup.switch_prob = 0.0
    assert mixup.plan(batch=4, size=(32, 32)).entries[0]["mask"]["kind"] == "flat"
    mixup.mode = "whole"
    with pytest.raises(ValueError, match="mode must be batch, pair or elem, got 'whole'"):
        mixup(torch.rand(4, 3, 8, 8), torch.arange(4))


@pytest.mark.parametrize(
    "beside",
    [{"cutmix_alpha": 1.0}, {"cutmix_minmax": (0.2, 0.8)}, {"switch_prob": 0.8}],
    ids=lambda options: next(iter(options)),
)
def test_options_that_a_method_cannot_have(beside):
    name = next(iter(beside))
    with pytest.raises(ValueError, match=f"method='hmix' mixes alone, so {name} must not be given"):
        medley.timm.Mixup(method="hmix", **beside)


def sides(mixup, n, count=3000):
    """(drawn side, rows of the box, first row) of boxes on n rows."""
    plan = mixup.plan(batch=count, size=(n, n))
    return [(int(n * np.sqrt(1 - e["lam"])), e["mask"]["height"], e["mask"]["top"])
            for e in plan.entries if e["mask"]["kind"] == "box"]  # fmt: skip


@pytest.mark.parametrize("current", [True, False])
def test_boxes_follow_the_installed_timm(monkeypatch, current):
    monkeypatch.setattr(medley.timm, "_CURRENT", current)
    found = sides(medley.timm.Mixup(0.0, 1.0, mode="elem", seed=1), 9)
    whole = {height for side, height, _ in found if height == side}
    assert whole == (set(range(9)) if current else {0, 2, 4, 6, 8})
    for side, height, top in found:
        assert height <= side and 0 <= top <= 9 - height
    minmax = medley.timm.Mixup(0.0, cutmix_minmax=(0.3, 0.9), mode="elem", seed=1)
    found = sides(minmax, 9)
    assert {height for _, height, _ in found} == set(range(2, 8))
    assert max(top + height for _, height, top in found) == (9 if current else 8)


def test_the_rule_of_a_timm_is_seen_from_its_boxes():
    def rand_bbox(rule):
        return lambda shape, lam, margin: (2 - 3 // 2, 2 + (3 + rule) // 2, 0, 0)

    assert medley.timm._keeps_odd_sides(rand_bbox(1))
    assert not medley.timm._keeps_odd_sides(rand_bbox(0))
    assert medley.timm._keeps_odd_sides(None)


@pytest.mark.parametrize("mode", ["batch", "pair", "elem"])
def test_boxes_are_shared_by_mode(mode):
    mixup = medley.timm.Mixup(0.0, cutmix_minmax=(0.1, 0.9), mode=mode, seed=1)
    boxes = [tuple(e["mask"].values()) for e in mixup.plan(batch=7, size=(40, 40)).entries]
    assert len(set(boxes)) == {"batch": 1, "pair": 4, "elem": 7}[mode]
    if mode == "pair":
        assert boxes == boxes[::-1]


def test_box_functions():
    torch.manual_seed(1)
    for margin in (0.0, 0.4):
        top, bottom, left, right = medley.timm.rand_bbox((3, 9, 12), 0.5, margin, count=500)
        assert (0 <= top).all() and (top <= bottom).all() and bottom.max() == 9
        assert ((bottom - top) <= 6).all() and ((right - left) <= 8).all() and right.max() == 12
        assert (margin == 0) == ((bottom - top).min() < 4)
    top, bottom, left, right = medley.timm.rand_bbox_minmax((3, 9, 12), (0.3, 0.9), count=500)
    assert set(bottom - top) == set(range(2, 8)) and bottom.max() == 9 and left.min() == 0
    box, lam = medley.timm.cutmix_bbox_and_lam((3, 9, 12), 0.5)
    assert lam == 1 - (box[1] - box[0]) * (box[3] - box[2]) / 108
    assert medley.timm.cutmix_bbox_and_lam((3, 9, 12), 0.5, correct_lam=False)[1] == 0.5
    torch.manual_seed(1)
    first = medley.timm.rand_bbox((3, 9, 12), 0.5)
    torch.manual_seed(1)
    assert medley.timm.rand_bbox((3, 9, 12), 0.5) == first


def test_dense_targets():
    dense = torch.tensor([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])
    mixup = medley.timm.Mixup(0.8, 0.0, None, 1.0, 0.5, "elem", True, 0.1, 3, True, seed=1)
    lam = torch.from_numpy(mixup.plan(batch=4, size=(8, 8)).lam).float()[:, None]
    rows = dense * 0.9 + 0.05
    _, y = mixup(torch.rand(4, 1, 8, 8), dense)
    torch.testing.assert_close(y, rows * lam + rows.flip(0) * (1 - lam))
    torch.testing.assert_close(y, medley.timm.mixup_target(dense, 3, lam, 0.1, True))
    with pytest.raises(ValueError, match=r"dense targets must have the shape \(N, 3\)"):
        mixup(torch.rand(4, 1, 8, 8), torch.arange(4))


def test_a_column_of_classes_is_classes():
    x = torch.rand(4, 1, 8, 8)
    column, flat = (medley.timm.Mixup(num_classes=4, seed=1)(x.clone(), target)[1]
                    for target in (torch.arange(4)[:, None], torch.arange(4)))  # fmt: skip
    assert torch.equal(column, flat)


def test_targets_of_classes():
    y = medley.timm.mixup_target(torch.arange(3), 4, 0.75, 0.1)
    assert np.allclose(y, statement.timm_target(np.arange(3), 4, 0.75, 0.1))


def test_half_of_a_batch_comes_out():
    fn = medley.timm.FastCollateMixup(num_classes=6, mode="half", seed=2, label_smoothing=0.0)
    pixels = random_images((6, 3, 8, 8), "uint8")
    x, y = fn([(image, i) for i, image in enumerate(pixels)])
    assert x.shape == (3, 3, 8, 8) and y.shape == (3, 6)
    whole = medley.timm.FastCollateMixup(num_classes=6, mode="elem", seed=2, label_smoothing=0.0)
    expected, rows = whole([(image, i) for i, image in enumerate(pixels)])
    assert torch.equal(x, expected[:3]) and torch.equal(y, rows[:3])
    with pytest.raises(ValueError, match="mode half needs an even number of samples, got 3"):
        fn([(image, 0) for image in pixels[:3]])
    with pytest.raises(ValueError, match="mode must be batch, pair or elem, got 'half'"):
        medley.timm.Mixup(mode="half")


@pytest.mark.parametrize("shape", [(6, 20), (6, 9, 10), (6, 3, 9, 10), (6, 4, 3, 9, 10)])
def test_shapes(shape):
    x = torch.rand(shape)
    before = x.clone()
    mixup = medley.timm.Mixup(num_classes=6, mode="elem", seed=1, label_smoothing=0.0)
    mixed, y = mixup(x, torch.arange(6))
    assert mixed is x
    lam = y.diagonal().reshape(-1, *[1] * (len(shape) - 1))
    torch.testing.assert_close(x, before * lam + before.flip(0) * (1 - lam))


def test_copies_are_switched_off_by_themselves():
    fn = medley.timm.FastCollateMixup(num_classes=3)
    again = pickle.loads(pickle.dumps(fn))
    again.mixup_enabled = False
    assert fn.mixup_enabled and not again.mixup_enabled and again._enabled.is_shared()


@pytest.mark.parametrize("minmax", [None, (0.2, 0.8)])
@pytest.mark.parametrize("mode", ["batch", "elem"])
def test_cutmix_cuts_segments_of_one_row(mode, minmax):
    fn = medley.timm.Mixup(
        0, 1.0, cutmix_minmax=minmax, mode=mode, label_smoothing=0, num_classes=8, seed=3
    )
    mixed = 0
    for _ in range(10):
        x = torch.arange(8.0)[:, None].expand(8, 200).clone()
        images, target = fn(x, torch.arange(8))
        own = (images == torch.arange(8.0)[:, None]).float().mean(1)
        torch.testing.assert_close(target.diagonal(), own)
        mixed += int(((own > 0) & (own < 1)).sum())
    assert mixed > 60

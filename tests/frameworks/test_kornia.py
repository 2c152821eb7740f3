"""Mixers beside the installed kornia: for the same draws, the same pixels and labels."""

from __future__ import annotations

import kornia.augmentation
import torch
from kornia.geometry.bbox import bbox_generator

import medley

BATCH, SIZE = 12, (20, 24)


def drawn(method, **options):
    """Images, labels, the plan that a mixer follows, and what it makes of them."""
    images, labels = torch.rand(BATCH, 3, *SIZE), torch.arange(BATCH)
    plan = medley.Mix(method, seed=3, **options).plan(batch=BATCH, size=SIZE)
    mixed, y = medley.Mix(method, seed=3, **options)(images, labels)
    return images, labels, plan, mixed, y


def test_mixup():
    images, labels, plan, mixed, y = drawn("mixup")
    theirs = kornia.augmentation.RandomMixUpV2(data_keys=["input", "class"])
    params = theirs.forward_parameters(images.shape)
    params["mixup_pairs"] = torch.as_tensor(plan.partner)
    params["mixup_lambdas"] = 1 - torch.as_tensor(plan.lam, dtype=torch.float32)  # the partner's
    expected, rows = theirs(images, labels, params=params)
    torch.testing.assert_close(mixed, expected, rtol=0, atol=2e-7)
    assert torch.equal(y.y_a, rows[:, 0].long()) and torch.equal(y.y_b, rows[:, 1].long())
    torch.testing.assert_close(1 - y.weight, rows[:, 2], rtol=0, atol=2e-7)


def test_cutmix():
    images, labels, plan, mixed, y = drawn("cutmix", placement="inside")
    boxes = [entry["mask"] for entry in plan.entries]
    sides = {
        name: torch.tensor([box[name] for box in boxes])
        for name in ("left", "top", "width", "height")
    }
    theirs = kornia.augmentation.RandomCutMixV2(
        data_keys=["input", "class"], use_correct_lambda=True
    )
    params = theirs.forward_parameters(images.shape)
    params["mix_pairs"] = torch.as_tensor(plan.partner)[None]
    params["crop_src"] = bbox_generator(*sides.values())[None]
    expected, rows = theirs(images, labels, params=params)
    assert torch.equal(mixed, expected)
    torch.testing.assert_close(y.weight, rows[0, :, 2], rtol=0, atol=2e-7)

"""Mixing and label rules as plain NumPy statements, to compare against."""

from __future__ import annotations

import numpy as np


def blend(mask, own, partner):
    """float32, products and sums rounded separately; weights 0 and 1 copy."""
    m = mask.astype(np.float32)
    mixed = m * own + (np.float32(1) - m) * partner
    mixed = np.where(m == 1, own, mixed)
    return np.where(m == 0, partner, mixed).astype(np.float32)


def mix(plan, masks, images):
    """A two-source plan without windows applied to float32 images (N, C, H, W)."""
    own = images[plan.own - plan.base]
    partner = images[plan.partner - plan.base]
    return blend(masks[:, None], own, partner)


def timm_mixup(x, lam):
    """timm: the partner is the mirrored position."""
    return x * np.float32(lam) + x[::-1] * np.float32(1 - lam)


def timm_cutmix(x, box):
    top, left, height, width = box
    out = x.copy()
    rows, columns = slice(top, top + height), slice(left, left + width)
    out[:, :, rows, columns] = x[::-1][:, :, rows, columns]
    return out, 1 - height * width / (x.shape[2] * x.shape[3])


def timm_target(labels, num_classes, lam, smoothing):
    off = smoothing / num_classes
    on = 1 - smoothing + off
    rows = np.full((len(labels), num_classes), off)
    rows[np.arange(len(labels)), labels] = on
    return rows * lam + rows[::-1] * (1 - lam)

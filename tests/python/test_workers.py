"""Adapters and mixers as collate functions of a DataLoader."""

from __future__ import annotations

import pytest

import medley

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import medley.timm  # noqa: E402
import medley.torchvision  # noqa: E402

BATCHES, EPOCHS = 5, 3


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return 4 * BATCHES

    def __getitem__(self, index):
        return torch.full((3, 8, 8), index, dtype=torch.uint8).numpy(), index % 4


class Collated:
    """Collates, then mixes: picklable, for spawned workers too."""

    def __init__(self, mix):
        self.mix = mix

    def __call__(self, samples):
        images, labels = torch.utils.data.default_collate(samples)
        return self.mix(images.float(), labels)


def fast_collate(**options):
    return medley.timm.FastCollateMixup(label_smoothing=0.0, num_classes=4, **options)


def timm_mixup(**options):
    return Collated(medley.timm.Mixup(label_smoothing=0.0, num_classes=4, **options))


def torchvision_mixup(**options):
    return Collated(medley.torchvision.MixUp(num_classes=4, **options))


def mixer(**options):
    return Collated(medley.Mixup(mode="batch", pairing="roll", num_classes=4, **options))


MAKERS = [fast_collate, timm_mixup, torchvision_mixup, mixer]


def weights(collate, workers, persistent=False, context=None):
    """The label weight of each batch of three epochs: one draw a batch."""
    loader = torch.utils.data.DataLoader(
        Pictures(), batch_size=4, collate_fn=collate, num_workers=workers,
        persistent_workers=persistent, multiprocessing_context=context,
    )  # fmt: skip
    found = []
    for _ in range(EPOCHS):
        for _, y in loader:
            rows = y.soft() if isinstance(y, medley.MixedLabels) else y
            found.append(round(float(rows[0, 0]), 6))
    return found


@pytest.mark.parametrize("workers, persistent", [(0, False), (2, False), (2, True), (3, True)])
@pytest.mark.parametrize("make", MAKERS)
def test_every_batch_of_every_epoch_has_its_own_draw(make, workers, persistent):
    for options in ({}, {"seed": 5}):
        found = weights(make(**options), workers, persistent)
        assert len(set(found)) == BATCHES * EPOCHS


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("make", [fast_collate, torchvision_mixup])
def test_torch_seed_decides_the_draws_of_workers(make, persistent):
    runs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        runs.append(weights(make(), 2, persistent))
    assert runs[0] == runs[1]
    assert not set(runs[0]) & set(runs[2])


def test_a_mixer_that_was_used_before_there_were_workers():
    collate = mixer(seed=5)
    before = [float(collate([Pictures()[i] for i in range(4)])[1].soft()[0, 0]) for _ in range(2)]
    found = weights(collate, 2)
    assert len(set(found) | set(before)) == BATCHES * EPOCHS + 2


def test_spawned_workers_draw_apart():
    found = weights(mixer(), 2, context="spawn")
    assert len(set(found)) == BATCHES * EPOCHS


def test_ranks_that_seed_torch_alike_draw_apart_in_workers(monkeypatch):
    found = []
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        torch.manual_seed(0)
        found += weights(torchvision_mixup(), 2, True)
    assert len(set(found)) == 2 * BATCHES * EPOCHS


def test_a_place_that_is_named_has_the_same_draw_in_every_worker():
    mix = medley.Mixup(mode="batch", pairing="roll", num_classes=4, seed=5)

    class Placed(Collated):
        def __call__(self, samples):
            images, labels = torch.utils.data.default_collate(samples)
            return mix(images.float(), labels, epoch=1, first=int(images[0, 0, 0, 0]))

    assert weights(Placed(mix), 2) == weights(Placed(mix), 0)

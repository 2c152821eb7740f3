"""A Lightning module that mixes in its loader's workers, or on the device."""

from __future__ import annotations

import functools

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset, default_collate
from torchvision.transforms.v2 import MixUp

BATCH, EPOCHS = 4, 3
CLASSES = 48  # one for each image, so that no two of a class are mixed


class Classifier(lightning.LightningModule):
    def __init__(self, workers, persistent, on_device):
        super().__init__()
        self.workers, self.persistent, self.on_device = workers, persistent, on_device
        self.net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, CLASSES))
        self.mixup = MixUp(alpha=0.8, num_classes=CLASSES)
        self.weights = []

    def train_dataloader(self):
        mixup = self.mixup

        def collate_fn(batch):
            return mixup(*default_collate(batch))

        return DataLoader(
            TensorDataset(torch.rand(CLASSES, 3, 32, 32), torch.arange(CLASSES)),
            batch_size=BATCH, shuffle=True, num_workers=self.workers,
            persistent_workers=self.persistent, collate_fn=None if self.on_device else collate_fn,
        )  # fmt: skip

    def on_after_batch_transfer(self, batch, dataloader_idx):
        return self.mixup(*batch) if self.on_device else batch

    def training_step(self, batch, batch_idx):
        image, target = batch
        self.weights.append(target[0].max().item())
        return torch.nn.functional.cross_entropy(self.net(image), target)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def train(workers, persistent, on_device=False):
    """Trains; the largest label weight of each batch's first image."""
    lightning.seed_everything(42, workers=True, verbose=False)
    module = Classifier(workers, persistent, on_device)
    trainer = lightning.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=EPOCHS, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(module)
    return module.weights


ways = {"collate_fn": train, "on the device": functools.partial(train, on_device=True)}

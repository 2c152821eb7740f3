"""Training in the shape of timm's train.py."""

from __future__ import annotations

import functools

import PIL.Image
import torch
from timm.data import FastCollateMixup, Mixup
from timm.data import create_loader
from timm.loss import SoftTargetCrossEntropy
from timm.utils import random_seed
from torch.distributed import get_rank
from torch.nn.parallel import DistributedDataParallel

BATCH, EPOCHS = 4, 3
CLASSES = 48  # one for each image, so that no two of a class are mixed


class Pictures(torch.utils.data.Dataset):
    transform = None  # create_loader sets it

    def __len__(self):
        return CLASSES

    def __getitem__(self, index):
        return self.transform(PIL.Image.new("RGB", (40, 40), (index, 128, 0))), index


def train(workers, persistent, prefetcher=True):
    """Trains; the largest label weight of each batch's first image."""
    random_seed(42, get_rank())
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, CLASSES))
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    mixup_args = dict(
        mixup_alpha=0.8, cutmix_alpha=0.0, cutmix_minmax=None, prob=1.0, switch_prob=0.5,
        mode="batch", label_smoothing=0.1, num_classes=CLASSES,
    )  # fmt: skip
    collate_fn = mixup_fn = None
    if prefetcher:
        collate_fn = FastCollateMixup(**mixup_args)
    else:
        mixup_fn = Mixup(**mixup_args)
    loader_train = create_loader(
        Pictures(), input_size=(3, 32, 32), batch_size=BATCH, is_training=True,
        use_prefetcher=prefetcher, num_workers=workers, distributed=True, collate_fn=collate_fn,
        device=torch.device("cpu"), persistent_workers=persistent, worker_seeding="all",
    )  # fmt: skip
    train_loss_fn = SoftTargetCrossEntropy()
    weights = []
    for epoch in range(EPOCHS):
        loader_train.sampler.set_epoch(epoch)
        for input, target in loader_train:
            if not prefetcher:
                input, target = mixup_fn(input, target)
            output = model(input)
            loss = train_loss_fn(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            weights.append(target[0].max().item())
    return weights


ways = {"prefetcher": train, "no prefetcher": functools.partial(train, prefetcher=False)}

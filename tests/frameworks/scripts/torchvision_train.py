"""Training in the shape of torchvision's references/classification."""

from __future__ import annotations

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.dataloader import default_collate
from torchvision.transforms.v2 import CutMix, MixUp
from torchvision.transforms import v2

BATCH, EPOCHS = 4, 3
CLASSES = 48  # one for each image, so that no two of a class are mixed


def get_mixup_cutmix(*, mixup_alpha, cutmix_alpha, num_classes):
    mixup_cutmix = []
    if mixup_alpha > 0:
        mixup_cutmix.append(MixUp(alpha=mixup_alpha, num_classes=num_classes))
    if cutmix_alpha > 0:
        mixup_cutmix.append(CutMix(alpha=cutmix_alpha, num_classes=num_classes))
    return v2.RandomChoice(mixup_cutmix)


def accuracy(output, target):
    with torch.inference_mode():
        if target.ndim == 2:
            target = target.max(dim=1)[1]
        return (output.argmax(1) == target).float().mean()


def train(workers, persistent):
    """Trains; the largest label weight of each batch's first image."""
    images, classes = torch.rand(CLASSES, 3, 32, 32), torch.arange(CLASSES)
    dataset = torch.utils.data.TensorDataset(images, classes)
    train_sampler = torch.utils.data.distributed.DistributedSampler(dataset)
    mixup_cutmix = get_mixup_cutmix(mixup_alpha=0.8, cutmix_alpha=0.0, num_classes=CLASSES)

    def collate_fn(batch):
        return mixup_cutmix(*default_collate(batch))

    data_loader = torch.utils.data.DataLoader(
        dataset, batch_size=BATCH, sampler=train_sampler, num_workers=workers,
        persistent_workers=persistent, collate_fn=collate_fn,
    )  # fmt: skip
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, CLASSES))
    model = DistributedDataParallel(model)
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    weights = []
    for epoch in range(EPOCHS):
        train_sampler.set_epoch(epoch)
        for image, target in data_loader:
            output = model(image)
            loss = criterion(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            assert 0 <= accuracy(output, target) <= 1
            weights.append(target[0].max().item())
    return weights


ways = {"collate_fn": train}

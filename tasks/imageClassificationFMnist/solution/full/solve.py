"""A known good answer: a residual network on shifted and mirrored images (needs PyTorch).

A GPU trains for 20 epochs; two cores alone train a narrower network for 3.
"""

import sys

import numpy as np

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit("PyTorch is missing: the solution trains with it (pip install torch)")

HAS_GPU = torch.cuda.is_available()
DEVICE = "cuda" if HAS_GPU else "cpu"
EPOCHS, WIDTH = (20, 64) if HAS_GPU else (3, 16)
BATCH = 128
RATE = 0.01
MARGIN = 3  # pixels that an image is shifted at most


def read(name):
    """Images as [image, channel, y, x], bytes."""
    images = np.load(f"data/{name}_images.npy")
    images = images.reshape(*images.shape[:3], -1).transpose(0, 3, 1, 2)
    return torch.from_numpy(np.ascontiguousarray(images))


def block(before, after):
    return nn.Sequential(
        nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after), nn.ReLU()
    )


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(block(width, width), block(width, width))

    def forward(self, x):
        return x + self.inner(x)


def network(channels):
    return nn.Sequential(
        block(channels, WIDTH),
        block(WIDTH, 2 * WIDTH),
        nn.MaxPool2d(2),
        Residual(2 * WIDTH),
        block(2 * WIDTH, 4 * WIDTH),
        nn.MaxPool2d(2),
        Residual(4 * WIDTH),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * WIDTH, 10),
    )


def scaled(images):
    return (images.to(DEVICE).float() - 120) / 64


def shifted(images):
    """Each batch by its own few pixels; half of the images mirrored."""
    x, y = torch.randint(-MARGIN, MARGIN + 1, (2,)).tolist()
    images = torch.roll(images, (y, x), (2, 3))
    mirrored = torch.rand(len(images), 1, 1, 1, device=images.device) < 0.5
    return torch.where(mirrored, images.flip(3), images)


def train(model, images, labels):
    steps = -(-len(images) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.05)
    rate = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, RATE, epochs=EPOCHS, steps_per_epoch=steps
    )
    for epoch in range(EPOCHS):
        total = 0.0
        for rows in torch.randperm(len(images)).split(BATCH):
            scores = model(shifted(scaled(images[rows])))
            loss = nn.functional.cross_entropy(scores, labels[rows].to(DEVICE), label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rate.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch + 1}: loss {total / len(images):.4f}", flush=True)


def predict(model, images):
    """The class that an image and its mirror image are most like."""
    model.eval()
    with torch.no_grad():
        parts = [model(x) + model(x.flip(3)) for x in map(scaled, images.split(500))]
    return torch.cat(parts).argmax(1).tolist()


def main():
    torch.manual_seed(0)
    images, labels = read("train"), torch.from_numpy(np.load("data/train_labels.npy")).long()
    model = network(images.shape[1]).to(DEVICE)
    train(model, images, labels)
    with open("submission.csv", "w") as file:
        print("label", *predict(model, read("test")), sep="\n", file=file)


if __name__ == "__main__":
    main()

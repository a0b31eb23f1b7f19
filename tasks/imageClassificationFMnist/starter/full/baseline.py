"""The baseline: a small convolutional network, trained for ten epochs (needs PyTorch).

Reads the images of data/, writes submission.csv. The sizes and rates are those of MLGym's baseline.
"""

import sys

import numpy as np

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit("PyTorch is missing: the baseline trains with it (pip install torch)")

EPOCHS = 10
BATCH = 64
RATE = 5e-5
WARM_UP = 500  # steps in which the learning rate rises
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def read(name):
    """Images as [image, channel, y, x], bytes."""
    images = np.load(f"data/{name}_images.npy")
    images = images.reshape(*images.shape[:3], -1).transpose(0, 3, 1, 2)
    return torch.from_numpy(np.ascontiguousarray(images))


def network(channels, side):
    return nn.Sequential(
        nn.Conv2d(channels, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * (side // 4) ** 2, 10),
    )


def train(model, images, labels):
    steps = EPOCHS * -(-len(images) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: step / WARM_UP if step < WARM_UP else (steps - step) / max(1, steps - WARM_UP),
    )
    for epoch in range(EPOCHS):
        total = 0.0
        for rows in torch.randperm(len(images)).split(BATCH):
            seen = images[rows].to(DEVICE).float() / 255
            loss = nn.functional.cross_entropy(model(seen), labels[rows].to(DEVICE))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            rate.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch + 1}: loss {total / len(images):.4f}", flush=True)


def predict(model, images):
    model.eval()
    with torch.no_grad():
        parts = [model(part.to(DEVICE).float() / 255).argmax(1) for part in images.split(500)]
    return torch.cat(parts).tolist()


def main():
    torch.manual_seed(42)
    images, labels = read("train"), torch.from_numpy(np.load("data/train_labels.npy")).long()
    model = network(images.shape[1], images.shape[2]).to(DEVICE)
    train(model, images, labels)
    with open("submission.csv", "w") as file:
        print("label", *predict(model, read("test")), sep="\n", file=file)


if __name__ == "__main__":
    main()

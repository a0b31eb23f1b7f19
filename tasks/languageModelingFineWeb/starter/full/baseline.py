"""The baseline: trains the GPT of model.py on 500 batches of 64 sequences, writes model.zip."""

import math
import zipfile
from pathlib import Path

import numpy as np

from model import DEVICE, GPT, LENGTH, WEIGHTS, functional, torch

STEPS, RATE = 500, 6e-4
BATCH, AT_ONCE = 64, 16  # sequences of a step, and those that a device takes at once


def batches(random):
    """Sequences from random places of the training shards, each with one token more."""
    shards = [
        np.memmap(path, "<u2", "r", offset=1024) for path in sorted(Path("data").glob("*train*"))
    ]
    while True:
        shard = shards[random.integers(len(shards))]
        starts = random.integers(len(shard) - LENGTH, size=AT_ONCE)
        rows = np.stack([shard[start : start + LENGTH + 1] for start in starts])
        yield torch.from_numpy(rows.astype(np.int64)).to(DEVICE)


def rate_at(step, steps):
    """A warm-up, then half a cosine down to a tenth."""
    warm = min(1, (step + 1) / 100)
    return warm * (0.55 + 0.45 * math.cos(math.pi * step / steps))


def train(model, steps, rate):
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_at(step, steps))
    data = batches(np.random.default_rng(0))
    for step in range(steps):
        optimizer.zero_grad()
        for _ in range(BATCH // AT_ONCE):
            rows = next(data)
            with torch.autocast(DEVICE, torch.bfloat16):
                logits = model(rows[:, :-1])
            targets = rows[:, 1:].flatten()
            loss = functional.cross_entropy(logits.flatten(0, 1).float(), targets)
            (loss * AT_ONCE / BATCH).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        schedule.step()
        if step % 50 == 0:
            print(f"step {step} of {steps}: loss {loss.item():.4f}", flush=True)


def pack(model):
    torch.save({name: weights.half() for name, weights in model.state_dict().items()}, WEIGHTS)
    with zipfile.ZipFile("model.zip", "w") as packed:
        for file in (Path("model.py"), WEIGHTS):
            packed.write(file, file.name)


def main(steps=STEPS, rate=RATE):
    torch.manual_seed(0)
    model = GPT().to(DEVICE)
    train(model, steps, rate)
    pack(model)


if __name__ == "__main__":
    main()

"""Scores model.zip on data/valid.bin as the judge does on hidden tokens: `practice.py [LENGTH]`.

LENGTH is that of a sequence, 128 by default. The judge asks two processes, of which
the second sees random tokens after a place.
"""

import sys
import tempfile
import zipfile

import numpy as np

LENGTH = int(sys.argv[1]) if len(sys.argv) > 1 else 128
SEQUENCES, BATCH = 64, 8


def load():
    folder = tempfile.mkdtemp()
    with zipfile.ZipFile("model.zip") as packed:
        packed.extractall(folder)
    sys.path.insert(0, folder)
    sys.modules.pop("model", None)
    import model

    return model


def log_softmax(rows):
    if hasattr(rows, "detach"):
        rows = rows.detach().float().cpu().numpy()
    logs = np.asarray(rows, np.float64)
    logs -= logs.max(-1, keepdims=True)
    return logs - np.log(np.exp(logs).sum(-1, keepdims=True))


def main():
    model, random = load(), np.random.default_rng(0)
    tokens = np.fromfile("data/valid.bin", "<u2", SEQUENCES * (LENGTH + 1), offset=1024)
    tokens = tokens.astype(np.int64).reshape(SEQUENCES, LENGTH + 1)
    losses, apart = [], []
    for at in range(0, SEQUENCES, BATCH):
        batch = tokens[at : at + BATCH]
        logs = log_softmax(model.logits(batch[:, :-1]))
        assert logs.ndim == 3 and logs.shape[:2] == (len(batch), LENGTH), logs.shape
        losses.append(-np.take_along_axis(logs, batch[:, 1:, None], 2))
        # Replace the tokens after a random place by others, in half of the sequences. A correct
        # model predicts the same at that place.
        place, some = random.integers(LENGTH - 1), slice(1, None, 2)
        changed = batch[some, :-1].copy()
        after = changed[:, place + 1 :]
        after[:] = random.integers(logs.shape[2], size=after.shape)
        again = log_softmax(model.logits(changed))[:, place]
        apart.append((np.exp(again) * (again - logs[some, place])).sum(1))
    losses, apart = np.concatenate(losses), np.concatenate(apart)
    error = losses.mean((1, 2)).std(ddof=1) / len(losses) ** 0.5
    print(f"loss {losses.mean():.4f}, standard error {error:.4f}")
    print(f"the same place with other tokens after it differs by {apart.max():.2g} nat at most")


if __name__ == "__main__":
    main()

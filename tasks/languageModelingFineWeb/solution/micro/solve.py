"""A known good answer: counts contexts of up to four tokens, and chooses weights by data/valid.bin."""

import numpy as np
from baseline import pack, read
from ngrams import LONGEST, VOCABULARY, Table, levels, mix

LENGTH = 128
WEIGHTS = 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0


def choose_weights(tables, text):
    """The best weight of each level, from the shortest context on."""
    width = LENGTH + 1
    text = text[: len(text) // width * width].reshape(-1, width)
    tokens, targets = text[:, :-1], text[:, 1:].ravel()
    mixed = np.full((tokens.size, VOCABULARY), 1 / VOCABULARY, np.float32)
    chosen = []
    for level in levels(tables, tokens):
        tried = [mix(mixed, level, weight) for weight in WEIGHTS]
        losses = [-np.log(each[np.arange(len(targets)), targets]).mean() for each in tried]
        best = int(np.argmin(losses))
        mixed = tried[best]
        chosen.append(WEIGHTS[best])
        print(f"level {len(chosen)}: loss {losses[best]:.4f} with the weight {chosen[-1]}")
    return chosen


if __name__ == "__main__":
    train = read("train")
    tables = [Table.train(train, length) for length in range(1, LONGEST + 1)]
    arrays = {"weights": np.array(choose_weights(tables, read("valid")), np.float32)}
    for length, table in enumerate(tables, 1):
        arrays |= table.arrays(length)
    np.savez("ngrams.npz", **arrays)
    pack("ngrams.py", "ngrams.npz")

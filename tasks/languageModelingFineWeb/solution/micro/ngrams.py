"""The solution's model: what followed the last tokens in training, and earlier in the sequence.

A level counts what followed a context. Levels go from short contexts to long ones. Each mixes what it
has counted with the level before: the fewer its counts, the less they weigh.
"""

from pathlib import Path

import numpy as np

VOCABULARY = 64
LONGEST = 4  # longest context that is counted in training texts
COPIES = 2  # longest context that is counted in the sequence itself
END = 0  # token that ends a document


def codes(tokens, length):
    """A number for the last `length` tokens of each place; 0 stands for places before the first."""
    code = np.zeros(tokens.shape, np.int64)
    for back in range(length):
        code *= VOCABULARY + 1
        code[..., back:] += tokens[..., : tokens.shape[-1] - back] + 1
    return code


class Table:
    """What followed contexts of one length: tokens and counts of context i from start[i] on."""

    def __init__(self, contexts, start, token, count):
        self.contexts, self.start, self.token = contexts, start, token
        self.count = count.astype(np.float32)
        self.total = np.add.reduceat(self.count, start[:-1])
        self.kinds = np.diff(start).astype(np.float32)

    @classmethod
    def train(cls, text, length):
        pairs = codes(text, length)[length - 1 : -1] * VOCABULARY + text[length:]
        pairs, count = np.unique(pairs, return_counts=True)
        contexts, start = np.unique(pairs // VOCABULARY, return_index=True)
        return cls(contexts, np.append(start, len(pairs)), pairs % VOCABULARY, count)

    def arrays(self, length):
        named = {"contexts": self.contexts, "start": self.start}
        named |= {"token": self.token.astype(np.uint8), "count": self.count.astype(np.int32)}
        return {f"{name}{length}": array for name, array in named.items()}

    def level(self, code):
        at = np.searchsorted(self.contexts, code)
        at[at == len(self.contexts)] = 0
        found = np.flatnonzero(self.contexts[at] == code)
        at = at[found]
        n = self.start[at + 1] - self.start[at]
        entry = np.arange(n.sum()) + np.repeat(self.start[at] - n.cumsum() + n, n)
        cell = np.repeat(found * VOCABULARY, n) + self.token[entry]
        total, kinds = np.zeros((2, len(code)), np.float32)
        total[found], kinds[found] = self.total[at], self.kinds[at]
        return cell, self.count[entry], total, kinds


def copy_levels(tokens):
    """What followed contexts of 1 to COPIES tokens earlier in the sequence's document."""
    n, length = tokens.shape
    document = (tokens == END).cumsum(1)
    same = np.tril(tokens[:, :, None] == tokens[:, None, :], -1)
    sequence, place, earlier = np.nonzero(same)
    inside = document[sequence, place] == document[sequence, earlier + 1]
    sequence, place, earlier = sequence[inside], place[inside], earlier[inside]
    for context in range(1, COPIES + 1):
        cell = (sequence * length + place) * VOCABULARY + tokens[sequence, earlier + 1]
        cell, count = np.unique(cell, return_counts=True)
        row, count = cell // VOCABULARY, count.astype(np.float32)
        total = np.bincount(row, count, n * length).astype(np.float32)
        kinds = np.bincount(row, minlength=n * length).astype(np.float32)
        yield cell, count, total, kinds
        longer = earlier >= context
        sequence, place, earlier = sequence[longer], place[longer], earlier[longer]
        longer = tokens[sequence, place - context] == tokens[sequence, earlier - context]
        sequence, place, earlier = sequence[longer], place[longer], earlier[longer]


def mix(before, level, weight):
    """Probabilities of a level. The one before counts `weight` for each kind of token that was seen."""
    cell, count, total, kinds = level
    left = np.where(total > 0, weight * kinds, 1)
    mixed = before * (left / (total + left))[:, None]
    mixed.ravel()[cell] += count / (total + left)[cell // VOCABULARY]
    return mixed


def levels(tables, tokens):
    for length, table in enumerate(tables, 1):
        yield table.level(codes(tokens, length).ravel())
    yield from copy_levels(tokens)


def predict(tables, weights, tokens):
    mixed = np.full((tokens.size, VOCABULARY), 1 / VOCABULARY, np.float32)
    for level, weight in zip(levels(tables, tokens), weights, strict=True):
        mixed = mix(mixed, level, weight)
    return mixed


def load(path):
    names = "contexts", "start", "token", "count"
    with np.load(path) as file:
        tables = [Table(*(file[f"{n}{i}"] for n in names)) for i in range(1, LONGEST + 1)]
        return tables, file["weights"]


FILE = Path(__file__).with_name("ngrams.npz")
LOADED = load(FILE) if FILE.exists() else None


def logits(tokens):
    return np.log(predict(*LOADED, tokens)).reshape(*tokens.shape, VOCABULARY)

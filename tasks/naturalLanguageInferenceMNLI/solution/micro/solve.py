"""A known good answer: what changes from premise to hypothesis, and what negation makes of it.

Words of the premise that are missing in the hypothesis are matched with words that are new there, by
how often both are left over together in the training data. A small neural network learns a vector for
each match, loss and addition, adds them up, and multiplies by which sentences are negated. Which words
negate is found by how the labels change with them. numpy alone.
"""

import os
from collections import Counter

import numpy as np
from baseline import read, softmax

SEED = int(os.environ.get("FUMEHOOD_TRAINING_SEED", "0"))
WIDTH = 24  # numbers in a word's vector
HIDDEN = 32
EPOCHS = 12
BATCH = 200
RATE = 0.01
PENALTY = 1e-4


# --- learning endings and negations from the words ------------------------------------------------


def find_ending(pairs):
    """The last letter that most words have in one form and lack in another."""
    words = {word for pair in pairs for words in pair for word in words}
    return Counter(word[-1] for word in words if word[:-1] in words).most_common(1)[0][0]


def without_ending(pairs, ending, stems):
    return [
        tuple(
            [w[:-1] if w[-1] == ending and w[:-1] in stems else w for w in words] for words in pair
        )
        for pair in pairs
    ]


def left_over(pair):
    """Words of the premise alone, and words of the hypothesis alone."""
    premise, hypothesis = map(Counter, pair)
    return list((premise - hypothesis).elements()), list((hypothesis - premise).elements())


def find_negations(pairs, labels):
    """Two words: labels change most (chi-squared) where one sentence alone has one of them."""
    pairs = [tuple(map(set, pair)) for pair in pairs]
    share = np.bincount(labels, minlength=3) / len(labels)

    def change(*words):
        apart = [p.isdisjoint(words) != h.isdisjoint(words) for p, h in pairs]
        counts = np.bincount(labels[apart], minlength=3)
        expected = max(counts.sum(), 1) * share
        return ((counts - expected) ** 2 / expected).sum()

    words = sorted(set().union(*(side for pair in pairs for side in pair)))
    first = max(words, key=change)
    words.remove(first)
    return {first, max(words, key=lambda word: change(first, word))}


# --- finding words that the hypothesis replaces ---------------------------------------------------


def find_matches(changes):
    """How much more often than by chance two words are left over together, as a logarithm."""
    together, gone, new = Counter(), Counter(), Counter()
    for lost, added in changes:
        gone.update(lost)
        new.update(added)
        together.update((a, b) for a in lost for b in added)
    return {
        pair: np.log((n + 0.1) * len(changes) / (gone[pair[0]] * new[pair[1]] + 1))
        for pair, n in together.items()
        if n > 2
    }


def match(change, matches):
    """A list of (lost, added); one of both is "" where nothing matches."""
    lost, added = map(list, change)
    likely = sorted(((matches.get((a, b), 0), a, b) for a in lost for b in added), reverse=True)
    items = []
    for score, a, b in likely:
        if score > 0.5 and a in lost and b in added:
            items.append((a, b))
            lost.remove(a)
            added.remove(b)
    return items + [(a, "") for a in lost] + [("", b) for b in added]


def count_items(lists, numbers):
    """How often each item occurs: [pair, item]."""
    counts = np.zeros((len(lists), len(numbers)), np.float32)
    for i, items in enumerate(lists):
        for item in items:
            if item in numbers:
                counts[i, numbers[item]] += 1
    return counts


def prepare(train, labels, test):
    """(counts of items, negation) of the training and of the test pairs.

    Negation is 0 without, 1 in the hypothesis, 2 in the premise, 3 in both.
    """
    stems = {word for pair in train for words in pair for word in words}
    ending = find_ending(train)
    train, test = (without_ending(pairs, ending, stems) for pairs in (train, test))
    negations = find_negations(train, labels)
    state = [
        np.array([[bool(negations & set(words)) for words in pair] for pair in pairs]) @ (2, 1)
        for pairs in (train, test)
    ]
    changes = [
        [tuple([w for w in words if w not in negations] for words in left_over(p)) for p in pairs]
        for pairs in (train, test)
    ]
    matches = find_matches(changes[0])
    lists = [[match(change, matches) for change in part] for part in changes]
    counts = Counter(item for items in lists[0] for item in items)
    numbers = {item: i for i, item in enumerate(item for item, n in counts.items() if n > 1)}
    return [(count_items(part, numbers), s) for part, s in zip(lists, state, strict=True)]


# --- training the network -------------------------------------------------------------------------


class Adam:
    def __init__(self, weights):
        self.weights, self.t = weights, 0
        self.m, self.v = ([np.zeros_like(w) for w in weights] for _ in range(2))

    def step(self, slopes, rate):
        self.t += 1
        correct = np.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t)
        for w, slope, m, v in zip(self.weights, slopes, self.m, self.v, strict=True):
            m[:] = 0.9 * m + 0.1 * slope
            v[:] = 0.999 * v + 0.001 * slope * slope
            w[:] = w - rate * correct * m / (np.sqrt(v) + 1e-8)


def forward(weights, items, state):
    table, inner, bias, outer, last = weights
    total = items @ table
    hidden = np.maximum(total @ inner + bias, 0)
    scores = np.einsum("nh,nhk->nk", hidden, outer[state]) + last[state]
    return total, hidden, softmax(scores)


def backward(weights, items, state, truth):
    table, inner, bias, outer, last = weights
    total, hidden, likely = forward(weights, items, state)
    error = (likely - truth) / len(items)
    slope_outer, slope_last = np.zeros_like(outer), np.zeros_like(last)
    for s in range(4):
        rows = state == s
        slope_outer[s] = hidden[rows].T @ error[rows]
        slope_last[s] = error[rows].sum(0)
    back = np.einsum("nk,nhk->nh", error, outer[state]) * (hidden > 0)
    return items.T @ (back @ inner.T), total.T @ back, back.sum(0), slope_outer, slope_last


def train_network(items, state, labels, random):
    weights = [
        0.1 * random.normal(size=(items.shape[1], WIDTH)),
        random.normal(size=(WIDTH, HIDDEN)) / np.sqrt(WIDTH),
        np.zeros(HIDDEN),
        random.normal(size=(4, HIDDEN, 3)) / np.sqrt(HIDDEN),
        np.zeros((4, 3)),
    ]
    weights = [w.astype(np.float32) for w in weights]
    adam, truth = Adam(weights), np.eye(3, dtype=np.float32)[labels]
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        order = random.permutation(len(items))
        for at in range(0, len(order), BATCH):
            rows = order[at : at + BATCH]
            slopes = backward(weights, items[rows], state[rows], truth[rows])
            slopes[0][:] += PENALTY * weights[0]
            adam.step(slopes, rate)
    return weights


def main():
    (pairs, labels), (asked, _) = read("data/train.csv"), read("data/test.csv")
    train, test = prepare(pairs, labels, asked)
    weights = train_network(*train, labels, np.random.default_rng(SEED))
    likely = forward(weights, *test)[2]
    with open("submission.csv", "w") as file:
        print("label", *likely.argmax(1), sep="\n", file=file)


if __name__ == "__main__":
    main()

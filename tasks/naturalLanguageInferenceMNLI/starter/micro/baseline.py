"""The baseline: logistic regression on which words occur in the premise and in the hypothesis.

Reads data/train.csv and data/test.csv, writes submission.csv.
"""

import csv

import numpy as np

STEPS = 80
RATE = 0.5
PENALTY = 1e-3


def read(path):
    """Pairs of sentences, each a list of words, and their labels if the file has them."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    pairs = [(row["premise"].split(), row["hypothesis"].split()) for row in rows]
    return pairs, np.array([int(row.get("label", 0)) for row in rows])


def make_features(vocabulary, pairs):
    """1 where a word of the vocabulary occurs: columns for the premise, then for the hypothesis."""
    columns = {word: i for i, word in enumerate(vocabulary)}
    features = np.zeros((len(pairs), 2 * len(columns)), np.float32)
    for i, pair in enumerate(pairs):
        for side, words in enumerate(pair):
            for word in words:
                if word in columns:
                    features[i, side * len(columns) + columns[word]] = 1
    return features


def softmax(scores):
    e = np.exp(scores - scores.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def regress(train, labels, test):
    """How likely each label of each test row is. Gradient descent with momentum."""
    mean, spread = train.mean(0), train.std(0) + 0.05
    train, test = (train - mean) / spread, (test - mean) / spread
    truth = np.eye(3, dtype=np.float32)[labels]
    weights = np.zeros((train.shape[1], 3), np.float32)
    step = np.zeros_like(weights)
    rate = RATE / np.sqrt(train.shape[1])
    for _ in range(STEPS):
        slope = train.T @ (softmax(train @ weights) - truth) / len(train) + PENALTY * weights
        step = 0.9 * step - rate * slope
        weights += step
    return softmax(test @ weights)


def main():
    (train, labels), (test, _) = read("data/train.csv"), read("data/test.csv")
    vocabulary = sorted({word for pair in train for words in pair for word in words})
    known, asked = make_features(vocabulary, train), make_features(vocabulary, test)
    with open("submission.csv", "w") as file:
        print("label", *regress(known, labels, asked).argmax(1), sep="\n", file=file)


if __name__ == "__main__":
    main()

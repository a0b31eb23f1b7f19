"""A known good answer: a logistic regression over words and pairs of words, and the luck of parties.

Each column is a word: numbers are cut into ranges, and words are read out of names, cabins and
tickets. A party are the people with one ticket. It had luck if more of it survived than the
regression expects of such people; so will the rest of it. Works for both variants, with nothing but
Python's own library.
"""

import csv
import math
import os
import random
from collections import Counter, defaultdict
from itertools import combinations

SEED = int(os.environ.get("FUMEHOOD_TRAINING_SEED", "0"))
RANGES = 6  # ranges into which a number is divided
FOLDS = 5
EPOCHS = 10
RATE = 0.03
PENALTY = 0.05
LUCK = 4  # weight of a party's luck
DOUBT = 0.7  # average people added to each party, so that small ones count less


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


# --- describing passengers by words ---------------------------------------------------------------


def cut(numbers, n):
    """In which of n equally frequent ranges each number lies. None: in one of its own."""
    known = sorted(x for x in numbers if x is not None)
    edges = [known[len(known) * i // n] for i in range(1, n)]
    return [None if x is None else sum(x >= edge for edge in edges) for x in numbers]


def side(cabin):
    return int(cabin[-1]) % 2 if cabin[-1:].isdigit() else None


def describe(people):
    """The words of each person, as pairs of a column's name and a value."""
    party = Counter(p["Ticket"] for p in people)
    columns = {
        "class": [p["Pclass"] for p in people],
        "sex": [p["Sex"] for p in people],
        "port": [p["Embarked"] for p in people],
        "age": cut([float(p["Age"]) if p["Age"] else None for p in people], RANGES),
        "price": cut([float(p["Fare"]) / party[p["Ticket"]] for p in people], RANGES),
        "family": [min(4, int(p["SibSp"]) + int(p["Parch"])) for p in people],
        "title": [p["Name"].partition(", ")[2].partition(".")[0] for p in people],
        "deck": [p["Cabin"][:1] for p in people],
        "side": [side(p["Cabin"]) for p in people],
        "prefix": [p["Ticket"].rpartition(" ")[0] for p in people],
    }
    return [list(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def with_pairs(words):
    return words + list(combinations(words, 2))


def numbered(rows):
    """The same rows with a number for each word."""
    numbers = defaultdict(lambda: len(numbers))
    return [[numbers[word] for word in words] for words in rows]


# --- logistic regression --------------------------------------------------------------------------


def chance(x):
    return 1 / (1 + math.exp(-max(-30, min(30, x))))


def fit(rows, fates, fold=0):
    """Weights by stochastic gradient descent. The last one is the constant."""
    shuffle = random.Random(FOLDS * SEED + fold).shuffle
    weights = [0.0] * (2 + max(map(max, rows)))
    order = list(range(len(rows)))
    for epoch in range(EPOCHS):
        shuffle(order)
        rate = RATE / (1 + 0.15 * epoch)
        for i in order:
            error = chance(logit(weights, rows[i])) - fates[i]
            weights[-1] -= rate * error
            for j in rows[i]:
                weights[j] -= rate * (error + PENALTY * weights[j])
    return weights


def logit(weights, row):
    return weights[-1] + sum([weights[j] for j in row if j < len(weights) - 1])


def cross_fit(rows, fates):
    """Logits of all rows. Those with a fate get theirs from the weights of the other folds."""
    known = range(len(fates))
    logits = [0.0] * len(rows)
    for fold in range(FOLDS):
        rest = [i for i in known if i % FOLDS != fold]
        weights = fit([rows[i] for i in rest], [fates[i] for i in rest], fold)
        for i in known[fold::FOLDS]:
            logits[i] = logit(weights, rows[i])
        for i in range(len(fates), len(rows)):
            logits[i] += logit(weights, rows[i]) / FOLDS
    return logits


# --- luck of people who travelled together --------------------------------------------------------


def luck(tickets, logits, fates):
    """By how much each person's party survived more often than expected, without the person."""
    n_hidden = len(tickets) - len(fates)
    known = [1] * len(fates) + [0] * n_hidden
    surprises = [fate - chance(logits[i]) for i, fate in enumerate(fates)] + [0] * n_hidden
    sums, counts = Counter(), Counter()
    people = list(zip(tickets, surprises, known, strict=True))
    for ticket, surprise, one in people:
        sums[ticket] += surprise
        counts[ticket] += one
    return [
        (sums[ticket] - surprise) / (counts[ticket] - one + DOUBT)
        for ticket, surprise, one in people
    ]


def main():
    train, test = read("data/train.csv"), read("data/test.csv")
    people, fates = train + test, [int(p["Survived"]) for p in train]
    logits = cross_fit(numbered(with_pairs(words) for words in describe(people)), fates)
    lucky = luck([p["Ticket"] for p in people], logits, fates)
    sums = [x + LUCK * y for x, y in zip(logits, lucky, strict=True)]

    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["PassengerId", "Survived"])
        for passenger, x in zip(test, sums[len(train) :], strict=True):
            writer.writerow([passenger["PassengerId"], int(x > 0)])


if __name__ == "__main__":
    main()

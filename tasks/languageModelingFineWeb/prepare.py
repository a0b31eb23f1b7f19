#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of the data set fineweb-micro from $FUMEHOOD_DATA_KEY (needs numpy).

    prepare.py micro FOLDER

It writes train.bin, valid.bin and hidden.bin in the form of FineWeb's shards. The grader alone sees
hidden.bin. The same key gives the same bytes.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from arrays import Array, ArrayDraws, np
from making import data_key, main

# --- making up a random language -----------------------------------------------------------------

SYMBOLS = 64
END, STOP, LETTERS = 0, 1, 2  # symbols: end of document, end of sentence, first letter

CLASSES = 8  # kinds of words
WORDS = 16  # words of each class
INFLECTED = 3  # classes whose words carry the mood of the sentence
MOODS = 4
TOPICS = 6
NAMES = 3  # names that each document has
ZIPF = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
FOLLOW = (0.6, 0.9)  # shares of the commonest next class, and of the two commonest together
NOISE = 0.01  # share of symbols that are replaced

Word = tuple[int, ...]


@dataclass(frozen=True)
class Language:
    """All of it follows from the key."""

    letters: list[int]  # symbols that spell words
    moods: list[int]  # symbols that mark the mood
    before: bool  # the mark stands before the word
    words: list[list[Word]]  # the words of each class
    ranks: list[list[list[int]]]  # by topic and class: words, frequent ones first
    follow: list[list[int]]  # the first, second and third class after each class
    names: int  # the class of names, which each document has of its own
    inflected: set[int]


def draw_words(draws: ArrayDraws, letters: list[int]) -> list[list[Word]]:
    """Different words of two, three and four letters, as many of each length in all languages."""
    made: list[Word] = []
    for row in draws.uniform("spelling", 3 * CLASSES * WORDS, 4):
        word = tuple(letters[int(x * len(letters))] for x in row[: 2 + len(made) % 3])
        if word not in made:
            made.append(word)
    order = draws.order("words", CLASSES * WORDS)
    return [[made[i] for i in some] for some in order.reshape(CLASSES, WORDS)]


def draw_language(draws: ArrayDraws) -> Language:
    symbols = (LETTERS + draws.order("letters", SYMBOLS - LETTERS)).tolist()
    letters = symbols[MOODS:]
    names, *kinds = draws.order("kinds", CLASSES).tolist()
    ranks = [
        [draws.order(f"topic {topic} class {c}", WORDS).tolist() for c in range(CLASSES)]
        for topic in range(TOPICS)
    ]
    return Language(
        letters=letters,
        moods=symbols[:MOODS],
        before=bool(draws.uniform("before", 1)[0] < 0.5),
        words=draw_words(draws, letters),
        ranks=ranks,
        # Random permutations make all classes of words equally frequent.
        follow=[draws.order(f"follow {i}", CLASSES).tolist() for i in range(len(FOLLOW) + 1)],
        names=names,
        inflected=set(kinds[:INFLECTED]),
    )


# --- writing texts in the made-up language --------------------------------------------------------


class Writer:
    """Writes documents. Each random number is used once."""

    def __init__(self, draws: ArrayDraws, language: Language, label: str, numbers: int) -> None:
        self.language = language
        self.next = iter(draws.uniform(label, numbers).tolist()).__next__

    def below(self, n: int) -> int:
        return int(self.next() * n)

    def document(self) -> Iterator[int]:
        letters = self.language.letters
        topic = self.below(TOPICS)
        names = [
            tuple(letters[self.below(len(letters))] for _ in range(3 + i % 2)) for i in range(NAMES)
        ]
        for _ in range(16 + self.below(16)):
            yield from self.sentence(topic, names)
            yield STOP
        yield END

    def sentence(self, topic: int, names: list[Word]) -> Iterator[int]:
        language = self.language
        mood = language.moods[self.below(MOODS)]
        kind = self.below(CLASSES)
        for _ in range(4 + self.below(6)):
            if kind == language.names:
                word = names[self.below(NAMES)]
            else:
                rank = bisect(ZIPF, self.next() * ZIPF[-1])
                word = language.words[kind][language.ranks[topic][kind][rank]]
            marked = kind in language.inflected
            if marked and language.before:
                yield mood
            yield from word
            if marked and not language.before:
                yield mood
            kind = language.follow[bisect(FOLLOW, self.next())][kind]


def write_text(draws: ArrayDraws, language: Language, label: str, n: int) -> Array:
    """n tokens of documents, of which the last one may be cut."""
    writer = Writer(draws, language, label, 2 * n + 1000)
    tokens: list[int] = []
    while len(tokens) < n:
        tokens.extend(writer.document())
    replaced, by = draws.uniform(f"{label} noise", 2, n)
    noise = LETTERS + (by * (SYMBOLS - LETTERS)).astype(np.int64)
    return np.where(replaced < NOISE, noise, tokens[:n]).astype("<u2")


# Number of tokens in each file of the generated data set.
LENGTHS = {"train": 500_000, "valid": 50_000, "hidden": 250_000}

HEADER = np.zeros(256, "<i4")
HEADER[:2] = 20240520, 1  # what a shard of GPT-2 tokens begins with; the number of tokens follows


def write_shard(path: Path, tokens: Array) -> None:
    header = HEADER.copy()
    header[2] = len(tokens)
    path.write_bytes(header.tobytes() + tokens.tobytes())


def prepare_micro(folder: str) -> None:
    draws = ArrayDraws(data_key(), "language")
    language = draw_language(draws)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, n in LENGTHS.items():
        write_shard(Path(folder, f"{name}.bin"), write_text(draws, language, name, n))


if __name__ == "__main__":
    main(micro=prepare_micro)

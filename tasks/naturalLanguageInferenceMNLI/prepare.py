#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of both variants of this task.

    prepare.py micro FOLDER                    a made language, from $FUMEHOOD_DATA_KEY
    prepare.py mnli TRAIN_PARQUET VALIDATION_PARQUET FOLDER
                                               Hugging Face's files (needs pyarrow)

Either writes train.csv, test.csv (without label), sample_submission.csv and answers.csv. The grader
alone sees the last one. The same input and key give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from making import Draws, data_key, main, read_parquet, write_rows

Row = tuple[str, str, int]  # premise, hypothesis, label

ENTAILMENT, NEUTRAL, CONTRADICTION = range(3)  # as in MNLI
TRAIN, TEST = 6000, 3000

# --- making up random meanings of words ----------------------------------------------------------

# How one concept relates to another. FORWARD means that the first entails the second.
EQUAL, FORWARD, BACKWARD, EXCLUDES, INDEPENDENT = range(5)


@dataclass(eq=False)
class Concept:
    """A meaning with one or two words. What it is a kind of is its parent."""

    parent: Concept | None
    exclusive: bool = False  # its children exclude each other
    words: list[str] = field(default_factory=list)
    children: list[Concept] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.parent:
            self.parent.children.append(self)

    def line(self) -> list[Concept]:
        """The concept, its parent and so on, up to one without."""
        return [self, *(self.parent.line() if self.parent else [])]


def relation(a: Concept, b: Concept) -> int:
    up, other = a.line(), b.line()
    if a is b:
        return EQUAL
    if b in up:
        return FORWARD
    if a in other:
        return BACKWARD
    shared = next((concept for concept in up if concept in other), None)
    return EXCLUDES if shared and shared.exclusive else INDEPENDENT


# For each kind of word: the number of families of concepts, and the total of concepts below the
# families' heads.
FAMILIES = {"noun": (3, 21), "verb": (3, 12), "adjective": (3, 9), "place": (2, 7)}
SYNONYMS = 0.3  # share of concepts with a second word
DEEP = 0.4  # share of concepts that get a parent below the head, if there is one


def draw_concepts(draws: Draws, n_families: int, n: int) -> list[Concept]:
    """Heads and what is below them. Half of the families exclude, in turn from a random one."""
    first = draws.below(2)
    heads = [Concept(None, exclusive=(first + i) % 2 == 0) for i in range(n_families)]
    concepts = list(heads)
    for i in range(n):
        head = heads[i % n_families]
        parent = head
        if head.children and draws.chance(DEEP):
            parent = draws.choice(head.children)
        concepts.append(Concept(parent, exclusive=draws.chance(0.5)))
    return concepts


# --- making up a random language ----------------------------------------------------------------

PARTICLES = {"article": 3, "filler": 5, "negation": 2, "reversed": 1}
FILLERS = 0.35  # chance of each of two fillers in a sentence
PLURAL = 0.3
REVERSED = 0.2  # share of sentences whose object comes before the subject, with a particle
NEGATED = 0.3
MODIFIED = 0.5  # chance of an adjective, and of a place


@dataclass(frozen=True)
class Language:
    """All of it follows from the key."""

    concepts: dict[str, list[Concept]]
    particles: dict[str, list[str]]
    plural: str  # an ending of nouns that means nothing here
    order: list[str]  # of subject, verb, object and place
    adjective_first: bool
    negation_place: int  # 0 before the verb, 1 after it, 2 at the end of the sentence
    reversed_first: bool  # the particle opens the sentence, else it follows the verb


def draw_words(draws: Draws, n: int, syllables: Sequence[int]) -> list[str]:
    onsets = draws.shuffled("bdfghjklmnprstvwz")[:10]
    vowels = draws.shuffled("aeiou")[:4]
    words: list[str] = []
    while len(words) < n:
        length = draws.choice(syllables)
        word = "".join(draws.choice(onsets) + draws.choice(vowels) for _ in range(length))
        if word not in words:
            words.append(word)
    return words


def draw_language(key: bytes) -> Language:
    draws = Draws(key, "inference\0language")
    concepts = {kind: draw_concepts(draws, *size) for kind, size in FAMILIES.items()}
    everything = [concept for part in concepts.values() for concept in part]
    n_particles = sum(PARTICLES.values())
    words = draw_words(draws, 2 * len(everything) + n_particles, (2, 2, 3))
    particles = {kind: [words.pop() for _ in range(n)] for kind, n in PARTICLES.items()}
    second = draws.shuffled(everything)[: round(SYNONYMS * len(everything))]
    for concept in everything:
        concept.words += [words.pop() for _ in range(1 + (concept in second))]
    return Language(
        concepts=concepts,
        particles=particles,
        plural=draws.choice("bdfghjklmnprstvwz"),  # no word ends in a consonant
        order=draws.shuffled(["subject", "verb", "object", "place"]),
        adjective_first=draws.chance(0.5),
        negation_place=draws.below(3),
        reversed_first=draws.chance(0.5),
    )


# --- writing sentences in the made-up language ----------------------------------------------------

# Parts of a generated sentence, each with the kind of word that fills it. A sentence may lack
# adjectives and the place.
PARTS = {
    "subject": "noun",
    "subject adjective": "adjective",
    "verb": "verb",
    "object": "noun",
    "object adjective": "adjective",
    "place": "place",
}
MODIFIERS = ("subject adjective", "object adjective", "place")

Meaning = dict[str, Concept]


@dataclass(frozen=True)
class Sentence:
    meaning: Meaning
    negated: bool


def draw_meaning(draws: Draws, language: Language) -> Meaning:
    return {
        part: draws.choice(language.concepts[kind])
        for part, kind in PARTS.items()
        if part not in MODIFIERS or draws.chance(MODIFIED)
    }


def changed_concept(draws: Draws, concepts: list[Concept], old: Concept) -> Concept:
    """One above, below, or beside the old one; seldom any."""
    above, below = old.line()[1:], old.children
    beside = [c for c in concepts if c is not old and relation(old, c) == EXCLUDES]
    near = draws.choice([above, below, beside])
    return draws.choice(near if near and draws.chance(0.9) else concepts)


def change(draws: Draws, language: Language, meaning: Meaning) -> Meaning:
    """Another meaning that differs in one part, or in who does it to whom."""
    made = dict(meaning)
    if draws.chance(0.06):
        made["subject"], made["object"] = made["object"], made["subject"]
        return made
    part = draws.choice(list(PARTS))
    concepts = language.concepts[PARTS[part]]
    if part not in made:
        made[part] = draws.choice(concepts)
    elif part in MODIFIERS and draws.chance(0.5):
        del made[part]
    else:
        made[part] = changed_concept(draws, concepts, made[part])
    return made


def compare(premise: Meaning, hypothesis: Meaning) -> int:
    """The relation of two meanings without negation."""
    found = set()
    for part in PARTS:
        if part in premise and part in hypothesis:
            found.add(relation(premise[part], hypothesis[part]))
        elif part in premise:
            found.add(FORWARD)
        elif part in hypothesis:
            found.add(BACKWARD)
    found.discard(EQUAL)
    if EXCLUDES in found:
        return EXCLUDES
    return found.pop() if len(found) == 1 else INDEPENDENT if found else EQUAL


# For each pair (premise negated, hypothesis negated): relations of their meanings that make an
# entailment, and those that make a contradiction.
INFERENCES: dict[tuple[bool, bool], tuple[set[int], set[int]]] = {
    (False, False): ({EQUAL, FORWARD}, {EXCLUDES}),
    (False, True): ({EXCLUDES}, {EQUAL, FORWARD}),
    (True, False): (set(), {EQUAL, BACKWARD}),
    (True, True): ({EQUAL, BACKWARD}, set()),
}


def infer(premise: Sentence, hypothesis: Sentence) -> int:
    yes, no = INFERENCES[premise.negated, hypothesis.negated]
    found = compare(premise.meaning, hypothesis.meaning)
    return ENTAILMENT if found in yes else CONTRADICTION if found in no else NEUTRAL


def say_thing(draws: Draws, language: Language, sentence: Sentence, part: str) -> list[str]:
    noun = draws.choice(sentence.meaning[part].words)
    if draws.chance(PLURAL):
        noun += language.plural
    words = [noun]
    if adjective := sentence.meaning.get(f"{part} adjective"):
        words.insert(0 if language.adjective_first else 1, draws.choice(adjective.words))
    return [draws.choice(language.particles["article"]), *words]


def say(draws: Draws, language: Language, sentence: Sentence) -> str:
    negation = draws.choice(language.particles["negation"])
    said = {
        "subject": say_thing(draws, language, sentence, "subject"),
        "verb": [draws.choice(sentence.meaning["verb"].words)],
        "object": say_thing(draws, language, sentence, "object"),
    }
    if place := sentence.meaning.get("place"):
        said["place"] = [draws.choice(place.words)]
    if sentence.negated and language.negation_place < 2:
        said["verb"].insert(language.negation_place, negation)
    is_reversed = draws.chance(REVERSED)
    if is_reversed:
        said["subject"], said["object"] = said["object"], said["subject"]
        if not language.reversed_first:
            said["verb"] += language.particles["reversed"]
    words = [word for part in language.order for word in said.get(part, [])]
    for _ in range(2):
        if draws.chance(FILLERS):
            words.insert(draws.below(len(words) + 1), draws.choice(language.particles["filler"]))
    if is_reversed and language.reversed_first:
        words = language.particles["reversed"] + words
    if sentence.negated and language.negation_place == 2:
        words.append(negation)
    return " ".join(words)


# --- making up random pairs of premise and hypothesis -------------------------------------------

CHANGES = (0, 1, 1, 1, 2, 2, 3)
WRONG = 0.03  # share of labels that are wrong, in training and hidden data


def draw_pair(draws: Draws, language: Language) -> tuple[Sentence, Sentence]:
    meaning = draw_meaning(draws, language)
    premise = Sentence(meaning, draws.chance(NEGATED))
    for _ in range(draws.choice(CHANGES)):
        meaning = change(draws, language, meaning)
    return premise, Sentence(meaning, draws.chance(NEGATED))


def draw_rows(draws: Draws, language: Language, n: int) -> list[Row]:
    """As many of each label, in an order that the key draws."""
    rows = []
    for label in draws.shuffled([i % 3 for i in range(n)]):
        true = (label + 1 + draws.below(2)) % 3 if draws.chance(WRONG) else label
        pair = draw_pair(draws, language)
        while infer(*pair) != true:
            pair = draw_pair(draws, language)
        rows.append((*(say(draws, language, sentence) for sentence in pair), label))
    return rows


# --- writing the generated data set ---------------------------------------------------------------


def write_split(folder: Path, train: list[Row], test: list[Row]) -> None:
    write_rows(folder / "train.csv", ["premise", "hypothesis", "label"], train)
    write_rows(folder / "test.csv", ["premise", "hypothesis"], [row[:2] for row in test])
    write_rows(folder / "answers.csv", ["label"], [row[2:] for row in test])
    write_rows(folder / "sample_submission.csv", ["label"], [[NEUTRAL]] * len(test))


def prepare_micro(folder: str) -> None:
    key = data_key()
    language = draw_language(key)
    train = draw_rows(Draws(key, "inference\0train"), language, TRAIN)
    write_split(Path(folder), train, draw_rows(Draws(key, "inference\0test"), language, TEST))


# --- converting the data set of Hugging Face ------------------------------------------------------

ROWS = (392702, 9815)  # numbers of rows of MNLI's splits train and validation_matched


def read_pairs(path: str, n: int) -> list[Row]:
    columns = ["premise", "hypothesis", "label"]
    table = read_parquet(path, n, columns)
    return list(zip(*(table[name].to_pylist() for name in columns), strict=True))


def prepare_mnli(train_parquet: str, validation_parquet: str, folder: str) -> None:
    train = read_pairs(train_parquet, ROWS[0])
    write_split(Path(folder), train, read_pairs(validation_parquet, ROWS[1]))


if __name__ == "__main__":
    main(micro=prepare_micro, mnli=prepare_mnli)

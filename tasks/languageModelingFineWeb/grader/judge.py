# SPDX-License-Identifier: Apache-2.0
"""Judges languageModelingFineWeb: the loss of the agent's model on hidden tokens.

`judge.py micro` and `judge.py full` differ in sizes. The model runs twice, in two sandboxes that share
nothing, one after the other:

- The first gets whole sequences. The loss is taken from its rows of logits.
- The second gets, for secretly drawn places, the same tokens up to the place and random ones after it.
  It can't know what comes next. Its row must agree with the first one's.

How much the second's rows lose more is added to the loss. So a model that looks ahead a little, below
what the comparison notices, gains nothing. If they lose less, nothing is taken away, and at one place it
counts little. Otherwise a model could gain by luck: few places are compared, and at one of them the first
player's row may lose thousands of nats by a rare token.

A model could look ahead at few places only, where that gains most, and hope that none is compared. So
further places are picked by what the first player gained there.

Rows come in memory that the judge shares with a player. The model may change them while they are
read. So each row is copied once, and only the copy counts.
"""

from __future__ import annotations

import builtins
import math
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duel

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one thread: more only take time to start
try:
    import numpy as np
except ImportError:
    np = None

Array = Any  # numpy.ndarray

CHECKS = 160  # places at which the second player is asked again, drawn beforehand
PICKED = 96  # further ones, picked by what the first player gained there
AFTER = 16  # least number of random tokens after a place, unless the sequence ends
MOST_AT_A_PLACE, MOST_IN_THE_MEAN = 0.05, 0.005  # largest divergence of both players, in nats
LESS = 0.1  # nats that count at most if a place's row of the second player loses less
MOST_LOSS = 10_000.0  # nats: such logits are no model's; equal ones lose at most 11 nats
HEADER_BYTES = 1024  # length of a shard's header, which precedes its tokens
BLOCK = 1 << 17  # numbers that are copied at once, so that they stay in a cache

LACKS_NUMPY = (
    "models can't be scored here: the Python of this episode has no numpy (pip install numpy)"
)
USUAL_CAUSES = (
    "no causal mask, dropout left on, statistics of the batch, experts with a capacity, or a state "
    "that is kept between calls"
)


@dataclass(frozen=True)
class Sizes:
    vocabulary: int
    length: int  # tokens of a sequence
    sequences: int
    batch: int  # sequences in each question to the first player
    second_batch: int
    type: str  # number type in an answer's rows
    seconds: float  # timeout of an answer


SIZES = {
    "micro": Sizes(64, 128, 160, 32, 43, "<f4", 10),
    "full": Sizes(50_304, 1024, 256, 1, 3, "<f2", 120),
}


Question = tuple[Array, Any]  # tokens, and one place of each sequence; None: all places


# --- asking a submitted model ---------------------------------------------------------------------


class Model:
    """The agent's model in one player."""

    def __init__(self, player: duel.Player, sizes: Sizes, trial: Array) -> None:
        self.player, self.sizes = player, sizes
        self.shared = np.frombuffer(player.share(), sizes.type)
        start = {"tokens": trial.tolist(), "vocabulary": sizes.vocabulary, "type": sizes.type}
        self.player.send({**player.opening("logits", 1), "start": start})
        for _ in self._answer(0, trial.size, self._first_fault):
            pass

    def answers(self, questions: Iterable[Question]) -> Iterator[Iterator[tuple[slice, Array]]]:
        """Asks all questions. Gives rows of logits for each, some rows at a time.

        Two halves of the shared memory take turns, so that the model is at work while rows are read.
        """
        asked: deque[tuple[int, int]] = deque()
        for number, (tokens, places) in enumerate(questions):
            at = number % 2 * (self.shared.size // 2)
            replies: dict[str, Any] = {"tokens": tokens.tolist(), "at": at}
            if places is not None:
                replies["places"] = places.tolist()
            self.player.send({"replies": replies})
            asked.append((at, tokens.size if places is None else len(tokens)))
            if len(asked) == 2:
                yield self._answer(*asked.popleft(), self._fault)
        for at, n in asked:
            yield self._answer(at, n, self._fault)

    def _answer(self, at: int, n: int, fault: Any) -> Iterator[tuple[slice, Array]]:
        """Copies of n rows in shared memory."""
        try:
            answer = self.player.answer(duel.CHUNK_BYTES)
        except duel.Fault as late:
            raise type(late)(f"logits: {late}") from None
        if answer is not True:
            raise fault(answer)
        rows = self.shared[at : at + n * self.sizes.vocabulary].reshape(n, -1)
        step = max(1, BLOCK // self.sizes.vocabulary)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            copy = rows[part].astype(np.float32)
            if not np.isfinite(copy).all():
                raise duel.Fault("logits returned NaN or infinite numbers (or too large ones)")
            yield part, copy

    def _first_fault(self, answer: Any) -> duel.Fault:
        """Nothing hidden was sent yet, so the exception's own text may be shown."""
        if not isinstance(answer, dict) or not isinstance(answer.get("raised"), str):
            return duel.Tampering("logits: not a row for each place")
        return duel.Fault(f"model.zip: {self._line(answer)}{duel.printable(answer['raised'])}")

    def _fault(self, answer: Any) -> duel.Fault:
        """A text could carry hidden tokens to the agent. The name of a usual exception can't."""
        if not isinstance(answer, dict) or not isinstance(answer.get("raised"), str):
            return duel.Tampering("logits: not a row for each place")
        told = "(practice.py shows all of it)"
        if answer.get("unfit") is True:
            return duel.Fault(f"model.zip: logits returned no array of the wanted shape {told}")
        name = answer["raised"].partition(":")[0]
        usual = getattr(builtins, name, None)
        if not (isinstance(usual, type) and issubclass(usual, BaseException)):
            name = "an exception"
        return duel.Fault(f"model.zip: {self._line(answer)}logits raised {name} {told}")

    @staticmethod
    def _line(answer: dict[str, Any]) -> str:
        line = answer.get("line")
        return f"model.py line {line}: " if duel.is_int(line, 1 << 16) else ""


def log_softmax(rows: Array) -> Array:
    """Natural logarithms of probabilities, in double precision. Their scale pays nothing."""
    logs = rows.astype(np.float64)
    logs -= logs.max(1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(1, keepdims=True))
    return logs


def losses_of(rows: Array, targets: Array) -> Array:
    """Losses of rows. Only sums need double precision."""
    best, true = rows.max(1), rows[np.arange(len(rows)), targets].astype(np.float64)
    with np.errstate(over="ignore"):  # such a token has no probability anyway
        below_best = rows - best[:, None]
    return best - true + np.log(np.exp(below_best, out=below_best).sum(1, dtype=np.float64))


# --- choosing random sequences to ask a model about ---------------------------------------------


def words(numbers: duel.Numbers, label: str, n: int) -> Array:
    return np.frombuffer(numbers.bytes(label, 4 * n), "<u4").astype(np.int64)


def below(numbers: duel.Numbers, label: str, n: int, limit: int) -> Array:
    return words(numbers, label, n) * limit >> 32


def draw_sequences(numbers: duel.Numbers, hidden: Array, sizes: Sizes, part: str) -> Array:
    """Sequences of hidden tokens, each with one token more: the last one's target.

    Validates and the end take turns with the sequences, if the end has others. So whatever a
    validate lets out is of no use at the end.
    """
    width = sizes.length + 1
    windows = hidden[: len(hidden) // width * width].reshape(-1, width)
    if part != "all":
        windows = windows[int(part == "final") :: 2]
    if len(windows) < sizes.sequences:
        raise ValueError(f"hidden.bin has {len(hidden)} tokens, which are too few")
    order = words(numbers, "sequences", len(windows)).argsort(kind="stable")
    return windows[order[: sizes.sequences]].astype(np.int64)


def draw_trial(numbers: duel.Numbers, label: str, sizes: Sizes) -> Array:
    """Two sequences that tell nothing: faults that they meet are told in full."""
    return below(numbers, label, 2 * sizes.length, sizes.vocabulary).reshape(2, -1)


# --- choosing places to compare -------------------------------------------------------------------


class Checks:
    """Places for the second player, and what the first said there.

    Places count through all sequences. CHECKS of them are drawn with equal chances, before the first
    player answers. PICKED more are drawn while its rows come. Their chances grow with the square of a
    row's gain: how much likelier the row makes the true token than the token's frequency does. An honest
    model can always have the frequencies, so the gain is what looking ahead can forge.

    The way to pick from rows that are seen once: each place draws a waiting time, which its chance divides,
    and the earliest stay (Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006).
    """

    def __init__(self, numbers: duel.Numbers, sizes: Sizes, hidden: Array) -> None:
        self.length = sizes.length
        drawn = draw_places(numbers, sizes)
        n = len(drawn) + PICKED
        self.where = np.append(drawn, np.zeros(PICKED, np.int64))
        self.rows = np.empty(
            (n, sizes.vocabulary)
        )  # logarithms of the first player's probabilities
        self.time = np.append(np.zeros(len(drawn)), np.full(PICKED, np.inf))
        self.drawn = slice(len(drawn))
        counts = np.bincount(hidden, minlength=sizes.vocabulary) + 1.0
        self.log_frequency = np.log(counts / counts.sum())
        waits = -np.log((words(numbers, "picked", sizes.sequences * sizes.length) + 1) / 2**32)
        waits[sizes.length - 1 :: sizes.length] = np.inf  # no token comes after the last place
        waits[drawn] = np.inf
        self.waits = waits

    def see(self, first: int, rows: Array, losses: Array, targets: Array) -> None:
        """Keeps what is compared of the first player's rows. `first` is the place of the first."""
        asked = np.flatnonzero((first <= self.where) & (self.where < first + len(rows)))
        asked = asked[asked < self.drawn.stop]
        self.rows[asked] = log_softmax(rows[self.where[asked] - first])
        gain = np.maximum(0, -losses - self.log_frequency[targets])
        with np.errstate(divide="ignore", invalid="ignore"):
            time = self.waits[first : first + len(rows)] / gain**2
        for row in np.flatnonzero(time < self.time.max()):
            last = self.time.argmax()
            if time[row] < self.time[last]:
                self.where[last], self.time[last] = first + row, time[row]
                self.rows[last] = log_softmax(rows[row : row + 1])[0]

    def drop_empty(self) -> None:
        """Leaves room out that was not needed, if few rows gained."""
        kept = self.time < np.inf
        self.where, self.rows = self.where[kept], self.rows[kept]

    def rounds(self) -> Iterator[Array]:
        """Indices of places in the order to ask. No sequence comes twice in a round.

        Tokens up to a later place tell the second player what follows an earlier one. So the later one
        is asked in a later round, when the answers of the earlier round are there.
        """
        order = np.argsort(self.where, kind="stable")
        sequence = self.where[order] // self.length
        turn = np.arange(len(order)) - np.searchsorted(sequence, sequence)
        for number in range(turn.max() + 1):
            asked = order[turn == number]
            yield asked[np.argsort(self.where[asked] % self.length, kind="stable")]


def draw_places(numbers: duel.Numbers, sizes: Sizes) -> Array:
    """Places, spread evenly over sequences. The last of a sequence has no token after it."""
    place = below(numbers, "places", CHECKS, sizes.length - 1)
    order = words(numbers, "checked", sizes.sequences).argsort(kind="stable")
    return order[np.arange(CHECKS) % sizes.sequences] * sizes.length + place


# --- computing the score --------------------------------------------------------------------------


def first_losses(model: Model, sequences: Array, checks: Checks) -> Array:
    """Losses of all places, as [sequence, place]. Keeps the rows of checked places."""
    sizes, losses = model.sizes, []
    batches = np.split(sequences, range(sizes.batch, len(sequences), sizes.batch))
    first = 0  # place of a batch's first row among those of all batches
    questions = ((batch[:, :-1], None) for batch in batches)
    for batch, answer in zip(batches, model.answers(questions), strict=True):
        targets = batch[:, 1:].ravel()
        for part, rows in answer:
            losses.append(losses_of(rows, targets[part]))
            checks.see(first + part.start, rows, losses[-1], targets[part])
        first += targets.size
    return np.concatenate(losses).reshape(len(sequences), sizes.length)


def second_rows(model: Model, sequences: Array, checks: Checks, numbers: duel.Numbers) -> Array:
    """What the second player says at the checked places."""
    logs = np.empty_like(checks.rows)
    for number, asked in enumerate(checks.rounds()):
        parts = np.split(
            asked, range(model.sizes.second_batch, len(asked), model.sizes.second_batch)
        )
        questions = (
            second_question(model.sizes, sequences, checks.where[part], numbers, f"{number} {at}")
            for at, part in enumerate(parts)
        )
        for part, answer in zip(parts, model.answers(questions), strict=True):
            logs[part] = np.concatenate([log_softmax(rows) for _, rows in answer])
    return logs


def second_question(
    sizes: Sizes, sequences: Array, where: Array, numbers: duel.Numbers, label: str
) -> Question:
    sequence, place = np.divmod(where, sizes.length)
    width = min(sizes.length, int(place.max()) + 1 + AFTER)
    tokens = below(numbers, f"after {label}", len(place) * width, sizes.vocabulary)
    tokens = tokens.reshape(len(place), width)
    same = np.arange(width) <= place[:, None]
    tokens[same] = sequences[sequence, :width][same]
    return tokens, place


def divergence(logs: Array, others: Array) -> Array:
    """Kullback and Leibler's, of each row, the larger of both directions."""
    difference = logs - others
    return np.maximum((np.exp(logs) * difference).sum(1), -(np.exp(others) * difference).sum(1))


def check_agreement(logs: Array, others: Array) -> None:
    apart = divergence(logs, others)
    most, mean = float(apart.max()), float(apart.mean())
    if not (most <= MOST_AT_A_PLACE and mean <= MOST_IN_THE_MEAN):
        raise duel.Tampering(
            "the logits of a place depend on more than the tokens up to it: with other tokens after "
            f"it, in another batch, they differ by {most:.3g} nat at one place and {mean:.3g} in the "
            f"mean ({MOST_AT_A_PLACE} and {MOST_IN_THE_MEAN} are allowed); usual causes: "
            + USUAL_CAUSES
        )


def play(first: duel.Player, second: duel.Player, numbers: duel.Numbers) -> dict[str, float]:
    if np is None:
        raise duel.Fault(LACKS_NUMPY)
    sizes = SIZES[sys.argv[1]]
    hidden = np.memmap(Path(__file__).with_name("hidden.bin"), "<u2", "r", HEADER_BYTES)
    sequences = draw_sequences(numbers, hidden, sizes, os.environ["FUMEHOOD_JUDGE_PART"])
    checks = Checks(numbers, sizes, hidden)
    model = Model(first, sizes, draw_trial(numbers, "first trial", sizes))
    losses = first_losses(model, sequences, checks)
    first.end()
    checks.drop_empty()
    model = Model(second, sizes, draw_trial(numbers, "second trial", sizes))
    rows = second_rows(model, sequences, checks, numbers)

    check_agreement(checks.rows, rows)
    drawn = checks.drawn
    sequence, place = np.divmod(checks.where[drawn], sizes.length)
    apart = checks.rows[drawn] - rows[drawn]
    more = apart[np.arange(len(apart)), sequences[sequence, place + 1]].clip(-LESS)
    loss = float(losses.mean() + max(0, more.mean()))
    if not loss <= MOST_LOSS:
        raise duel.Fault(
            f"val_loss is {loss:.3g} nats, and {MOST_LOSS:g} is the most that is scored: the logits are "
            f"far too large (equal logits have {math.log(sizes.vocabulary):.4g})"
        )
    variance = losses.mean(1).var(ddof=1) / len(losses) + more.var(ddof=1) / len(more)
    return {
        "val_loss": loss,
        "standard_error": math.sqrt(variance),
    }


if __name__ == "__main__":
    duel.judge(play, SIZES[sys.argv[1]].seconds, players=2)

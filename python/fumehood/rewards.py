# SPDX-License-Identifier: Apache-2.0
"""Rewards of whole episodes, for reinforcement learning.

An `Account` follows an episode's Steps. A scheme makes one number of it when the episode ends:

    account = Account.of(env)
    account.add(env.step(action))
    ...
    reward = make("v7_fixed_tier")(account)

In all schemes s is a score and b the baseline. Metrics that are minimised are negated, so that more
is better; `continuous` alone takes scores as they are. `best` is the episode's best score.

    delta           s - b, s the last score: the sum of the rewards that steps have
    continuous      clip(5 (s - b) - 0.5 - 0.5 errors / steps, -1, 1), s the last score;
                    -1 without a score, or if it is 0
    v6_binary       -0.5 without a score; 0 if best <= b; else 1
    v7_fixed_tier   -0.5 without a score; 0 if best <= b; 0.2 up to tau; else 1
    v8_global_best  the same, with 1 from the best score of earlier batches on
    v9_percentile   the same, with the 70th percentile of recent scores in place of tau

`v6_moving_best` is another name of v6_binary, and `v8_percentile` of v9_percentile. The last two
schemes have a state, kept as JSON in `persist_path` if that is given. It changes when a batch of
episodes is complete, so all episodes of a batch meet the same threshold.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._core import Step
from .env import Env

PathName = str | os.PathLike[str]

FAULT = -0.5  # reward of an episode without a score
WINDOW = 64  # scores that a percentile is taken of
WARMUP = 8  # fewer scores have no percentile: the baseline takes its place
QUANTILE = 0.7


@dataclass
class Account:
    """Scores of an episode, and how many of its steps failed: the facts that a reward needs."""

    metric: str
    maximize: bool
    baseline: float | None
    scores: list[float] = field(default_factory=list)
    steps: int = 0
    errors: int = 0

    @classmethod
    def of(cls, env: Env) -> "Account":
        """Returns an empty account of an environment's task."""
        info = env.info
        baseline = (info["baseline"] or {}).get(info["metric"])
        return cls(info["metric"], info["maximize"], baseline)

    def add(self, step: Step) -> None:
        """Adds a step. An exit code other than 0 or an outcome such as a timeout is an error."""
        self.steps += 1
        if step.exit_code or step.outcome != "ok":
            self.errors += 1
        if step.score and self.metric in step.score:
            self.scores.append(step.score[self.metric])

    def add_format_error(self) -> None:
        """Adds a reply of the model that held no action: a step and an error."""
        self.steps += 1
        self.errors += 1

    def gain(self, score: float) -> float:
        """Returns a score turned so that more is better."""
        return score if self.maximize else -score

    def best(self) -> float | None:
        """Returns the best score, turned so that more is better. None: there is no score."""
        return max(map(self.gain, self.scores), default=None)

    def reference(self) -> float:
        """Returns the baseline, turned so that more is better; 0 if the task has none."""
        return self.gain(self.baseline or 0.0)

    def improvement(self) -> float | None:
        """Returns the last score minus the baseline. A gain is positive."""
        return self.gain(self.scores[-1]) - self.reference() if self.scores else None


Scheme = Callable[[Account], float]


def delta(account: Account) -> float:
    """Returns what the episode gained: its last score minus the baseline."""
    return account.improvement() or 0.0


def continuous(account: Account) -> float:
    """Returns a number in [-1, 1] that grows with the last score and falls with errors."""
    if not account.scores or account.scores[-1] == 0.0:
        return -1.0
    gain = account.scores[-1] - (account.baseline or 0.0)
    value = 5 * gain - 0.5 - 0.5 * account.errors / max(account.steps, 1)
    return min(max(value, -1.0), 1.0)


def v6_binary(account: Account) -> float:
    """Returns 1 if the baseline was beaten."""
    best = account.best()
    if best is None:
        return FAULT
    return 1.0 if best > account.reference() else 0.0


def _tier(account: Account, reached: Callable[[float], bool]) -> float:
    """Returns 1 if the threshold was reached, 0.2 if only the baseline was beaten."""
    best = account.best()
    if best is None:
        return FAULT
    if best <= account.reference():
        return 0.0
    return 1.0 if reached(best) else 0.2


class FixedTier:
    """v7_fixed_tier: the threshold is a score of the task's metric."""

    __name__ = "v7_fixed_tier"

    def __init__(self, tau: float = 0.88) -> None:
        self.tau = tau

    def __call__(self, account: Account) -> float:
        return _tier(account, lambda best: best > account.gain(self.tau))


class _Batched:
    """A scheme whose state takes the scores of a batch at its end."""

    __name__ = "batched"

    def __init__(self, batch_size: int = 8, persist_path: PathName | None = None) -> None:
        self.batch_size = batch_size
        self.persist_path = Path(persist_path) if persist_path else None
        self._pending: list[float] = []
        self._rollouts = 0
        if self.persist_path and self.persist_path.exists():
            self._load(json.loads(self.persist_path.read_text()))

    def _load(self, state: dict[str, Any]) -> None:
        raise NotImplementedError

    def _state(self) -> dict[str, Any]:
        raise NotImplementedError

    def _commit(self, account: Account) -> None:
        raise NotImplementedError

    def _count(self, account: Account) -> None:
        """Notes an episode, and ends the batch if it is the last of it."""
        best = account.best()
        if best is not None:
            self._pending.append(account.gain(best))
        self._rollouts += 1
        if self._rollouts < self.batch_size:
            return
        self._commit(account)
        self._pending = []
        self._rollouts = 0
        if self.persist_path:
            self._save(self._state() | {"baseline": account.baseline})

    def _save(self, state: dict[str, Any]) -> None:
        assert self.persist_path
        self.persist_path.parent.mkdir(parents=True, exist_ok=True)
        new = self.persist_path.with_name(self.persist_path.name + ".new")
        new.write_text(json.dumps(state))
        new.replace(self.persist_path)


class GlobalBest(_Batched):
    """v8_global_best: the threshold is the best score of earlier batches."""

    __name__ = "v8_global_best"
    best_ever: float | None = None

    def _load(self, state: dict[str, Any]) -> None:
        self.best_ever = state["best_ever"]

    def _state(self) -> dict[str, Any]:
        return {"best_ever": self.best_ever}

    def _commit(self, account: Account) -> None:
        known = [] if self.best_ever is None else [self.best_ever]
        if known or self._pending:
            choose = max if account.maximize else min
            self.best_ever = choose(known + self._pending)

    def __call__(self, account: Account) -> float:
        threshold = account.reference() if self.best_ever is None else account.gain(self.best_ever)
        reward = _tier(account, lambda best: best >= threshold)
        self._count(account)
        return reward


class Percentile(_Batched):
    """v9_percentile: the threshold is a percentile of recent scores."""

    __name__ = "v9_percentile"

    def __init__(self, batch_size: int = 8, persist_path: PathName | None = None) -> None:
        self.window: list[float] = []
        super().__init__(batch_size, persist_path)

    def _load(self, state: dict[str, Any]) -> None:
        self.window = state["window"][-WINDOW:]

    def _state(self) -> dict[str, Any]:
        return {"window": self.window}

    def _commit(self, account: Account) -> None:
        self.window = (self.window + self._pending)[-WINDOW:]

    def _threshold(self, account: Account) -> float:
        """Returns the percentile, between two scores by linear interpolation."""
        if len(self.window) < WARMUP:
            return account.reference()
        gains = sorted(map(account.gain, self.window))
        place = QUANTILE * (len(gains) - 1)
        low = int(place)
        high = min(low + 1, len(gains) - 1)
        return gains[low] + (gains[high] - gains[low]) * (place - low)

    def __call__(self, account: Account) -> float:
        threshold = self._threshold(account)
        reward = _tier(account, lambda best: best > threshold)
        self._count(account)
        return reward


NAMES = (
    "delta",
    "continuous",
    "v6_binary",
    "v6_moving_best",
    "v7_fixed_tier",
    "v8_global_best",
    "v8_percentile",
    "v9_percentile",
)


def make(
    name: str,
    *,
    tau: float = 0.88,
    batch_size: int = 8,
    persist_path: PathName | None = None,
) -> Scheme:
    """Returns the scheme of a name.

    tau: threshold of v7_fixed_tier. batch_size: episodes of a training step. persist_path: file
    that keeps the state of v8_global_best and v9_percentile.
    """
    plain: dict[str, Scheme] = {
        "delta": delta,
        "continuous": continuous,
        "v6_binary": v6_binary,
        "v6_moving_best": v6_binary,
    }
    if name in plain:
        return plain[name]
    if name == "v7_fixed_tier":
        return FixedTier(tau)
    if name == "v8_global_best":
        return GlobalBest(batch_size, persist_path)
    if name in ("v8_percentile", "v9_percentile"):
        return Percentile(batch_size, persist_path)
    raise ValueError(f"no reward scheme {name!r}: there are {', '.join(NAMES)}")

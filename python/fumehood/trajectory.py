# SPDX-License-Identifier: Apache-2.0
"""Trajectory: a record of an episode, ours or MLGym's, as dataclasses."""

import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from . import _core
from .info import Info

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class TrajectoryStep:
    """A step of a record. A .traj alone has no reward, info and numbers: they are None or empty."""

    action: str
    observation: str
    response: str
    thought: str
    execution_time_s: float
    state: dict[str, Any]  # state of the tools before the action: open_file, working_dir
    reward: float | None = None
    terminated: bool | None = None
    truncated: bool | None = None
    info: Info = field(default_factory=Info)
    numbers: dict[str, Any] = field(default_factory=dict)  # the caller's own


@dataclass(frozen=True)
class Trajectory:
    """A record of an episode.

    Scores are dicts {metric: value}. `fumehood show` prints the same for people.
    """

    path: str  # the record's folder, or a .traj
    environment: str
    steps: tuple[TrajectoryStep, ...]
    history: tuple[dict[str, Any], ...]  # the conversation, as MLGym records it
    exit_status: str | None  # docs/trajectory.md lists them; None: not ended
    scores: tuple[dict[str, float], ...]  # scores of all validates and of the submit
    model_stats: dict[str, Any]  # api_calls, tokens_sent, ...; empty: no language model
    opened: dict[str, Any]  # event "open": task, variant, baseline, ...; empty for a .traj
    seed: int | None
    policy_step: int | None  # training step of the policy
    numbers: dict[str, Any]  # the caller's own of the end
    over: bool | None  # False: the episode was stopped, or broke; None for a .traj

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Trajectory":
        """Reads a record's folder, its events.jsonl, or a .traj, also of MLGym.

        The run may go on, or have been killed. MissingError: there is no record. InputError: it is
        malformed, with "FILE:LINE:COLUMN: ..." or "FILE: ...".
        """
        place, traj_text, run_text = _core.read_record(os.fspath(path))
        try:
            return cls._of(place, json.loads(traj_text), json.loads(run_text or "{}"))
        except _core.InputError as error:
            raise _core.InputError(f"{place}: {error}") from None

    @classmethod
    def _of(cls, place: str, traj: dict[str, Any], run: dict[str, Any]) -> "Trajectory":
        events = run.get("steps", [])
        opened, info = run.get("open") or {}, traj["info"]
        scores = info.get("score") or ()
        return cls(
            path=place,
            environment=traj["environment"],
            steps=tuple(
                _step(made, events[i] if i < len(events) else {})
                for i, made in enumerate(traj["trajectory"])
            ),
            history=tuple(traj["history"]),
            exit_status=info.get("exit_status"),
            scores=tuple(_typed("score", one, dict) or {} for one in scores),
            model_stats=info.get("model_stats") or {},
            opened=opened,
            seed=_typed("seed", (run.get("reset") or {}).get("seed"), int),
            policy_step=_typed("policy_step", opened.get("policy_step"), int),
            numbers=_typed("numbers", run.get("numbers"), dict) or {},
            over=run.get("over"),
        )

    def frame(self) -> "pandas.DataFrame":
        """Returns a frame of pandas with a row for each step, from 1.

        Members of state, info and numbers are columns: "info.outcome", "numbers.value".
        ImportError: pandas is not installed.
        """
        import pandas

        frame = pandas.json_normalize([asdict(step) for step in self.steps])
        frame.index = pandas.RangeIndex(1, len(frame) + 1, name="step")
        return frame


_WANTED = {dict: "an object", bool: "true or false", int: "a whole number", float: "a number"}


def _typed(name: str, value: Any, kind: type) -> Any:
    """Returns the value of a member; None: there is none. InputError: it has another type."""
    if value is None or type(value) is kind or (kind is float and type(value) is int):
        return value
    raise _core.InputError(f"'{name}' should be {_WANTED[kind]}, not {value!r:.80}")


def _state(text: str) -> dict[str, Any]:
    """Returns the state that an agent's command printed. It may be anything: {} if no object."""
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return state if isinstance(state, dict) else {}


def _step(made: dict[str, Any], event: dict[str, Any]) -> TrajectoryStep:
    return TrajectoryStep(
        action=made["action"],
        observation=made["observation"] or "",
        response=made["response"] or "",
        thought=made["thought"] or "",
        execution_time_s=made["execution_time"],
        state=_state(made["state"]),
        reward=_typed("reward", event.get("reward"), float),
        terminated=_typed("terminated", event.get("terminated"), bool),
        truncated=_typed("truncated", event.get("truncated"), bool),
        info=_typed("info", event.get("info"), dict) or Info(),
        numbers=_typed("numbers", event.get("numbers"), dict) or {},
    )

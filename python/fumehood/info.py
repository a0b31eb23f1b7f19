# SPDX-License-Identifier: Apache-2.0
"""Types of the dicts that tell facts of environments and steps."""

from typing import Any, TypedDict

Scores = dict[str, float]  # {metric: value}


class EnvInfo(TypedDict):
    """Facts of an environment: Env.info. Times are in seconds."""

    task: str  # without the variant
    variant: str  # "": none
    name: str  # for people
    description: str  # for the agent
    metric: str  # the deciding metric
    maximize: bool
    submission: str  # absolute path in the sandbox of the graded file
    max_steps: int
    training_timeout_s: float
    task_hash: str
    fingerprint: str  # hash of the machine as episodes see it
    baseline: Scores | None
    data_seed: int
    final: bool  # only the score of an episode's end counts


class FinalInfo(TypedDict):
    """Scores of the end of an episode of a `final` task."""

    score: Scores | None
    validated: Scores | None  # best of the validates
    gap: float | None  # score minus validated, by the deciding metric


class Info(TypedDict, total=False):
    """Facts of a recorded reset or step: docs/protocol.md explains them. Sizes are in bytes."""

    step: int
    exit_code: int | None
    outcome: str
    timeout_s: float
    duration_s: float
    cpu_s: float | None
    grading_s: float
    memory_peak_bytes: int | None
    written_bytes: int | None
    state: dict[str, Any]  # open_file and working_dir, or what the agent's state command printed
    score: Scores
    baseline: Scores | None
    best: Scores | None
    final: FinalInfo
    grade_error: str
    integrity: str
    exit_status: str
    judge_salt: int
    data_seed: int

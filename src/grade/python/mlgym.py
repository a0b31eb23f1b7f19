# SPDX-License-Identifier: Apache-2.0
"""Runs an evaluator of MLGym in one of the four ways of its task classes, and reads its output.

    mlgym.py csv SUBMISSION EVALUATOR...
    mlgym.py python|model|lm EVALUATOR... <WORKSPACE

EVALUATOR... are the evaluator's own files, as paths in the workspace; the first one runs. unpack.py
reads the agent's workspace. Metrics, or the reason why there are none, go to descriptor 3.

The evaluator runs in a child, which reports that it came to its end. So the agent's code, if the
evaluator imports it, can't print a score and exit. From within the child, such code can still do
anything to the evaluator.
"""

from __future__ import annotations

import ctypes
import json
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import BinaryIO

import unpack

RESULT = 3
OUTPUT_BYTES = 1 << 20
TOLD_CHARS = 1500
WORKSPACE = Path("/home/agent/workspace")
# Commands of MLGym's Python environment, in the sandbox. It is a bind of the host's or of the
# user's environment.
CONDA = Path("/home/agent/miniconda3/envs/mlgym_generic/bin")
PR_SET_DUMPABLE = 4
METRICS_MOST = 64
LEFT_OUT = ["data"]  # parts of the workspace that are not packed: as in src/grade/mlgym.c


class Rejected(Exception):
    """The reason for the agent why there is no score."""


# --- in the child process that runs the evaluator ----------------------------------------------


def is_own_exit(stop: SystemExit, evaluator: str) -> bool:
    """True if the evaluator itself called exit(), and not a module that it imported."""
    frame = stop.__traceback__
    while frame and frame.tb_next:
        frame = frame.tb_next
    return frame is not None and frame.tb_frame.f_code.co_filename == evaluator


def without_ours(error: BaseException, evaluator: str) -> str:
    """Formats a traceback as `python EVALUATOR` does, without frames of this file."""
    frame = error.__traceback__
    while frame and frame.tb_frame.f_code.co_filename != evaluator:
        frame = frame.tb_next
    return "".join(traceback.format_exception(type(error), error, frame)).rstrip()


def inside(end_fd: int, evaluator: str, arguments: list[str]) -> None:
    """Runs the evaluator as `python EVALUATOR ARGUMENTS` does, then reports its end."""
    sys.argv = [evaluator, *arguments]
    del sys.modules["unpack"]  # the agent may have a module of this name
    sys.path[0] = str(Path(evaluator).parent)
    try:
        runpy.run_path(evaluator, run_name="__main__")
    except SystemExit as stop:
        if stop.code not in (None, 0) or not is_own_exit(stop, evaluator):
            raise
    except BaseException as error:
        raise SystemExit(without_ours(error, evaluator)) from None
    sys.stdout.flush()
    os.write(end_fd, b"end")


# --- unpacking the agent's workspace -----------------------------------------------------------


def take_workspace(own: list[str]) -> None:
    with open(0, "rb", closefd=False) as source:
        unpack.unpack(source, str(WORKSPACE), LEFT_OUT, own)
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)  # no code of the agent may hold the packer's pipe
    os.close(null)


# --- starting the evaluator and watching it ----------------------------------------------------


def words_of(kind: str, evaluator: str, submission: str | None, end_fd: int) -> list[str]:
    if kind == "lm":
        gpus = len(list(Path("/dev").glob("nvidia[0-9]*")))
        torchrun = CONDA / "torchrun" if (CONDA / "torchrun").exists() else "torchrun"
        return [str(torchrun), f"--nproc_per_node={max(gpus, 1)}", "--standalone", evaluator]
    python = CONDA / "python" if (CONDA / "python").exists() else sys.executable
    words = [str(python), "-s", "-B", __file__, "inside", str(end_fd), evaluator]
    if kind == "csv":
        words += ["--submission_file", str(submission)]
    if kind == "model":
        words += ["--config_fname", find_config()]
    return words


def find_config() -> str:
    found = sorted(path for path in WORKSPACE.rglob("*.yaml") if path.is_file())
    if not found:
        raise Rejected("There is no .yaml file in the workspace, which a model is described by.")
    return str(found[0])


def read(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(OUTPUT_BYTES).decode("utf-8", "backslashreplace")


def told(out: str, log: str) -> str:
    """Quotes the end of the output, so that no line looks like Fumehood's."""
    text = (out + log)[-TOLD_CHARS:].strip()
    return "".join(f"\n| {line}" for line in text.splitlines())


def run(kind: str, evaluator: str, submission: str | None) -> str:
    """Runs the evaluator in a child and returns its standard output."""
    came, end = os.pipe()
    os.set_inheritable(end, kind != "lm")
    words = words_of(kind, evaluator, submission, end)
    with tempfile.TemporaryFile(dir="/tmp") as out, tempfile.TemporaryFile(dir="/tmp") as log:
        try:
            child = subprocess.Popen(
                words,
                cwd=WORKSPACE,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                pass_fds=[] if kind == "lm" else [end],
            )
        except OSError as error:
            raise Rejected(f"{words[0]} can't be run: {error.strerror}") from error
        os.close(end)
        status = child.wait()
        os.set_blocking(came, False)
        name = Path(evaluator).name
        if status != 0:
            raise Rejected(f"{name} ended with status {status}:{told(read(out), read(log))}")
        if kind != "lm" and not came_to_its_end(came):
            raise Tampered(f"{name} was ended before its own end:{told(read(out), read(log))}")
        return read(out)


class Tampered(Rejected):
    """Rejects a submission that ended the evaluator early, which no honest code does."""


def came_to_its_end(came: int) -> bool:
    try:
        return os.read(came, 16) == b"end"
    except BlockingIOError:
        return False


# --- reading what the evaluator printed --------------------------------------------------------


def first_object(out: str) -> str:
    return next((line for line in out.split("\n") if line.strip().startswith("{")), "")


def is_metric(value: object) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max  # an integer may be larger, NaN is not


def metrics_of(kind: str, out: str) -> dict[str, float]:
    text = first_object(out) if kind in ("model", "lm") else out
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Rejected(f"The evaluator printed no metrics as JSON:{told(out, '')}") from error
    metrics = {k: v for k, v in found.items() if is_metric(v)} if isinstance(found, dict) else {}
    if not metrics or len(metrics) > METRICS_MOST:
        raise Rejected(f"The evaluator printed no metrics that are finite numbers:{told(out, '')}")
    return metrics


def result(kind: str, words: list[str]) -> dict:
    submission = words.pop(0) if kind == "csv" else None
    try:
        if kind != "csv":
            take_workspace(words)
        return metrics_of(kind, run(kind, str(WORKSPACE / words[0]), submission))
    except Tampered as why:
        return {"error": str(why), "integrity": True}
    except unpack.Forged as why:
        return {"error": f"The copy of the workspace was tampered with: {why}.", "integrity": True}
    except (Rejected, unpack.Unfit) as why:
        return {"error": str(why)}


def main() -> None:
    kind, *rest = sys.argv[1:]
    if kind == "inside":
        inside(int(rest[0]), rest[1], rest[2:])
        return
    # Keep other processes of this user from opening this process's descriptors.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    os.set_inheritable(RESULT, False)
    answer = result(kind, rest)
    os.write(RESULT, json.dumps(answer).encode())


main()

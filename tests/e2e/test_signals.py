# SPDX-License-Identifier: Apache-2.0
"""Signals stop runs, in order or at once. No process is left, and the records can be read."""

import json
import os
import pty
import shutil
import signal
import subprocess
import threading
import uuid
from pathlib import Path

import pytest
from conftest import PATIENCE_S, TASKS, default_signals, until


def alive_with(mark: str) -> int:
    """Number of processes, in all sandboxes too, whose command line begins with the mark."""
    found = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                found += f.read().startswith(mark.encode())
        except OSError:
            pass
    return found


class OnTerminal:
    """Runs the program on a new terminal, as a person does."""

    def __init__(self, fumehood, *args):
        pid, self.terminal = pty.fork()
        if pid == 0:
            default_signals()
            os.chdir(fumehood.folder)
            os.execve(fumehood.program, [fumehood.program, *map(str, args)], fumehood.env)
        self.pid, self.text, self.status = pid, b"", None
        # Read the terminal in a thread: the program would block if nobody read its output.
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        while True:
            try:
                chunk = os.read(self.terminal, 65536)
            except OSError:
                return
            if not chunk:
                return
            self.text += chunk

    def press(self, key: bytes):
        os.write(self.terminal, key)

    def is_over(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def wait(self) -> int:
        if self.status is None:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            self.reader.join(PATIENCE_S)
            os.close(self.terminal)
        return self.status

    def kill(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait()


class Playing:
    """A run of three episodes. Two are in a step that sleeps."""

    def __init__(self, fumehood):
        self.mark = "mark-" + str(uuid.uuid4())
        self.out = fumehood.out
        model = fumehood.actions(
            "echo first", f"cd /tmp; python3 -c 1; (exec -a {self.mark} sleep 1000)", "echo never"
        )
        words = ["--task", "rows", "--runs", "3", "--jobs", "2", "--model", model]
        self.run = OnTerminal(fumehood, *fumehood.run_words(*words))
        until(lambda: alive_with(self.mark) == 2, "both episodes sleep")

    def gone(self):
        until(lambda: alive_with(self.mark) == 0, "nothing is left of the episodes")

    def events(self) -> list[list]:
        logs = sorted(self.out.glob("*/events.jsonl"))
        return [[json.loads(line) for line in log.read_text().splitlines()] for log in logs]


@pytest.fixture
def playing(fumehood):
    p = Playing(fumehood)
    yield p
    p.run.kill()
    p.gone()


def test_ctrl_c_ends_the_episodes_in_order(playing):
    playing.run.press(b"\x03")
    assert playing.run.wait() == 130
    playing.gone()
    assert b"stopping" in playing.run.text and b"early_exit" in playing.run.text
    trajs = [json.loads(p.read_text()) for p in playing.out.glob("*/rows.traj")]
    assert len(trajs) == 2
    for traj in trajs:
        assert traj["info"]["exit_status"] == "early_exit" and traj["info"]["score"] == []
        assert traj["trajectory"][0]["observation"].strip() == "first"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_batch_system_ends_it_in_the_same_way(playing, number):
    os.kill(playing.run.pid, number)
    assert playing.run.wait() == 128 + number
    playing.gone()
    assert len(list(playing.out.glob("*/rows.traj"))) == 2


def test_a_killed_run_leaves_nothing_but_its_record(playing, fumehood):
    os.kill(playing.run.pid, signal.SIGKILL)
    assert playing.run.wait() == -signal.SIGKILL
    playing.gone()
    logs = playing.events()
    assert [[e["event"] for e in log] for log in logs] == [["open", "reset", "step"]] * 2
    assert not list(playing.out.glob("*/rows.traj"))
    folders = sorted(playing.out.iterdir())
    exported = fumehood("export", *folders).stdout.split()
    assert exported == [str(f / "rows.traj") for f in folders]
    traj = json.loads((folders[0] / "rows.traj").read_text())
    assert traj["info"]["exit_status"] == "" and len(traj["trajectory"]) == 1
    log, path = (str(folders[1] / name) for name in ("events.jsonl", "rows.traj"))
    assert json.loads(fumehood("export", "--json", log).stdout) == dict(
        run=log,
        task="rows",
        variant="full",
        model=logs[1][0]["model"],
        exit_status=None,
        steps=1,
        scores=[],
        trajectory=path,
    )


def test_an_event_that_was_cut_is_left_out(playing, fumehood):
    os.kill(playing.run.pid, signal.SIGKILL)
    playing.run.wait()
    log = sorted(playing.out.glob("*/events.jsonl"))[0]
    whole = log.read_text()
    log.write_text(whole + whole[:200])
    fumehood("export", log)
    log.write_text(whole + "{\n")
    done = fumehood("export", log, status=2)
    assert done.stderr.startswith(f"fumehood: {log}:4:2: ")


def test_export_replaces_no_fuller_trajectory(fumehood):
    (done,) = fumehood.run_json("--task", "rows")
    path = Path(done["trajectory"])
    folder, whole = path.parent, path.read_bytes()
    assert fumehood("export", folder).stderr == "" and path.read_bytes() == whole
    log = folder / "events.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:3]))
    refused = fumehood("export", folder, status=2).stderr
    assert f"'{path}' has 2 steps, but events.jsonl has only 1: move the file" in refused
    assert path.read_bytes() == whole
    path.unlink()
    told = fumehood("export", folder).stderr
    assert f"the record in '{folder}' ends with step 1: the episode still runs, or" in told


def test_export_names_what_it_was_given(fumehood):
    done = fumehood("export", "/nonexist", status=2)
    assert done.stderr == "fumehood: export '/nonexist': No such file or directory\n"
    for path, folder in (("/usr", "/usr"), ("/etc/passwd", "/etc")):
        done = fumehood("export", path, status=2)
        assert done.stderr == f"fumehood: '{path}' is not a run: '{folder}' has no events.jsonl\n"


def make_slow_task(tasks, mark: str) -> None:
    """Makes a task like `rows`, with a baseline that sleeps."""
    shutil.copytree(TASKS / "rows", tasks / "slow")
    lines = (tasks / "slow" / "task.yaml").read_text().split("variants:")[0].splitlines()
    lines = [line for line in lines if not line.startswith(("id:", "baseline:", "training_"))]
    lines += ["id: slow", "training_timeout: 1000s"]
    lines += [f"baseline: (exec -a {mark} sleep 1000); python3 -c 1"]
    (tasks / "slow" / "task.yaml").write_text("\n".join(lines) + "\n")


def test_ctrl_c_again_stops_at_once(fumehood):
    """Ctrl-C is pressed during a baseline until the program ends. No process may be left."""
    mark = "mark-" + str(uuid.uuid4())
    tasks = fumehood.folder / "tasks"
    make_slow_task(tasks, mark)
    run = OnTerminal(fumehood, "run", "--task", "slow", "--tasks-dir", tasks, "--out", fumehood.out)

    def pressed_and_over() -> bool:
        run.press(b"\x03")
        return run.is_over()

    try:
        until(lambda: alive_with(mark) == 1, "the baseline sleeps")
        until(pressed_and_over, "it stops")
        assert run.wait() == 130
        until(lambda: alive_with(mark) == 0, "nothing is left of the baseline")
    finally:
        run.kill()


# --- signals to `fumehood env` --------------------------------------------------------------------


def start_env(fumehood):
    words = ["env", "--task", "rows", "--tasks-dir", TASKS, "--out", fumehood.out]
    child = fumehood.start(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    child.stdin.write('{"op":"reset"}\n')
    child.stdin.flush()
    assert "observation" in json.loads(child.stdout.readline())
    return child


def sleep_in(child) -> str:
    mark = "mark-" + str(uuid.uuid4())
    action = f"python3 -c 1; (exec -a {mark} sleep 1000)"
    child.stdin.write(json.dumps({"op": "step", "action": action, "timeout_s": 1000}) + "\n")
    child.stdin.flush()
    until(lambda: alive_with(mark) == 1, "the step sleeps")
    return mark


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_env_closes_cleanly_in_the_middle_of_a_step(fumehood, number):
    child = start_env(fumehood)
    mark = sleep_in(child)
    child.send_signal(number)
    assert child.wait(PATIENCE_S) == 0
    until(lambda: alive_with(mark) == 0, "nothing is left of the step")
    (path,) = fumehood.out.glob("*/rows.traj")
    assert json.loads(path.read_text())["info"]["exit_status"] == "early_exit"


def test_env_ends_when_nobody_reads_its_answers(fumehood):
    child = start_env(fumehood)
    mark = sleep_in(child)
    child.stdout.close()
    child.wait(PATIENCE_S)
    until(lambda: alive_with(mark) == 0, "nothing is left of the step")


def test_env_leaves_nothing_when_it_is_killed(fumehood):
    child = start_env(fumehood)
    mark = sleep_in(child)
    child.kill()
    child.wait(PATIENCE_S)
    until(lambda: alive_with(mark) == 0, "nothing is left of the step")
    (log,) = fumehood.out.glob("*/events.jsonl")
    assert [json.loads(line)["event"] for line in log.read_text().splitlines()] == ["open", "reset"]

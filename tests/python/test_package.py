# SPDX-License-Identifier: Apache-2.0
"""The package `fumehood`: environments, errors, threads, signals and forks."""

import gc
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import uuid

import numpy as np
import pytest

pytest.importorskip("fumehood._core", reason="the build has no Python extension")

import fumehood  # noqa: E402
from package_programs import CTRL_C, TASK, run_program  # noqa: E402

# How long some tests go on. The long form is PYTHON_RESETS=10000 PYTHON_ROUNDS=100.
RESETS = int(os.environ.get("PYTHON_RESETS", "200"))  # with ten steps each
ROUNDS = int(os.environ.get("PYTHON_ROUNDS", "12"))


@pytest.fixture(scope="module")
def gym():
    with fumehood.Gym() as gym:
        yield gym
        gc.collect()


@pytest.fixture
def env(gym):
    with fumehood.Env(TASK, gym=gym) as env:
        env.reset(seed=1)
        yield env


def test_an_episode(gym):
    with fumehood.Env(TASK, gym=gym, reward="improvement", max_steps=5) as env:
        first = env.reset(seed=7)
        assert env.info.keys() == fumehood.EnvInfo.__annotations__.keys()
        assert env.info["task"] == TASK and env.info["max_steps"] == 5
        assert env.info["description"] in first.observation or first.observation
        assert (first.step, first.reward, first.terminated) == (0, 0.0, False)
        assert first.judge_salt > 0 and first.baseline == env.info["baseline"]
        step = env.step("echo hello; exit_code() { return 3; }; exit_code")
        assert (step.observation, step.exit_code, step.step) == ("hello\n", 3, 1)
        assert step.score is None and step.outcome == "ok" and step.duration_s > 0
        scored = env.validate()
        assert list(scored.score) == ["Score"] and not scored.terminated
        last = env.submit()
        assert last.terminated and last.exit_status == "submitted"
        assert last.reward == pytest.approx(last.score["Score"] - last.baseline["Score"])
        with pytest.raises(fumehood.StateError):
            env.step("true")
    assert env.closed


def test_the_last_step_is_truncated(gym):
    with fumehood.Env(TASK, gym=gym, max_steps=1) as env:
        env.reset()
        step = env.step("true")
        assert step.truncated and not step.terminated


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda gym: fumehood.Env("nothingLikeThis", gym=gym), fumehood.MissingError),
        (lambda gym: fumehood.Gym(tasks_dir="/nope"), fumehood.MissingError),
        (lambda gym: fumehood.Env(TASK, gym=gym, reward="gold"), fumehood.InputError),
        (lambda gym: fumehood.Env(TASK, gym=gym, binds=[("relative", "/x")]), fumehood.InputError),
        (lambda gym: fumehood.Env(TASK, gym=gym, binds=["x"]), TypeError),
        (lambda gym: fumehood.Env(TASK, gym=gym, colour="red"), TypeError),
    ],
)
def test_wrong_options(gym, call, error):
    with pytest.raises(error):
        call(gym)


@pytest.mark.parametrize(
    "call",
    [
        lambda env: env.reset(-1),
        lambda env: env.reset(2**64),
        lambda env: env.reset(0, judge_salt=-1),
        lambda env: env.step("true", beside_bytes=2**63),
        lambda env: env.gym.reset_many([env], [-1]),
        lambda env: fumehood.Env(TASK, gym=env.gym, max_steps=2**40),
        lambda env: fumehood.Env(TASK, gym=env.gym, data_seed=-1),
        lambda env: fumehood.Env(TASK, gym=env.gym, judge_salt=2**64),
        lambda env: fumehood.Env(TASK, gym=env.gym, gpus=2**70),
        lambda env: fumehood.Gym(gpus=2**70),
        lambda env: fumehood.Recorder(env, -1),
        lambda env: fumehood.describe(TASK, data_seed=-1),
    ],
)
def test_numbers_out_of_range(env, call):
    with pytest.raises(fumehood.InputError, match=" is not from "):
        call(env)


def test_integers_of_numpy(gym):
    five = np.int64(5)
    with fumehood.EnvPool(TASK, 2, gym=gym, max_steps=five, judge_salt=five) as pool:
        assert pool.envs[0].info["max_steps"] == 5
        assert pool.envs[0].reset(seed=five).judge_salt == 5
        steps = [pool.reset_many(seeds) for seeds in (five, [5, 6], np.arange(5, 7))]
        assert [step.step for batch in steps for step in batch] == [0] * 6
        seen = [pool.step_many(["echo $RANDOM"] * 2)[0].observation]
        pool.reset_many(np.uint8(5))
        assert [pool.step_many(["echo $RANDOM"] * 2)[0].observation] == seen
    for wrong in (5.0, "5", None):
        with pytest.raises(TypeError):
            pool.envs[0].reset(wrong)


@pytest.mark.parametrize(
    ("action", "error"),
    [("a\0b", ValueError), ("\ud800", ValueError), (b"ls", TypeError), (None, TypeError)],
)
def test_wrong_actions(env, action, error):
    with pytest.raises(error):
        env.step(action)
    assert env.step("echo on").observation == "on\n"


def test_an_error_tells_its_kind(env):
    with pytest.raises(fumehood.MissingError, match="^Python environment '/nope': "):
        fumehood.Env(TASK, gym=env.gym, python="/nope")
    with pytest.raises(ValueError) as caught:
        env.step("x" * (2 << 20))
    assert isinstance(caught.value, fumehood.InputError)
    assert caught.value.kind == "input" and caught.value.errno > 0


def test_text_that_is_not_ascii(env):
    assert env.step("printf 'é\\xff漢'").observation.startswith("é")


def test_what_is_closed_says_so(gym):
    env = fumehood.Env(TASK, gym=gym)
    with pytest.raises(fumehood.StateError, match="close its 1 environment first"):
        gym.close()
    env.close()
    env.close()
    with pytest.raises(fumehood.ClosedError):
        env.reset()


# --- threads, signals, forks ----------------------------------------------------------------------


def test_threads_step_at_once():
    meeting = threading.Barrier(4, timeout=30)
    steps = []

    def play():
        with fumehood.Env(TASK) as env:
            env.reset()
            meeting.wait()
            steps.append(env.step("sleep 3; echo done"))
            meeting.wait()

    threads = [threading.Thread(target=play) for _ in range(3)]
    for thread in threads:
        thread.start()
    meeting.wait()
    begin = time.monotonic()
    meeting.wait()
    assert time.monotonic() - begin < 8  # three in turn take 9 s
    for thread in threads:
        thread.join()
    assert [step.observation for step in steps] == ["done\n"] * 3


@pytest.fixture
def sleeping(env):
    """A thread whose step is under way, and the list that its Step comes to."""
    steps = []
    thread = threading.Thread(target=lambda: steps.append(env.step("sleep 30")))
    thread.start()
    time.sleep(0.5)
    yield thread, steps
    env.interrupt()
    thread.join(20)


def test_one_thread_at_a_time(env, sleeping):
    with pytest.raises(fumehood.StateError, match="under way"):
        env.step("true")


def test_a_close_ends_another_threads_step(env, sleeping):
    thread, steps = sleeping
    env.close()
    with pytest.raises(fumehood.ClosedError):
        env.step("true")
    thread.join(20)
    assert [step.outcome for step in steps] == ["interrupted"] and env.closed


def test_threads_share_a_gym():
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(fumehood.default_gym())) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [fumehood.default_gym()] * 3


def test_an_interrupt_ends_a_step_at_once(env):
    times = []

    def interrupt():
        time.sleep(0.3)
        times.append(time.monotonic())
        env.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    step = env.step("sleep 30")
    thread.join()
    assert step.outcome == "interrupted"
    assert env.step("echo on").observation == "on\n"


def test_ctrl_c_ends_what_the_main_thread_waits_for():
    program = pathlib.Path(__file__).resolve().parents[2] / "bench/interrupts"
    done = subprocess.run(
        [sys.executable, program, "--rounds", "5"], capture_output=True, timeout=120, check=True
    )
    measured = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(m["name"], m["command"]) for m in measured] == [
        (name, command)
        for name in ("step", "aside", "step_many", "recv", "await")
        for command in ("obeys", "ignores")
    ]
    assert all(m["min_ms"] < 50 for m in measured), measured


def test_the_next_call_ends_what_ctrl_c_left():
    printed = run_program(
        f"""
        import fumehood, gc, signal, threading

        def interrupt(call, *arguments, after=0.2):
            signal.setitimer(signal.ITIMER_REAL, after)
            try:
                call(*arguments)
            except KeyboardInterrupt:
                return

        signal.signal(signal.SIGALRM, signal.default_int_handler)
        stubborn = "(trap '' INT; echo $BASHPID >/tmp/pid; sleep 1000)"
        is_alive = "kill -0 $(</tmp/pid) 2>&-; echo $?"
        gym = fumehood.Gym()
        pool = fumehood.EnvPool({TASK!r}, 2, gym=gym)
        pool.reset_many()
        pool.send([stubborn], [0])
        interrupt(pool.recv)
        pool.send(["echo sent"], [1])  # the others go on
        print([(i, step.observation) for i, step in pool.recv()], pool.recv(0))
        print(pool.envs[0].step(is_alive).observation)

        interrupt(pool.step_many, [stubborn, "true"])
        interrupt(pool.step_many, [stubborn, "true"], after=0.05)  # it may wait for the first
        print([step.observation for step in pool.step_many([is_alive, "echo on"])])

        interrupt(pool.envs[0].step, stubborn)
        thread = threading.Thread(target=lambda: print(pool.envs[0].step(is_alive).observation))
        thread.start()
        thread.join()

        interrupt(pool.envs[0].step, stubborn)
        pool.close()
        env = fumehood.Env({TASK!r}, gym=gym)
        env.cycle = env
        env.reset()
        interrupt(env.step, stubborn)
        del env
        gc.collect()
        gym.close()  # fails if an environment is open
        """
    ).stdout
    assert printed == "[(1, 'sent\\n')] []\n1\n\n['1\\n', 'on\\n']\n1\n\n"


@pytest.mark.parametrize(
    "call",
    ["fumehood.Env('slow', gym={gym})", "asyncio.run(fumehood.AsyncEnv.open('slow', gym={gym}))"],
)
def test_ctrl_c_ends_an_opening(slow_gym, call):
    program = CTRL_C.replace("fumehood.EnvPool({task!r}, 2)", "fumehood.EnvPool({task!r}, 0)")
    program = program.replace("import fumehood,", "import asyncio, fumehood,")
    call = call.format(gym=slow_gym)
    printed = run_program(program.format(task=TASK, call=call)).stdout
    assert float(printed) < 5000  # 50 ms on an idle machine


def test_a_fork_can_use_its_own_gym_only(env):
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            try:
                env.step("true")
            except fumehood.StateError:
                with fumehood.Env(TASK) as mine:
                    mine.reset()
                    status = 0 if mine.step("echo child").observation == "child\n" else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert env.step("echo parent").observation == "parent\n"


def children():
    return [p for p in os.listdir("/proc") if p.isdigit() and _parent(p) == os.getpid()]


def _parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


@pytest.mark.parametrize("ending", ["pass", "raise RuntimeError", "os._exit(0)", "os.abort()"])
def test_nothing_is_left_when_the_interpreter_ends(ending, tmp_path):
    marker = f"sleep 4{uuid.uuid4().int % 10**9}"
    run_program(
        f"""
        import fumehood, os
        env = fumehood.Env({TASK!r})
        env.reset()
        env.step("{marker} & disown")
        {ending}
        """,
        check=False,
        cwd=tmp_path,
    )
    deadline = time.monotonic() + 20
    while (
        subprocess.run(["pgrep", "-f", marker], check=False, stdout=subprocess.DEVNULL).returncode
        == 0
    ):
        assert time.monotonic() < deadline, "a program of the episode is alive"
        time.sleep(0.02)


def test_garbage_collection_closes():
    gym = fumehood.Gym()
    for _ in range(3):
        env = fumehood.Env(TASK, gym=gym)
        env.reset()
        env.cycle = env
    del env
    gc.collect()
    gym.close()  # fails if an environment is open


@pytest.mark.once
def test_resets_and_steps_leak_nothing(gym):
    def usage():
        gc.collect()
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[1])
        return pages * 4, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

    with fumehood.Env(TASK, gym=gym, max_steps=1000) as env:
        for _ in range(50):
            env.reset()
            env.step("echo x")
        before = usage()
        for _ in range(RESETS):
            env.reset()
            for _ in range(10):
                env.step("echo x")
        memory, fds, threads = (b - a for a, b in zip(before, usage(), strict=True))
    print(f"{RESETS} resets: {memory:+} KiB, {fds:+} descriptors, {threads:+} threads")
    assert fds <= 32 and threads <= 0 and memory < 4096  # a pool keeps some groups


@pytest.mark.once
def test_forks_spawns_exceptions_and_ctrl_c():
    program = os.path.join(os.path.dirname(__file__), "disturbed.py")
    seed = str(time.time_ns())
    done = subprocess.run(
        [sys.executable, program, str(ROUNDS), seed],
        capture_output=True,
        text=True,
        timeout=60 + 5 * ROUNDS,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"


# --- work that is no step -------------------------------------------------------------------------


def test_asides_are_no_steps(env):
    env.gym.step_many([env], ["true"])  # the gym polls the environment meanwhile
    done = env.aside("cd /tmp; echo hi; false")
    assert (done.observation, done.exit_code, done.step) == ("hi\n", 1, 1)
    assert env.aside("sleep 9", timeout_s=0.1).outcome == "timeout"
    env.put_file("/home/agent/tool", b"#!/bin/sh\necho \xff tool", 0o755)
    assert env.step("pwd; ~/tool").observation == "/tmp\n\\xff tool\n"
    with pytest.raises(fumehood.InputError):
        env.put_file("/etc/passwd", b"")
    with pytest.raises(ValueError):
        env.aside("\0")


def test_a_file_is_taken_out(env):
    env.step("printf 'a\\0b' >out.bin")
    assert env.get_file("out.bin") == b"a\0b"
    assert env.get_file("/home/agent/workspace/out.bin", max_bytes=3) == b"a\0b"
    with pytest.raises(fumehood.InputError):
        env.get_file("out.bin", max_bytes=2)
    with pytest.raises(fumehood.MissingError):
        env.get_file("none")
    env.aside("ln -s /etc/passwd link")
    with pytest.raises(fumehood.InputError):
        env.get_file("link")


def test_variables_of_an_episode(gym, tmp_path):
    (tmp_path / "hello").write_text("#!/bin/sh\necho $GREETING\n")
    for path in (tmp_path, tmp_path / "hello"):
        path.chmod(0o755)
    variables = {"PATH": "/data/tools:$PATH", "GREETING": "good = day"}
    binds = [(str(tmp_path), "/data/tools")]
    with fumehood.Env(TASK, gym=gym, variables=variables, binds=binds) as env:
        env.reset()
        assert env.step("hello").observation == "good = day\n"
    for wrong, error in [({"a=b": "c"}, fumehood.InputError), ({"A": 1}, TypeError)]:
        with pytest.raises(error):
            fumehood.Env(TASK, gym=gym, variables=wrong)


def test_a_salt_of_an_episode(env):
    assert env.reset(1, judge_salt=77).judge_salt == 77
    assert env.reset(1).judge_salt != 77

# SPDX-License-Identifier: Apache-2.0
"""Kernel locks that an agent holds. A process that uses such a pipe or file sleeps meanwhile.

Only the episode's own processes may sleep so. The owner still answers, can be killed, and leaves
nothing behind. The episode goes on, or is over.
"""

import fcntl
import json
import os
import re
import select
import shutil
import signal
import stat
import subprocess
import termios
import time
from pathlib import Path

import pytest
from conftest import ATTACK, TASKS, beneath, wait_until_gone

LOCK = "python3 ~/attack/lock.py"
WAIT = "until grep -q held said; do sleep 0.01; done"
HOLD_S = 1000  # seconds that a kernel lock is held, which is longer than a test
PATIENCE_S = HOLD_S / 4  # longer than a busy machine needs, shorter than the wait for a lock


def timed(agent, action: str, **more) -> dict:
    began = time.monotonic()
    answer = agent.step(action, **more)
    assert time.monotonic() - began < PATIENCE_S
    return answer


# Ways to hold the kernel's lock of the shell's output pipe. Commands don't inherit descriptors 249
# and 251, but a redirection copies them to descriptor 0.
SHELLS_PIPE = {
    "output": f"pipe 1 {HOLD_S}",
    "kept output": f"pipe 0 {HOLD_S} 0>&251",
    "drain": f"drain 0 {HOLD_S} 0<&249",
}


@pytest.mark.parametrize("which", SHELLS_PIPE)
def test_the_shells_pipe(agent, which):
    """A command that holds the kernel's lock of the pipe ends, or is ended by its timeout."""
    hold = f"{LOCK} {SHELLS_PIPE[which]}"
    answer = timed(agent, hold, timeout_s=0.5)
    assert answer["info"]["outcome"] in ("timeout", "ok")
    timed(agent, f"{hold} & sleep 0.4", timeout_s=1)
    if not agent.over:
        timed(agent, "echo more", timeout_s=1)
    agent.goes_on()


def test_a_porter_that_hangs(agent):
    """The owner closes an episode whose porter hangs, also during a long command."""
    agent.step("python3 -c 'import time; time.sleep(1e6)' & sleep 0.1")
    hold = f"{LOCK} drain 0 {HOLD_S} 0<&249 & while :; do echo x; sleep 0.01; done"
    timed(agent, hold, timeout_s=HOLD_S)
    assert agent.over


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


WATCHES = """
import os, select, time
fds = [os.dup(0) for _ in range(1000)]
polls = [select.epoll() for _ in range(300)]
for poll in polls:
    for fd in fds:
        poll.register(fd, select.EPOLLOUT | select.EPOLLIN | select.EPOLLET)
print("watched", flush=True)
time.sleep(1000)
"""


def test_watches_on_what_wakes_the_owner(agent):
    """Each write to the eventfd walks all its watches. The owner does not spend time on that."""
    agent.sh(f"cat >watch.py <<'EOF'{WATCHES}EOF\ntrue")
    agent.sh(
        "python3 watch.py <&250 >said & until grep -q watched said; do sleep 0.1; done",
        timeout_s=60,
    )
    before = cpu_s(agent.pid)
    for _ in range(20):
        agent.sh("sleep 0.01", timeout_s=30)
    assert cpu_s(agent.pid) - before < 0.2
    agent.child.kill()
    os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOWAIT)
    assert cpu_s(agent.pid) - before < 1  # CPU seconds: the owner's end walks no watches
    agent.end(status=-signal.SIGKILL)


def test_an_eventfd_that_was_made_to_block(agent):
    """The porter has the same eventfd, so that the flag makes its reads block too."""
    agent.sh("python3 -c 'import fcntl; fcntl.fcntl(0, fcntl.F_SETFL, 0)' 0<&250")
    assert timed(agent, "sleep 1000", timeout_s=0.5)["info"]["outcome"] == "timeout"
    agent.goes_on()


@pytest.mark.parametrize("name", ["validate", "submit", "state", "call"])
def test_a_request_pipe(agent, name):
    agent.sh(f"{LOCK} pipe /run/fumehood/{name} {HOLD_S} >said & {WAIT}")
    timed(agent, "validate", timeout_s=1)
    if not agent.over:
        timed(agent, "echo x >f; python3 -c 'print(1)'", timeout_s=1)
    agent.end()


def test_an_answers_file(agent):
    agent.sh(
        f"mkdir -p ~/.fumehood; {LOCK} file ~/.fumehood/answer {HOLD_S} >said & {WAIT}",
        timeout_s=15,
    )
    timed(agent, "literature_search x", timeout_s=12)
    agent.end()


def test_a_submission(agent):
    agent.sh(
        f"cp none.csv submission.csv; {LOCK} file submission.csv {HOLD_S} >said & {WAIT}",
        timeout_s=15,
    )
    timed(agent, "validate")
    agent.end()


def test_a_submission_of_holes(agent):
    """Validating a large sparse file takes no long time, and gives no score."""
    answer = timed(agent, "truncate -s 60M submission.csv; validate")
    assert "score" not in answer["info"] and not agent.over
    answer = timed(agent, "truncate -s 1T submission.csv; validate")
    assert "score" not in answer["info"] and not agent.over
    agent.goes_on()


TARGETS = [
    "pipe /run/fumehood/validate",
    "pipe /run/fumehood/call",
    "pipe 1",
    "pipe 249",
    "file ~/.fumehood/answer",
    "file submission.csv",
]


@pytest.mark.parametrize("target", TARGETS)
def test_a_killed_owner(begin, target):
    """An owner can be killed while an agent holds a kernel lock. `begin` checks what is left."""
    agent = begin()
    agent.sh("mkdir -p ~/.fumehood; cp none.csv submission.csv")
    agent.step(f"{LOCK} {target} {HOLD_S} >said & {WAIT}", timeout_s=15)
    agent.child.stdin.write(b'{"op":"step","action":"validate","timeout_s":2}\n')
    time.sleep(0.3)
    agent.child.kill()
    agent.end(status=-signal.SIGKILL)


# --- pipes given to `sandbox exec` ----------------------------------------------------------------

# Holds the kernel's lock of standard error. An interrupt must not print Python's traceback, which
# would wait for the lock.
HOLD_STDERR = f"""
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.argv[1:] = ["pipe", "2", "{HOLD_S}"]
runpy.run_path("{ATTACK}/lock.py")
"""
HOLDERS = {
    "stdin": ["sh", "-c", f"exec python3 {ATTACK}/lock.py drain 0 {HOLD_S} >&2"],
    "stdout": ["sh", "-c", f"exec python3 {ATTACK}/lock.py pipe 3 {HOLD_S} 3>&1 >&2"],
    "stderr": ["python3", "-c", HOLD_STDERR],
    "left behind": [
        "sh",
        "-c",
        f"setsid python3 {ATTACK}/lock.py pipe 3 {HOLD_S} 3>&1 >&2 & sleep {HOLD_S}",
    ],
}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("which", HOLDERS)
def test_a_pipe_that_exec_was_given(fumehood, inside, neighbour, which, number):
    """The program can't block the user's ends. They reach their end when fumehood is ended."""
    words = ["sandbox", "exec", "--bind", f"{inside}:{ATTACK}", "--", *HOLDERS[which]]
    ends = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    child = fumehood.start(*words, **ends, bufsize=0)
    told = child.stdout if which == "stderr" else child.stderr
    os.write(child.stdin.fileno(), b"x" * 100)
    assert select.select([told], [], [], PATIENCE_S)[0] and told.read(5) == b"held\n"
    os.write(child.stdin.fileno(), b"x" * 100)
    began = time.monotonic()
    for end in (child.stdin, child.stdout, child.stderr):
        fcntl.ioctl(end, termios.FIONREAD, bytes(4))
    time.sleep(0.2)
    child.send_signal(number)
    status = child.wait(PATIENCE_S)
    assert status == -number if number == signal.SIGKILL else status != 0
    for end in (child.stdout, child.stderr):
        while select.select([end], [], [], PATIENCE_S)[0] and end.read(1 << 16):
            pass
        assert end.read() == b""
    assert time.monotonic() - began < PATIENCE_S
    child.stdin.close()
    wait_until_gone(neighbour.pid)


def test_exec_hands_out_no_pipe(fumehood, neighbour):
    """A program gets other pipes than the user's, so that it can't change their flags."""
    script = "import fcntl, os\nfor fd in range(3):\n fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)"
    script += "\nprint(*(os.fstat(fd).st_ino for fd in range(3)))"
    pairs = [os.pipe() for _ in range(3)]
    ours = [pairs[0][0], pairs[1][1], pairs[2][1]]
    ends = dict(zip(("stdin", "stdout", "stderr"), ours, strict=True))
    child = fumehood.start("sandbox", "exec", "--", "python3", "-c", script, **ends)
    assert child.wait(PATIENCE_S) == 0
    assert not any(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK for fd in ours)
    has = {int(number) for number in os.read(pairs[1][0], 100).split()}
    assert len(has) == 3 and not has & {os.fstat(fd).st_ino for fd in ours}
    for fd in (fd for pair in pairs for fd in pair):
        os.close(fd)


# --- descriptors of the owner and the nursery -----------------------------------------------------

KINDS = [
    r"socket:\[\d+\]",
    r"anon_inode:\[(eventfd|signalfd|pidfd|eventpoll|timerfd)\]",
    r"pidfd:\[\d+\]",
    r"/dev/null",
    r"/sys/fs/cgroup/.*",  # counters of control groups
    r"mnt:\[\d+\]",
    r"/memfd:roll \(deleted\)",  # memory that the owner shares with the nursery
]


def kinds_of(pid: int) -> dict[int, str]:
    folder = Path(f"/proc/{pid}/fd")
    return {int(name): os.readlink(folder / name) for name in os.listdir(folder)}


def comm(pid: int) -> str:
    """Name of a process; "" if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_root_of_files(pid: int, fd: int) -> bool:
    """Whether it is the folder, opened with O_PATH, by which the owner counts written bytes."""
    info = Path(f"/proc/{pid}/fdinfo/{fd}").read_text()
    flags = int(re.search(r"flags:\s*(\d+)", info)[1], 8)
    return bool(flags & os.O_PATH) and stat.S_ISDIR(os.stat(f"/proc/{pid}/fd/{fd}").st_mode)


def strange_descriptors(agent) -> list[tuple[str, int, str]]:
    """Descriptors of owner, nursery and PID 1 that are none of KINDS."""
    seen, strange = set(), []
    for pid in [agent.pid, *beneath(agent.pid)]:
        name = comm(pid)
        if name not in ("fumehood", "fh-nursery", "init"):
            continue
        seen.add(name)
        for fd, kind in kinds_of(pid).items():
            if name == "fumehood" and (fd <= 2 or is_root_of_files(pid, fd)):
                continue
            if name == "fumehood" and kind.startswith(str(agent.state)):
                continue  # skip: it is a lock file of the owner
            if not any(re.fullmatch(k, kind) for k in KINDS):
                strange.append((name, fd, kind))
    assert seen == {"fumehood", "fh-nursery", "init"}
    return strange


def test_descriptors_of_the_trusted(begin):
    """While its code runs, an agent can block no file or pipe of owner, nursery and PID 1."""
    if os.geteuid() != 0:
        pytest.skip("only root may look at the descriptors of PID 1")
    agent = begin()
    agent.step("sleep 100 & cat & yes | head -c 200000 >/dev/null; echo x; validate")
    deadline = time.monotonic() + 10
    while (strange := strange_descriptors(agent)) and time.monotonic() < deadline:
        time.sleep(0.05)  # the nursery has a cradle's descriptors while it starts it
    assert not strange


# --- locks held when an episode ends --------------------------------------------------------------


def events(out: Path, name: str) -> list[dict]:
    """The recorded events of the episode that played the file `name`."""
    texts = [path.read_text() for path in out.glob(f"*{name}*/events.jsonl")]
    return [
        json.loads(line) for text in texts for line in text.splitlines(True) if line[-1] == "\n"
    ]


def test_a_memory(fumehood, inside, neighbour, tmp_path):
    """A memory file that the agent blocks is not kept. The step says so. Other episodes go on."""
    tasks, told, out = (tmp_path / name for name in ("tasks", "told", "runs"))
    shutil.copytree(TASKS, tasks)
    told.mkdir()
    with open(tasks / "prey/task.yaml", "a") as file:
        file.write("memory_path: memory.json\n")
    begun = "until [ -e ~/told/locked ]; do sleep 0.01; done"
    played = {
        "attack": [f"{LOCK} file ~/memory.json {HOLD_S} >said & {WAIT}", "exit_forfeit"],
        "beside": [begun, *["sleep 0.1; echo on"] * 80, "exit_forfeit"],
    }
    models = []
    for name, actions in played.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(a) + "\n" for a in actions))
        models += ["--model", f"actions:{path}"]
    words = ["--tasks-dir", tasks, "--task", "prey", "--bind", f"{inside}:{ATTACK}", *models]
    words += ["--bind", f"{told}:/home/agent/told", "--jobs", 2, "--out", out, "--memory-enabled"]
    running = fumehood.start("run", *words, stdout=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE_S
    while sum(e["event"] == "step" for e in events(out, "attack")) < 1:
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.01)
    (told / "locked").touch()
    assert running.wait(PATIENCE_S) == 0
    *_, locked, last = (e for e in events(out, "attack") if e["event"] == "step")
    assert last["observation"].count("(The memory was not kept: ") == 1
    assert "Exited (exit_forfeit)" in last["observation"]
    assert not (tasks / "prey/memory.json").exists()
    times = [e["time"] for e in events(out, "beside") if e["event"] == "step"]
    meanwhile = sum(locked["time"] < t < last["time"] for t in times)
    # The other episode must take steps while the attacker's ends. Newer kernels release the lock
    # soon, so that the end may be short.
    assert meanwhile >= int(last["info"]["duration_s"] / 2), times
    wait_until_gone(neighbour.pid)

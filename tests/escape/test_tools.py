# SPDX-License-Identifier: Apache-2.0
"""Attacks by means of the agent's own commands: their notes for the owner, their calls, the linter.

At worst the commands stop working for the agent.
"""

import pytest

STATE = "~/.fumehood/editor"
# Makes the owner read the file that names the agent's open file, and waits until the owner has
# begun to.
PING = (
    'python3 -c \'import os, select; f = os.open("/run/fumehood/state", 1); os.write(f, b"x"); '
    "select.select([], [f], [])'"
)
FILE = "/home/agent/workspace/submission.csv"
NO_WEB = "this episode has no access to the web\n"

# Commands that forge the file that names the agent's open file. The episode's state must show no
# open file.
NOTES = {
    "a link out": f"ln -s /etc/passwd {STATE}",
    "a link to a fine one": f"printf '1 0\n/fine\n' >~/fine; ln -s ~/fine {STATE}",
    "a link in /proc": f"ln -s /proc/1/environ {STATE}",
    "a FIFO": f"mkfifo {STATE}",
    "a folder": f"mkdir {STATE}",
    "a device": f"ln -s /dev/zero {STATE}",
    "a socket": f"python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"e\")'; mv e {STATE}",
    "a hole": f"truncate -s 1T {STATE}",
    "a long path": f"printf '1 0\n/%09999d\n' 0 >{STATE}",
    "a terminal's words": f"printf '1 0\n/a\\033[2J\n' >{STATE}",
    "no text": f"printf '1 0\n/\\377\n' >{STATE}",
    "no path": f"printf '1 0\nsubmission.csv\n' >{STATE}",
    "nothing": f": >{STATE}",
    "none to read": f"printf '1 0\n/fine\n' >{STATE}; chmod 0 {STATE}; chmod 0 ~/.fumehood",
    "a folder that is a link": "rmdir ~/.fumehood; mkdir /tmp/f; printf '1 0\n/fine\n' >/tmp/f/editor; "
    "ln -s /tmp/f ~/.fumehood",
}


@pytest.mark.parametrize("what", NOTES)
def test_what_is_noted(agent, what):
    noted = agent.step("cp none.csv submission.csv; open submission.csv")
    assert noted["info"]["state"]["open_file"] == FILE
    answer = agent.step(f"rm {STATE}; {NOTES[what]}; {PING}", timeout_s=60)
    assert answer["info"]["outcome"] == "ok"
    allowed = ("n/a", "/fine") if what == "none to read" else ("n/a",)
    assert answer["info"]["state"]["open_file"] in allowed
    # If the file is a FIFO, editor commands of the agent may hang until their timeout.
    agent.step("open submission.csv; goto 1; scroll_down", timeout_s=0.5)
    agent.step("chmod -R 700 ~/.fumehood; rm -rf ~/.fumehood; open submission.csv", timeout_s=60)
    assert agent.step("goto 1")["info"]["state"]["open_file"] == FILE


def test_swapped_while_it_is_read(agent):
    """The owner reads the note whole, or not at all. It never follows a link."""
    agent.sh("cp none.csv submission.csv; open submission.csv; printf '1 0\n/out\n' >~/out")
    agent.sh(
        f"cp {STATE} ~/kept; (while :; do ln -sf ~/out {STATE}; cp --remove-destination ~/kept "
        f"{STATE}; done) >/dev/null 2>&1 & disown"
    )
    seen = {agent.step(PING)["info"]["state"]["open_file"] for _ in range(100)}
    assert seen <= {FILE, "n/a"}


CALLS = {"call": "~/.fumehood/call", "answer": "~/.fumehood/answer"}


@pytest.mark.parametrize("what", NOTES)
@pytest.mark.parametrize("file", CALLS)
def test_what_is_called(agent, file, what):
    """A call that can't be read or answered gets no answer. The next call gets one."""
    note = NOTES[what].replace(STATE, CALLS[file])
    agent.sh("mkdir -p ~/.fumehood")
    answer = agent.step(f"{note}; printf x >/run/fumehood/call; literature_search x", timeout_s=0.5)
    assert answer["info"]["outcome"] in ("ok", "timeout")
    agent.sh("chmod -R 700 ~/.fumehood; rm -rf ~/.fumehood")
    assert agent.step("literature_search x")["observation"] == NO_WEB


@pytest.mark.parametrize(
    "call",
    ["", "\\n", "papers\\n", "papers a-b\\nx", f"papers {'a' * 33}\\n", "none a\\nx", "a\\nb c"],
)
def test_calls_that_are_none(agent, call):
    agent.sh("mkdir -p ~/.fumehood")
    agent.sh(f"printf '{call}' >~/.fumehood/call; printf x >/run/fumehood/call; sleep 0.1")
    agent.sh("rm -f ~/.fumehood/*")
    assert agent.step("literature_search x")["observation"] == NO_WEB


@pytest.mark.parametrize("pipe", ["state", "call"])
def test_asking_without_end(agent, neighbour, pipe):
    agent.sh("mkdir -p ~/.fumehood; printf 'papers a\\n1 x' >~/.fumehood/call")
    agent.sh(f"(while :; do printf x; done >/run/fumehood/{pipe}) >/dev/null 2>&1 & disown")
    for _ in range(20):
        agent.goes_on()
        neighbour.check()
        assert agent.step("literature_search x", timeout_s=60)["observation"] == NO_WEB


def test_commands_that_are_functions(agent):
    """The agent may replace commands by functions. `command NAME` still runs the real ones."""
    agent.sh(
        "cp none.csv submission.csv; open() { echo mine; }; edit() { cat >stolen; echo mine; }"
    )
    assert agent.sh("open submission.csv") == "mine\n"
    assert agent.sh("edit 1:1\ntext\nend_of_edit") == "mine\n"
    assert agent.step("command open submission.csv")["info"]["state"]["open_file"] == FILE
    assert agent.sh("command cat stolen") == "text\n"


TEXTS = {
    "deep": "'(' * 100000 + ')' * 100000",
    "deep lists": "'x = ' + '[' * 90 + ']' * 90",
    "deep minus": "'x = ' + '-' * 100000 + '1'",
    "deep blocks": "'\\n'.join(' ' * i + 'if x:' for i in range(2000))",
    "long chain": "'x = ' + '.a' .join(['y'] * 50000)",
    "long line": "'x = ' + repr('y' * 2000000)",
    "many names": "'\\n'.join(f'x{i} = y{i}' for i in range(20000))",
    "NUL": "'x = 1\\0\\0\\n'",
    "encoding": "'# -*- coding: idna -*-\\nx = \\u00e9'",
    "surrogates": "'x = ' + chr(39) + chr(0xdcff) + chr(39)",
    "open string": "'x = ' + chr(34) * 3 + 'y' * 100000",
    "tabs": "'\\t \\f\\t' * 10000 + 'x'",
}


SLOW = pytest.param("deep blocks", marks=pytest.mark.long)


@pytest.mark.parametrize("what", [SLOW if what == "deep blocks" else what for what in TEXTS])
def test_a_text_against_the_linter(agent, what):
    agent.sh("create a.py")
    answer = agent.step(
        f'python3 -c "import sys; sys.stdout.buffer.write(({TEXTS[what]})'
        ".encode('utf-8', 'surrogateescape'))\" >text; edit 1:1 <text",
        timeout_s=20,
    )
    assert answer["info"]["outcome"] in ("ok", "memory_limit", "output_limit")
    # The linter must check the next text. The kernel may have killed it, and another was started.
    agent.sh("rm -f a.py; create a.py")
    assert agent.step("edit 1:1\nx = nowhere\nend_of_edit")["info"]["exit_code"] == 1


# For each fake linter: the code by which it answers, and the exit status of a correct edit.
SERVERS = {
    "floods": ("while True: c.sendall(b'x' * 65536)", 0),
    "drips": ("while True: c.sendall(b'1'); time.sleep(0.1)", 0),
    "hangs up": ("c.close()", 0),
    "says too little": ("c.sendall(b'1:1: E9'); c.close()", 0),
    "lies": ("c.sendall(b'\\n1:1: E999 \\x1b[2J' + b'\\xff' * 1000 + b'\\n\\n')", 1),
    "counts": ("c.sendall(b'9:9: E9\\n\\n' + b'99999999999999999999:-1: E9\\n' * 10 + b'\\n')", 0),
    "says nothing of use": ("c.sendall(b'E9\\n\\n:::\\n\\n')", 0),
}


@pytest.mark.parametrize("what", SERVERS)
def test_a_linter_of_the_agent_s(agent, what):
    action, status = SERVERS[what]
    agent.sh("create a.py; mkdir -p ~/.fumehood")
    agent.sh(
        "cat >/tmp/server.py <<'E'\nimport os, socket, time\ns = socket.socket(socket.AF_UNIX)\n"
        "p = os.path.expanduser('~/.fumehood/linter')\nos.path.exists(p) and os.unlink(p)\n"
        "s.bind(p)\ns.listen()\nopen('/tmp/up', 'w')\n"
        f"while True:\n    c, _ = s.accept()\n    try:\n        c.recv(99)\n        {action}\n"
        "    except OSError:\n        pass\nE\n"
        "python3 /tmp/server.py >/dev/null 2>&1 & disown; until [ -e /tmp/up ]; do sleep 0.01; done"
    )
    answer = agent.step("edit 1:1\nx = 1\nend_of_edit", timeout_s=20)
    assert (answer["info"]["outcome"], answer["info"]["exit_code"]) == ("ok", status)


def test_a_linter_ends_with_its_episode(begin):
    """The linter is in no session or group of its step. The fixture `begin` checks that it ends."""
    agent = begin()
    agent.sh("create a.py")
    assert agent.step("edit 1:1\nx = nowhere\nend_of_edit")["info"]["exit_code"] == 1
    assert len(agent.sh("pgrep -f linter.py").splitlines()) == 1

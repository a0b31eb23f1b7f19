# SPDX-License-Identifier: Apache-2.0
"""A shell, which is a clone of the nursery, holds no descriptor or secret of others."""

import pytest
from conftest import ATTACK, HERE

LOAD = f"enable -f {ATTACK}/builtin_memory.so memory"


def turned(word: str) -> str:
    return bytes(255 - byte for byte in word.encode()).hex()


def found(episode, words: list[str]) -> dict[str, int]:
    """How often the shell's memory holds each word. Asking for a word adds no copy of it."""
    tried = episode.tried(f"{LOAD}; memory {' '.join(map(turned, words))}")
    return {word: int(tried[turned(word)]) for word in words}


def test_descriptors_of_the_shell(agent):
    """The shell has 0, 1 and 2, and the descriptors of its command loop (see glue.c).

    These are both ends of its output pipe, /dev/null, and the file of the last pid. The builtin
    does not list eventfds.
    """
    expected = {0: "device", 1: "pipe", 2: "pipe"}
    expected |= {249: "pipe", 251: "pipe", 252: "device", 253: "file"}
    held = agent.tried(f"{LOAD}; memory")
    assert held == {str(fd): kind for fd, kind in expected.items()}
    assert agent.sh("ls /proc/self/fd").split() == ["0", "1", "2", "3"]  # 3 is the listing's own


def test_memory_of_the_shell(begin, fumehood, inside):
    """A shell's memory holds no secret or path of the owner, and no word of an earlier episode."""
    episode = begin()
    episode.sh("ours=first-; ours+=episode; echo $ours$ours >kept; cp right.csv submission.csv")
    assert episode.step("validate")["info"]["score"] == {"accuracy": 1.0}
    assert found(episode, ["first-episode"])["first-episode"] > 0
    episode.reset()
    secrets = [
        fumehood.key,
        fumehood.env["PROVIDER_API_KEY"],
        "only-in-the-answers",
        "first-episode",
    ]
    paths = [str(inside), str(fumehood.state), fumehood.program, str(HERE)]
    words = [*secrets, *paths]
    assert found(episode, words) == dict.fromkeys(words, 0)


def test_environment(agent):
    known = [
        "HOME",
        "LANG",
        "LOGNAME",
        "PATH",
        "PWD",
        "PYTHONHASHSEED",
        "SHELL",
        "SHLVL",
        "TERM",
        "USER",
        "_",
    ]
    assert agent.sh("env | cut -d = -f 1 | sort").split() == known
    assert (
        agent.sh("cat /proc/self/environ | tr '\\0' '\\n' | cut -d = -f 1 | sort").split() == known
    )
    assert agent.sh("x='\\h \\u'; echo ${x@P} $HOSTNAME $(hostname)").split() == [
        "fumehood",
        "agent",
        "fumehood",
        "fumehood",
    ]


OTHERS = [
    f"/proc/{pid}/{name}" for pid in ("1", "$$") for name in ("environ", "maps", "mem", "auxv")
]


@pytest.mark.parametrize("path", OTHERS)
def test_memory_by_its_file(agent, path):
    assert "Permission denied" in agent.sh(f"head -c 1 {path} 2>&1")


PAGE, EVERYTHING = 4096, 1 << 40


def test_memory_that_init_reads(agent):
    """The shell overwrites the page that it shares with the porter. Timeouts still work."""
    assert agent.tried(f"{LOAD}; memory spoil {PAGE}") == {"spoiled": "4096"}
    assert agent.sh(f"memory spoil {PAGE}; sleep 60", outcome="timeout", timeout_s=0.2)
    agent.sh("until ! pkill sleep; do :; done")


def test_memory_that_the_owner_writes(agent):
    """The shell overwrites the memory that it gets commands by. It may end; the episode goes on."""
    for _ in range(3):
        answer = agent.step(f"{LOAD}; memory spoil {EVERYTHING}")
        assert (
            answer["observation"].count("spoiled") == 2 and "spoiled 4096" in answer["observation"]
        )
        assert agent.step("true")["info"]["outcome"] in ("shell_restarted", "ok")
        agent.goes_on()


def test_memory_that_the_owner_writes_has_no_holes(agent):
    """The agent can't free pages of the shared memory: the owner would wait while it used one."""
    assert agent.tried(f"{LOAD}; memory punch") == {"punched": "EPERM"}

# SPDX-License-Identifier: Apache-2.0
"""Episodes that take all they can get of a resource.

They hit the episode's limits, or smaller limits of the resource. The neighbour still gets its
share.
"""

import resource
from pathlib import Path

import pytest
from conftest import ATTACK

MEMORY_BYTES, DISK_BYTES, FILES, PIDS = 96 << 20, 32 << 20, 5000, 48  # limits of tasks/prey

# Kinds of resources whose memory counts towards the episode's memory limit.
COUNTED = [
    "anonymous",
    "shared",
    "memory_file",
    "segment",
    "page_table",
    "pipe",
    "unix_socket",
    "semaphores",
    "message_queue",
]

# Kinds of resources that a limit caps. For each: the error at the cap, and the most that an agent
# can get.
CAPPED = [
    ("disk:.", "ENOSPC", 1 + (DISK_BYTES >> 20)),
    ("disk:/tmp", "ENOSPC", 1 + (DISK_BYTES >> 20)),
    ("disk:/dev/shm", "ENOSPC", 1 + (DISK_BYTES >> 20)),
    ("empty_file", "ENOSPC", FILES),
    ("hard_link", "ENOSPC", FILES),
    ("attribute", "ENOSPC", FILES),
    ("terminal", "ENOSPC", 64),
    ("pending_signal", "EAGAIN", 1024),
    ("timer", "EAGAIN", 1024),
    ("process", "EAGAIN", PIDS),
]

EAT = f"""
    rm -f /dev/shm/told; mkfifo /dev/shm/told
    python3 {ATTACK}/eat.py KIND 2>/dev/null >/dev/shm/told &
    read told </dev/shm/told; echo $told
"""


def greedy(episode, kind: str) -> dict:
    """Takes as much of a kind as possible, and holds it. Returns the answer of the step."""
    return episode.step(EAT.replace("KIND", kind))


def has_its_share(neighbour) -> None:
    tried = neighbour.tried(f"python3 {ATTACK}/eat.py one")
    assert len(tried) == 12 and set(tried.values()) == {"done"}, tried
    neighbour.check()


@pytest.mark.parametrize("kind", COUNTED)
def test_memory(agent, neighbour, kind):
    info = greedy(agent, kind)["info"]
    if info["memory_peak_bytes"] is None:
        pytest.skip("there are no control groups: memory is limited for each process")
    assert info["outcome"] == "memory_limit" and info["memory_peak_bytes"] <= MEMORY_BYTES
    has_its_share(neighbour)


@pytest.mark.parametrize("kind,error,most", CAPPED)
def test_what_has_a_limit_of_its_own(agent, neighbour, kind, error, most):
    told = greedy(agent, kind)["observation"].split()
    assert told[:2] == [kind, error] and 0 < int(told[2]) <= most, told
    has_its_share(neighbour)
    agent.sh("kill -9 %1; wait; rm -rf /tmp/* /dev/shm/* ./*")


def network_pages() -> int:
    """Pages of memory of all TCP and UDP sockets of this machine."""
    with open("/proc/net/sockstat") as stat:
        lines = [line.split() for line in stat if line.startswith(("TCP:", "UDP:"))]
    return sum(int(line[line.index("mem") + 1]) for line in lines)


@pytest.mark.parametrize("kind", ["tcp_socket", "udp_socket"])
def test_memory_of_the_network(agent, neighbour, kind):
    """Memory of sockets belongs to no process, and v1 groups count it separately."""
    before = network_pages()
    info = greedy(agent, kind)["info"]
    if info["memory_peak_bytes"] is None:
        pytest.skip("there are no control groups: sockets are not counted")
    assert (network_pages() - before) * 4096 <= 2 * MEMORY_BYTES
    has_its_share(neighbour)


BOMBS = [
    "bomb() { bomb | bomb & }; bomb",
    "while :; do (setsid bash -c 'trap \"\" {1..64}; while :; do :; done' &); done",
    "python3 -c 'import os\nwhile True: os.fork()' 2>/dev/null",
    "for i in {1..40}; do while :; do :; done & done; true",
]


@pytest.mark.parametrize("bomb", BOMBS)
def test_processes_and_processors(agent, neighbour, bomb):
    """The neighbour's steps run beside fork bombs and busy loops."""
    agent.step(f"({bomb}) >/dev/null 2>&1 &", timeout_s=2)
    for _ in range(3):
        has_its_share(neighbour)
    assert agent.step("builtin true", timeout_s=60)["info"]["outcome"] == "ok"
    agent.reset()


@pytest.mark.parametrize("bomb", BOMBS[:3])
def test_a_bomb_that_a_step_waits_for(agent, neighbour, bomb):
    """A timeout ends a step's fork bomb, although it starts more processes meanwhile."""
    answer = agent.step(f"{{ {bomb}; sleep 60; }} 2>/dev/null", timeout_s=0.5)
    assert answer["info"]["outcome"] in ("timeout", "ok"), answer
    neighbour.check()
    agent.sh(
        "until (( $(ls -d /proc/[0-9]* | wc -l) <= 5 )); do :; done 2>/dev/null", timeout_s=200
    )


@pytest.fixture
def preferred():
    """Gives owners realtime and nice priorities, and a lower risk to be killed without memory."""
    limits = {k: resource.getrlimit(k) for k in (resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE)}
    score = Path("/proc/self/oom_score_adj")
    before = score.read_text()
    try:
        for kind in limits:
            resource.setrlimit(kind, (30, 30))
        score.write_text("-500")
    except (OSError, ValueError) as why:
        pytest.skip(f"no owner can be preferred here: {why}")
    yield
    score.write_text(before)
    for kind, limit in limits.items():
        resource.setrlimit(kind, limit)


def test_what_an_owner_is_preferred_in(preferred, agent):
    assert agent.sh("ulimit -Hr; ulimit -He; cat /proc/self/oom_score_adj") == "0\n0\n0\n"
    assert "not permitted" in agent.sh("chrt -f 1 true 2>&1; true")
    assert "ermission denied" in agent.sh("nice -n -1 true 2>&1; true")
    assert agent.sh("cat /proc/1/oom_score_adj") == "0\n"

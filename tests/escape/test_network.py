# SPDX-License-Identifier: Apache-2.0
"""The network and the sockets of others: an agent has a loopback device of its own, and no more."""

import secrets
import socket
import time
from contextlib import ExitStack

import pytest
from conftest import ATTACK


def listeners(stack: ExitStack, folder) -> tuple[dict[str, str], list[socket.socket]]:
    """This machine's doors: what an attempt to reach each must give, and the doors."""
    name = secrets.token_hex(8)
    doors = [stack.enter_context(socket.create_server(("0.0.0.0", 0)))]
    for address in (f"\0{name}", str(folder / "door")):
        doors.append(stack.enter_context(socket.socket(socket.AF_UNIX)))
        doors[-1].bind(address)
        doors[-1].listen()
    port = doors[0].getsockname()[1]
    expected = {
        f"127.0.0.1:{port}": "ECONNREFUSED",
        f"@{name}": "ECONNREFUSED",
        str(folder / "door"): "ENOENT",
        f"{socket.gethostbyname('localhost')}:{port}": "ECONNREFUSED",
        "192.0.2.1:80": "ENETUNREACH",
        "169.254.169.254:80": "ENETUNREACH",
    }
    return expected, doors


def nobody_came(doors: list[socket.socket]) -> bool:
    for door in doors:
        door.setblocking(False)
        with pytest.raises(BlockingIOError):
            door.accept()
    return True


def test_sockets_of_this_machine(agent, tmp_path):
    with ExitStack() as stack:
        expected, doors = listeners(stack, tmp_path)
        assert agent.tried(f"python3 {ATTACK}/reach.py {' '.join(expected)}") == expected
        assert nobody_came(doors)


def test_sockets_of_another_episode(agent, neighbour):
    """It listens at an abstract name and at a port, and would tell of a visit."""
    targets = f"@{neighbour.name} {neighbour.port}"
    tried = agent.tried(f"python3 {ATTACK}/reach.py {targets}")
    assert tried == dict.fromkeys(targets.split(), "ECONNREFUSED")
    agent.sh(f"python3 {ATTACK}/listen.py mine >port & until [ -s port ]; do sleep 0.01; done")
    assert agent.tried(f"python3 {ATTACK}/reach.py @mine $(cat port)")["@mine"] == "done"


def test_its_own_network_stays_as_it_is(agent):
    assert agent.sh("tail -n +3 /proc/net/dev | cut -d : -f 1").split() == ["lo"]
    refused = ["new-link", "new-address", "new-route", "link-down", "set-address", "add-route"]
    expected = {**dict.fromkeys(refused, "EPERM"), "forward": "EACCES", "low-port": "EACCES"}
    assert agent.tried(f"python3 {ATTACK}/network.py") == expected


def orphans() -> int:
    """Connections of this machine that no process has."""
    with open("/proc/net/sockstat") as stat:
        return int(stat.read().partition("orphan ")[2].split()[0])


def test_connections_that_nobody_has(agent, neighbour):
    """They end soon after their episode, with their memory and their network."""
    before = orphans() + 10  # others on this machine may leave some, or take theirs away
    for _ in range(2):
        assert agent.sh(f"python3 {ATTACK}/orphans.py").strip() == "40"
        assert orphans() > before + 20, "it is no attack"
        agent.ask(op="reset")
    end = time.monotonic() + 100
    while orphans() > before:
        assert time.monotonic() < end, f"{orphans()} are left"
        time.sleep(0.05)

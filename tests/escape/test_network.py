# SPDX-License-Identifier: Apache-2.0
"""Networks and sockets: an agent has a loopback device of its own, and nothing else.

With the host's network it has that too, and abstract unix sockets of its own sandbox only.
"""

import json
import secrets
import socket
import subprocess
import time
from contextlib import ExitStack

import pytest
from conftest import ATTACK


def listeners(stack: ExitStack, folder) -> tuple[dict[str, str], list[socket.socket]]:
    """Listening sockets of this machine, and the error that connecting to each must give."""
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
    """The neighbour listens on an abstract socket and on a port, and would print a visit."""
    targets = f"@{neighbour.name} {neighbour.port}"
    tried = agent.tried(f"python3 {ATTACK}/reach.py {targets}")
    assert tried == dict.fromkeys(targets.split(), "ECONNREFUSED")
    agent.sh(f"python3 {ATTACK}/listen.py mine >port & until [ -s port ]; do sleep 0.01; done")
    assert agent.tried(f"python3 {ATTACK}/reach.py @mine $(cat port)")["@mine"] == "done"


# --- episodes with the host's network -------------------------------------------------------------


@pytest.fixture
def scoped(fumehood) -> None:
    checks = json.loads(fumehood("doctor", "--json", status=None).stdout)["checks"]
    check = next(check for check in checks if check["name"] == "unix sockets")
    if not check["ok"]:
        pytest.skip(check["detail"])


def test_sockets_of_this_machine_in_its_network(scoped, begin, tmp_path):
    agent = begin("prey:host")
    with ExitStack() as stack:
        expected, doors = listeners(stack, tmp_path)
        targets = dict(list(expected.items())[:3])
        port, abstract, _ = targets
        targets |= {port: "done", abstract: "EPERM"}
        assert agent.tried(f"python3 {ATTACK}/reach.py {' '.join(targets)}") == targets
        box = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        name = "box" + secrets.token_hex(8)
        box.bind("\0" + name)
        send = f"socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', chr(0) + '{name}')"
        said = agent.sh(f'python3 -c "import socket; {send}"')
        assert "Operation not permitted" in said
        assert nobody_came(doors[1:])


def test_sockets_of_another_sandbox_in_that_network(scoped, fumehood, inside, begin):
    """By an abstract socket an agent could get another's pipes, and hold their kernel locks."""
    agent, name = begin("prey:host"), "name" + secrets.token_hex(8)
    words = ["--network", "host", "--bind", f"{inside}:{ATTACK}", "--", "python3"]
    other = fumehood.start(
        "sandbox", "exec", *words, f"{ATTACK}/listen.py", name, stdout=subprocess.PIPE, text=True
    )
    try:
        port = other.stdout.readline().strip()
        tried = agent.tried(f"python3 {ATTACK}/reach.py @{name} {port}")
        assert tried == {f"@{name}": "EPERM", port: "done"}
    finally:
        other.terminate()
        said, _ = other.communicate(timeout=60)
    assert said == "a visit\n"


def test_own_sockets_in_that_network(begin):
    """Processes of a sandbox reach each other, also when a new shell came between."""
    agent, name = begin("prey:host"), "name" + secrets.token_hex(8)
    agent.sh(f"python3 {ATTACK}/listen.py {name} >port & until [ -s port ]; do sleep 0.01; done")
    reach = f"python3 {ATTACK}/reach.py @{name}"
    assert agent.tried(reach) == {f"@{name}": "done"}
    agent.step("exit 3")
    assert agent.tried(reach) == {f"@{name}": "done"}


JOIN = """
import socket
lo = socket.inet_aton("127.0.0.1")
with socket.socket(type=socket.SOCK_DGRAM) as u:
    u.bind(("", 0))
    u.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.1.2.3") + lo)
    u.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, lo)
    u.sendto(b"it came", ("239.1.2.3", u.getsockname()[1]))
    print(u.recv(9).decode(), socket.if_nameindex())
"""


@pytest.mark.parametrize("task", ["prey", "prey:host"])
def test_groups_and_lists_of_interfaces(begin, task):
    """A program can join a multicast group and list interfaces by the usual system calls."""
    agent = begin(task)
    agent.sh(f"cat >join.py <<'EOF'{JOIN}EOF\ntrue")
    assert agent.sh("python3 join.py").startswith("it came [(1, 'lo')")


# --- changing the network, and connections that are left ------------------------------------------


def test_its_own_network_stays_as_it_is(agent):
    assert agent.sh("tail -n +3 /proc/net/dev | cut -d : -f 1").split() == ["lo"]
    refused = ["new-link", "new-address", "new-route", "link-down", "set-address", "add-route"]
    expected = {**dict.fromkeys(refused, "EPERM"), "forward": "EACCES", "low-port": "EACCES"}
    assert agent.tried(f"python3 {ATTACK}/network.py") == expected


def orphans() -> int:
    """Number of this machine's TCP connections that no process has."""
    with open("/proc/net/sockstat") as stat:
        return int(stat.read().partition("orphan ")[2].split()[0])


def test_connections_that_nobody_has(agent, neighbour):
    """Connections without a process end soon after their episode."""
    before = orphans() + 10  # other programs' connections may change the number
    for _ in range(2):
        assert agent.sh(f"python3 {ATTACK}/orphans.py").strip() == "40"
        assert orphans() > before + 20, "it is not an attack"
        agent.ask(op="reset")
    end = time.monotonic() + 100
    while orphans() > before:
        assert time.monotonic() < end, f"{orphans()} are left"
        time.sleep(0.05)

# SPDX-License-Identifier: Apache-2.0
"""fumehood serve: HTTP requests that come, end or follow each other in unusual ways."""

import contextlib
import json
import os
import random
import re
import socket
import struct
import time
from pathlib import Path

import pytest
from conftest import until
from test_serve import serve as serve  # a fixture


class Raw:
    """A connection over which a test sends the bytes that it likes."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.input = self.socket.makefile("rb")

    def send(self, *requests: bytes) -> None:
        self.socket.sendall(b"".join(requests))

    def answer(self) -> tuple[int, dict, bytes]:
        version, status, phrase = self.input.readline().decode().split(" ", 2)
        assert version == "HTTP/1.1" and phrase.strip() not in ("", "Unknown")
        head = {}
        while line := self.input.readline().strip():
            name, _, value = line.decode().partition(":")
            head[name.lower()] = value.strip()
        return int(status), head, self.input.read(int(head["content-length"]))

    def reset(self) -> None:
        """Ends the connection at once, without waiting for answers."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        self.input.close()
        self.socket.close()


def request(method: str, path: str, body=None, *lines: str) -> bytes:
    """The bytes of a request. A text is the body itself."""
    text = body if isinstance(body, str) else "" if body is None else json.dumps(body)
    head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(text)}", *lines]
    return ("\r\n".join(head) + "\r\n\r\n" + text).encode()


def step(command: str, episode_id: str = "default") -> bytes:
    body = {"action": {"command": command}, "episode_id": episode_id}
    return request("POST", "/step", body)


def test_an_empty_body_and_connections_that_end_too_early(serve):
    server = serve()
    for path, status in (("/reset", 200), ("/step", 422), ("/mcp", 200), ("/nothing", 404)):
        connection = Raw(server)
        connection.send(request("POST", path))
        assert connection.answer()[0] == status
        connection.send(request("GET", "/health"))
        assert connection.answer()[0] == 200
        connection.close()
    assert server.metric("resets_total") == 1
    for end in (Raw.close, Raw.reset):
        before = server.json("GET", "/state")[1]["step_count"]
        connection = Raw(server)
        connection.send(step("sleep 0.3"))
        time.sleep(0.1)
        end(connection)
        until(lambda n=before + 1: server.json("GET", "/state")[1]["step_count"] == n, "a step")
    connection = Raw(server)
    connection.send(request("POST", "/reset", {"episode_id": "early"}))
    connection.reset()
    until(lambda: server.metric("resets_total") == 2, "the reset")


def cpu_s(server) -> float:
    words = Path(f"/proc/{server.child.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


EARLY = [
    request("POST", "/reset", {"episode_id": "a"}),
    request("POST", "/reset"),
    request("GET", "/health"),
    step("echo 2")[:-5],
]


@pytest.mark.parametrize("after_s", [0, 0.1])
def test_a_request_that_does_not_wait_is_dropped(serve, after_s):
    server = serve("--max-steps", "100")
    server.json("POST", "/reset", {"episode_id": "a"})
    kept = Raw(server)
    for early in EARLY:
        for connection in (Raw(server), kept):
            slow = step("sleep 0.4; echo 1", "a")
            if after_s:
                connection.send(slow)
                time.sleep(after_s)
                connection.send(early)
            else:
                connection.send(slow, early, early)
            before = cpu_s(server)
            status, head, body = connection.answer()
            assert (status, head["connection"]) == (200, "close")
            assert json.loads(body)["observation"]["text"] == "1\n"
            assert connection.input.read() == b""
            assert cpu_s(server) - before < 0.2
            connection.close()
        kept = Raw(server)
        for before in (request("GET", "/health"), request("POST", "/mcp", {})):
            kept.send(before)
            assert kept.answer()[0] == 200
    assert server.metric("resets_total") == 1


@pytest.mark.parametrize("early", [[request("POST", "/mcp", {})], [step("sleep 0.4")] * 2])
def test_a_request_that_comes_with_a_get(serve, early):
    server = serve()
    server.json("POST", "/reset", {})
    connection = Raw(server)
    before = cpu_s(server)
    connection.send(request("GET", "/health"), *early)
    assert connection.answer()[0] == 200
    time.sleep(0.5)
    assert cpu_s(server) - before < 0.2
    connection.close()


def hammered(dice: random.Random, sessions: list[str]) -> bytes:
    """The bytes of a random request, perhaps cut."""
    names = dice.choice([{}, {"episode_id": "a"}, {"episode_id": "b"}])
    command = dice.choice(["true", "sleep 0.05", "sleep 2", "submit"])
    own = f"Mcp-Session-Id: {dice.choice(sessions)}"
    call = {"name": "bash", "arguments": {"command": command}}
    rpc = dice.choice(
        [
            {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
            {"method": "tools/call", "params": call},
            {"method": "notifications/cancelled"},
        ]
    )
    data = dice.choice(
        [
            request("POST", "/reset", names),
            request("POST", dice.choice(["/reset", "/step", "/mcp", "/nothing"])),
            request("POST", "/step", {"action": {"command": command}, **names}),
            request("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, **rpc}, own),
            request("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, **rpc}),
            request("DELETE", "/mcp", None, own),
            request("GET", dice.choice(["/health", "/state", "/metrics", "/schema"])),
            b"POST /reset HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nxyz",
        ]
    )
    return data if dice.random() < 0.9 else data[: dice.randrange(len(data))]


def test_random_requests_leave_a_server_that_works(serve):
    server = serve("--idle-timeout", "1", "--max-steps", "1000")
    seed = random.randrange(1 << 30)
    print("seed", seed)
    dice = random.Random(seed)
    sessions = ["none"]
    end = time.monotonic() + 4
    while time.monotonic() < end:
        connection = Raw(server)
        connection.socket.settimeout(dice.choice([0.001, 0.01, 0.2]))
        with contextlib.suppress(OSError):
            for _ in range(dice.randint(1, 5)):
                connection.send(hammered(dice, sessions))
                if dice.random() < 0.6:
                    data = connection.socket.recv(65536)
                    sessions += re.findall(r"mcp-session-id: (\w+)", data.decode())
        dice.choice([Raw.close, Raw.reset])(connection)
        del sessions[1:-5]
    assert server.json("GET", "/health") == (200, {"status": "healthy"})
    until(lambda: server.metric("sessions") == 0, "the sessions end")
    until(lambda: server.metric("connections") == 1, "the connections end")
    before = cpu_s(server)
    time.sleep(1)
    assert cpu_s(server) - before < 0.2
    assert server.end() == 0

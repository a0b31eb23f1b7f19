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
from websocket import PING, TEXT, frame


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


@pytest.mark.parametrize("after_s", [0, 0.1])
def test_requests_that_do_not_wait_are_answered_in_order(serve, after_s):
    server = serve("--max-steps", "100")
    connection = Raw(server)
    connection.send(request("POST", "/reset", {"episode_id": "a"}))
    assert connection.answer()[0] == 200
    before = cpu_s(server)
    first, *rest = [
        step("sleep 0.4; echo 1", "a"),
        request("POST", "/nothing"),
        request("GET", "/health"),
        request("POST", "/mcp", {}),
        step("echo 2", "a") * 300,
    ]
    if after_s:
        connection.send(first)
        time.sleep(after_s)
        connection.send(*rest, step("echo 3", "a")[:-5])
    else:
        connection.send(first, *rest, step("echo 3", "a")[:-5])
    status, head, body = connection.answer()
    assert status == 200 and "connection" not in head
    assert json.loads(body)["observation"]["text"] == "1\n"
    assert [connection.answer()[0] for _ in range(3)] == [404, 200, 200]
    assert cpu_s(server) - before < 0.2
    for i in range(300):
        status, _, body = connection.answer()
        assert (status, i) == (200 if i < 99 else 409, i)
    connection.send(step("echo 3", "a")[-5:])
    assert connection.answer()[0] == 409
    connection.close()
    assert server.metric("resets_total") == 1


def chunked(*pieces: str, end: str = "0\r\n\r\n") -> str:
    return "".join(f"{len(p):x}\r\n{p}\r\n" for p in pieces) + end


HEAD = "POST /reset HTTP/1.1\r\nHost: 127.0.0.1\r\n"
UPGRADE = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n"
# Requests, their status, and whether the connection goes on.
ODD = [
    ("", "GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404, True),
    ("", "GET /step HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405, True),
    ("", "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 405, True),
    ("", "BREW /step HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 501, True),
    ("", "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 426, True),
    ("chunks", CHUNKED + chunked('{"seed"', ":5}"), 200, True),
    ("a large chunk", CHUNKED + chunked('{"x": "', "x" * 7_000_000, '"}'), 200, True),
    ("a chunk too large", CHUNKED + chunked("x" * 9_000_000), 413, False),
    ("chunks too large", CHUNKED + chunked("x" * 5_000_000, "x" * 5_000_000), 413, False),
    ("trailers", CHUNKED + chunked("{}", end="0\r\na: b\r\nc: d\r\n\r\n"), 200, True),
    ("a wrong trailer", CHUNKED + chunked("{}", end="0\r\na b\r\n\r\n"), 400, False),
    ("a NUL in a trailer", CHUNKED + chunked("{}", end="0\r\na: \0\r\n\r\n"), 400, False),
    ("a trailer too long", CHUNKED + "0\r\na: " + "x" * 20_000, 431, False),
    ("leading zeros", CHUNKED + "0" * 99 + "2;x\r\n{}\r\n" + "0" * 99 + "\r\n\r\n", 200, True),
    ("a huge chunk", CHUNKED + "0" * 9 + "f" * 30 + "\r\n", 413, False),
    ("an empty line", "\r\nGET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404, True),
    ("empty lines", "\r\n\r\n", 400, False),
    ("a NUL behind a return", "\r\0", 400, False),
    ("another expectation", HEAD + "Expect: 200-ok\r\nContent-Length: 2\r\n\r\n", 417, False),
    ("no chunk", CHUNKED + "xyz\r\n", 400, False),
    ("a return in a size", CHUNKED + "2\rX\r\n{}\r\n0\r\n\r\n", 400, False),
    ("a line in an extension", CHUNKED + "2;\nX\r\n{}\r\n0\r\n\r\n", 400, False),
    ("old chunks", CHUNKED.replace("1.1", "1.0") + chunked("{}"), 400, False),
    (
        "a body of a GET",
        "GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
        413,
        False,
    ),
    ("no length", HEAD + "\r\nxyz", 411, False),
    ("a huge length", f"{HEAD}Content-Length: {1 << 40}\r\n\r\n", 413, False),
    ("too large", f"{HEAD}Content-Length: 9000000\r\n\r\n" + "x" * 9_000_000, 413, False),
    ("two lengths", HEAD + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400, False),
    (
        "both",
        HEAD + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET",
        400,
        False,
    ),
    ("gzip", HEAD + "Transfer-Encoding: gzip\r\n\r\n", 501, False),
    ("two hosts", HEAD + "Host: localhost\r\nContent-Length: 2\r\n\r\n{}", 400, False),
    ("no host", "GET /health HTTP/1.1\r\n\r\n", 400, False),
    ("an old one", "GET /health HTTP/1.0\r\n\r\n", 200, False),
    ("an old one of a page", "GET /health HTTP/1.0\r\nOrigin: http://a\r\n\r\n", 403, False),
    ("an old one elsewhere", "GET /metrics HTTP/1.0\r\n\r\n", 403, False),
    ("long headers", HEAD + "a: " + "x" * 20_000, 431, False),
    ("many headers", HEAD + "a: b\r\n" * 200 + "\r\n", 431, False),
    ("a long path", "GET /" + "x" * 20_000, 414, False),
    ("a name with a space", HEAD + "Content-Length : 2\r\n\r\n{}", 400, False),
    ("lines without CR", HEAD.replace("\r", "") + "\n", 400, False),
    ("TLS", "\x16\x03\x01", 400, False),
    ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, False),
    ("another version", "GET /health HTTP/3.0\r\n\r\n", 505, False),
    ("HTTP/1.0", "GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n", 200, False),
    ("close", "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 200, False),
]


def test_odd_requests_get_their_status(serve):
    server = serve()
    for name, text, status, goes_on in ODD:
        connection = Raw(server)
        connection.send(text.encode())
        got, head, body = connection.answer()
        assert (got, "connection" not in head) == (status, goes_on), (name, text[:80])
        assert json.loads(body)
        if goes_on:
            connection.send(request("GET", "/health"))
            assert connection.answer()[0] == 200
        else:
            assert connection.input.read() == b""
        connection.close()
    _, head, _ = server.http("PUT", "/mcp", "{}")
    assert head["allow"] == "POST, DELETE"
    connection = Raw(server)
    connection.send(request("HEAD", "/health"), request("GET", "/health"))
    assert b"HTTP/1.1 200" in connection.input.readline()
    while connection.input.readline().strip():
        pass
    assert connection.answer()[2] == b'{"status":"healthy"}'
    connection.send(request("POST", "/reset", {"seed": 9}, "Expect: 100-continue")[:-11])
    assert connection.input.readline() == b"HTTP/1.1 100 Continue\r\n"
    assert connection.input.readline() == b"\r\n"
    connection.send(b'{"seed": 9}')
    assert json.loads(connection.answer()[2])["metadata"]["seed"] == 9
    connection.close()


def test_an_empty_name_is_the_name_of_no_episode(serve):
    server = serve()
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    assert "mcp-session-id" in server.http("POST", "/mcp", initialize)[1]
    act = {"action": {"command": "ls"}, "episode_id": ""}
    assert server.json("POST", "/step", act)[0] == 404
    for name in ("", "a%00"):
        assert server.json("GET", f"/state?episode_id={name}")[0] == 404
    assert server.json("POST", "/reset", {"episode_id": ""})[0] == 200
    assert server.json("GET", "/state")[1]["episode_id"] == "default"


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
            (CHUNKED + chunked('{"episode', '_id": "a"}')).encode(),
            UPGRADE.encode() + frame(TEXT, json.dumps({"type": "reset"}).encode()),
            UPGRADE.encode() + frame(PING, b"") + frame(TEXT, b'{"type": "close"}'),
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
                    sessions += re.findall(r"mcp-session-id: (\w+)", data.decode("latin-1"))
        dice.choice([Raw.close, Raw.reset])(connection)
        del sessions[1:-5]
    assert server.json("GET", "/health") == (200, {"status": "healthy"})
    until(lambda: server.metric("sessions") == 0, "the sessions end")
    until(lambda: server.metric("connections") == 1, "the connections end")
    before = cpu_s(server)
    time.sleep(1)
    assert cpu_s(server) - before < 0.2
    assert server.end() == 0

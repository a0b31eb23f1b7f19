# SPDX-License-Identifier: Apache-2.0
"""fumehood serve: HTTP requests that come, end or follow each other in unusual ways."""

import json
import socket
import struct
import time

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
        status = int(self.input.readline().split()[1])
        head = {}
        while line := self.input.readline().strip():
            name, _, value = line.decode().partition(":")
            head[name.lower()] = value.strip()
        return status, head, self.input.read(int(head["content-length"]))

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

# SPDX-License-Identifier: Apache-2.0
"""A WebSocket client on a plain socket, which can also send what no client should."""

import base64
import hashlib
import json
import os
import socket
import struct

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


class Refused(Exception):
    """The server refused the handshake with a status."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = status


def frame(opcode: int, payload: bytes, fin: bool = True) -> bytes:
    """The bytes of a frame, with a mask that changes nothing."""
    head = bytes([opcode | (0x80 if fin else 0)])
    if len(payload) < 126:
        head += bytes([0x80 | len(payload)])
    elif len(payload) < 1 << 16:
        head += bytes([0x80 | 126]) + struct.pack(">H", len(payload))
    else:
        head += bytes([0x80 | 127]) + struct.pack(">Q", len(payload))
    return head + b"\0\0\0\0" + payload


class WebSocket:
    """A connection to a server on this machine."""

    def __init__(self, port: int, path: str = "/ws", headers: dict | None = None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = {
            "Host": f"127.0.0.1:{port}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Version": "13",
            **(headers or {}),
        }
        text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.socket.sendall(f"GET {path} HTTP/1.1\r\n{text}\r\n".encode())
        self.input = self.socket.makefile("rb")
        version, status = self.input.readline().split()[:2]
        status = int(status)
        assert version == b"HTTP/1.1"
        head = {}
        while line := self.input.readline().strip():
            name, _, value = line.decode().partition(":")
            head[name.lower()] = value.strip()
        if status != 101:
            self.drop()
            raise Refused(status)
        accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        assert head["sec-websocket-accept"] == accept

    def raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send(self, message) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self.raw(frame(TEXT, text.encode()))

    def read_frame(self) -> tuple[int, bytes, bool]:
        """Reads a frame: opcode, payload, and whether it is the last of its message."""
        first, second = self.input.read(2)
        n = second & 0x7F
        if n == 126:
            (n,) = struct.unpack(">H", self.input.read(2))
        elif n == 127:
            (n,) = struct.unpack(">Q", self.input.read(8))
        return first & 15, self.input.read(n), bool(first & 0x80)

    def receive(self) -> dict:
        """Reads a message, and answers pings before it."""
        text = b""
        while True:
            opcode, payload, fin = self.read_frame()
            if opcode == PING:
                self.raw(frame(PONG, payload))
                continue
            assert opcode in (0, TEXT), (opcode, payload)
            text += payload
            if fin:
                return json.loads(text)

    def ask(self, kind: str, **data) -> dict:
        """Sends a message of OpenEnv, and returns the data of its answer."""
        self.send({"type": kind, "data": data} if data or kind == "reset" else {"type": kind})
        return self.receive()["data"]

    def step(self, command: str, **more) -> dict:
        return self.ask("step", command=command, **more)

    def closed(self) -> int | None:
        """Status with which the server closes the connection; None: without one."""
        try:
            while True:
                opcode, payload, _ = self.read_frame()
                if opcode == CLOSE:
                    return struct.unpack(">H", payload[:2])[0] if len(payload) > 1 else None
        except (ValueError, ConnectionError):
            return None

    def drop(self) -> None:
        """Ends the connection without a closing frame."""
        self.input.close()
        self.socket.close()

# SPDX-License-Identifier: Apache-2.0
"""fumehood serve: handshakes and frames of WebSockets, good and bad ones."""

import socket

import pytest
from conftest import until
from test_serve import serve as serve  # a fixture
from test_serve_http import UPGRADE
from websocket import BINARY, CLOSE, PING, TEXT, Refused, frame

HOSTILE = [
    (frame(BINARY, b"{}"), 1003),
    (frame(TEXT, b"\xff\xfe"), 1007),
    (frame(TEXT, b"\xe2\x82", fin=False) + frame(0, b"\x28"), 1007),
    (frame(0, b"{}"), 1002),
    (frame(TEXT, b"{", fin=False) + frame(TEXT, b"}"), 1002),
    (frame(0x40 | TEXT, b"{}"), 1002),
    (frame(3, b""), 1002),
    (frame(11, b""), 1002),
    (frame(PING, b"x" * 200), 1002),
    (frame(PING, b"", fin=False), 1002),
    (b"\x81\x02{}", 1002),  # no mask
    (b"\x81\xfe\x00\x02" + bytes(4) + b"{}", 1002),  # a length in too many bytes
    (frame(CLOSE, b""), 1000),
    (frame(CLOSE, b"\x03\xe9bye"), 1001),
    (frame(CLOSE, b"\x00"), 1002),
    (frame(CLOSE, b"\x03\xed"), 1002),
    (frame(CLOSE, b"\x03\xe8\xff"), 1007),
    (b"\x81\xff" + b"\xff" * 8, 1009),
    (frame(TEXT, b" " * (9 << 20)), 1009),
    ((frame(TEXT, b" " * (5 << 20), fin=False) + frame(0, b" " * (5 << 20))), 1009),
]


def test_hostile_frames_end_their_connection_alone(serve):
    server = serve()
    good = server.socket()
    good.ask("reset")
    for data, status in HOSTILE:
        ws = server.socket()
        ws.raw(data)
        assert ws.closed() == status, data[:20]
        assert ws.input.read() == b""
        ws.drop()
    assert good.step("echo here")["observation"]["text"] == "here\n"
    until(lambda: server.metric("sessions") == 1, "the sessions of hostile clients end")


def test_a_client_that_is_gone_with_many_messages_ends_its_session(serve):
    server = serve()
    ws = server.socket()
    ws.ask("reset")
    for _ in range(80):  # more than wait at a time, so the server reads no further
        ws.send({"type": "step", "data": {"command": "sleep 25"}})
    until(lambda: server.metric("sessions") == 1, "the session")
    ws.drop()
    until(lambda: server.metric("sessions") == 0, "the session of a client that is gone ends")


def test_handshakes(serve):
    server = serve()
    for path, headers, status in (
        ("/ws", {"Sec-WebSocket-Version": "8"}, 426),
        ("/ws", {"Sec-WebSocket-Key": "short"}, 400),
        ("/ws", {"Sec-WebSocket-Key": "!" * 22 + "=="}, 400),
        ("/ws", {"Upgrade": "h2c"}, 426),
        ("/ws", {"Connection": "keep-alive"}, 426),
        ("/nothing", {}, 404),
    ):
        with pytest.raises(Refused) as refused:
            server.socket(path, **headers)
        assert refused.value.status == status, (path, headers)
    ws = server.socket(Connection="keep-alive, Upgrade", Upgrade="WebSocket")
    assert not ws.ask("reset")["done"]
    # The first message may come with the handshake, and in pieces.
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as early:
        message = frame(TEXT, b'{"type":"state"}')
        early.sendall(UPGRADE.encode() + message[:3])
        answer = early.recv(4096)
        assert answer.startswith(b"HTTP/1.1 101 ") and answer.endswith(b"\r\n\r\n")
        assert b"sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in answer
        for byte in message[3:]:
            early.sendall(bytes([byte]))
        assert b'"step_count":0' in early.recv(4096)

# SPDX-License-Identifier: Apache-2.0
"""fumehood serve: OpenEnv's protocol over HTTP and WebSockets, tokens, limits and the end."""

import base64
import http.client
import json
import re
import select
import signal
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import PATIENCE_S, TASKS, until
from websocket import PING, PONG, TEXT, Refused, WebSocket, frame

TOKEN = "a-token-of-the-tests"


class Server:
    """A process of `fumehood serve`."""

    def __init__(self, fumehood, *args, token=None, task="rows"):
        words = ["serve", "--tasks-dir", TASKS, "--task", task, "--listen", ":0", *args]
        env = dict(fumehood.env)
        if token:
            env["FUMEHOOD_TOKEN"] = token
        else:
            words.append("--no-token")
        pipe = subprocess.PIPE
        self.child = fumehood.start(*words, env=env, stdout=pipe, stderr=pipe, text=True)
        line = self.child.stdout.readline()
        assert line.startswith("listening on http://"), self.child.stderr.read()
        self.port = int(line.rpartition(":")[2])

    def socket(self, path="/ws", **headers) -> WebSocket:
        return WebSocket(self.port, path, headers)

    def http(self, method: str, path: str, body=None, **headers) -> tuple[int, dict, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        text = None if body is None else body if isinstance(body, str) else json.dumps(body)
        connection.request(method, path, text, headers)
        answer = connection.getresponse()
        head = {name.lower(): value for name, value in answer.getheaders()}
        result = answer.status, head, answer.read()
        connection.close()
        return result

    def json(self, method: str, path: str, body=None, **headers):
        status, _, data = self.http(method, path, body, **headers)
        return status, json.loads(data)

    def metric(self, name: str) -> float:
        text = self.http("GET", "/metrics")[2].decode()
        return float(re.search(rf"^fumehood_{name} (.*)$", text, re.MULTILINE)[1])

    def end(self, number=signal.SIGTERM) -> int:
        self.child.send_signal(number)
        return self.child.wait(PATIENCE_S)


@pytest.fixture
def serve(fumehood):
    servers = []

    def start(*args, **kwargs) -> Server:
        servers.append(Server(fumehood, *args, **kwargs))
        return servers[-1]

    yield start
    for server in servers:
        server.child.kill()
        server.child.wait()
        server.child.stdout.close()
        server.child.stderr.close()


def memory_kb(status: str) -> int:
    return int(re.search(r"^VmRSS:\s+(\d+)", Path(status).read_text(), re.MULTILINE)[1])


def steps_of(out) -> list[int]:
    """Numbers of steps in the records, sorted."""
    return sorted(
        sum('"event":"step"' in line for line in path.read_text().splitlines())
        for path in out.glob("*/events.jsonl")
    )


def test_an_episode_over_a_websocket(serve, fumehood):
    server = serve("--out", fumehood.out)
    ws = server.socket()
    first = ws.ask("reset", seed=3, episode_id="e9")
    assert first["reward"] is None and not first["done"]
    assert "submission.csv" in first["observation"]["text"]
    assert (first["metadata"]["seed"], first["metadata"]["episode_id"]) == (3, "e9")
    step = ws.step("cp zeros.csv submission.csv; echo hello")
    assert step["observation"] == {"text": "hello\n"} and step["reward"] == 0
    assert step["metadata"]["info"]["step"] == 1
    assert ws.ask("state")["step_count"] == 1
    over = ws.step("submit")
    assert over["done"] and over["observation"]["exit_status"] == "submitted"
    assert over["metadata"]["info"]["score"] == {"accuracy": 0.5}
    error = ws.step("ls")
    assert error["code"] == "EXECUTION_ERROR" and "has ended" in error["message"]
    assert ws.ask("reset", episode_id="e10")["metadata"]["seed"] == 4
    ws.send({"type": "close"})
    assert ws.closed() == 1000
    until(lambda: steps_of(fumehood.out) == [0, 2], "two records")
    assert server.end() == 0


WRONG = [
    ("nonsense", "INVALID_JSON"),
    ("", "INVALID_JSON"),
    ("[" * 1000, "INVALID_JSON"),
    ("[]", "VALIDATION_ERROR"),
    ("{}", "UNKNOWN_TYPE"),
    ('{"type":7}', "UNKNOWN_TYPE"),
    ('{"type":"fly"}', "UNKNOWN_TYPE"),
    ('{"type":"step"}', "VALIDATION_ERROR"),
    ('{"type":"step","data":[]}', "VALIDATION_ERROR"),
    ('{"type":"step","data":{}}', "VALIDATION_ERROR"),
    ('{"type":"step","data":{"comand":"ls"}}', "VALIDATION_ERROR"),
    ('{"type":"step","data":{"command":7}}', "VALIDATION_ERROR"),
    ('{"type":"step","data":{"command":"a\\u0000b"}}', "VALIDATION_ERROR"),
    ('{"type":"step","data":{"command":"\\ud800"}}', "VALIDATION_ERROR"),
    ('{"type":"step","data":{"command":"ls","timeout_s":0}}', "VALIDATION_ERROR"),
    ('{"type":"step","data":{"command":"ls"}}', "EXECUTION_ERROR"),
    ('{"type":"reset","data":{"seed":-1}}', "VALIDATION_ERROR"),
    ('{"type":"reset","data":{"seed":0.5}}', "VALIDATION_ERROR"),
    ('{"type":"reset","data":{"task":"other"}}', "VALIDATION_ERROR"),
    ('{"type":"reset","data":{"episode_id":"%s"}}' % ("x" * 256), "VALIDATION_ERROR"),
    ('{"type":"mcp"}', "VALIDATION_ERROR"),
]


def test_wrong_messages_keep_the_connection(serve):
    ws = serve().socket()
    for text, code in WRONG:
        ws.send(text)
        answer = ws.receive()
        assert (answer["type"], answer["data"]["code"]) == ("error", code), text
        assert answer["data"]["message"]
        assert (code == "VALIDATION_ERROR") == ("errors" in answer["data"])
    ws.send({"type": "mcp", "data": {"method": "x"}})
    assert ws.receive()["data"]["error"]["code"] == -32600
    assert not ws.ask("reset")["done"]


def test_messages_are_answered_in_order_and_pings_at_once(serve):
    server = serve("--max-steps", "200")
    ws = server.socket()
    ws.ask("reset")
    ws.send({"type": "step", "data": {"command": "sleep 0.5; echo 0"}})
    ws.raw(frame(PING, b"alive?"))
    for i in range(1, 100):
        ws.send({"type": "step", "data": {"command": f"echo {i}"}})
    assert ws.read_frame()[:2] == (PONG, b"alive?")
    for i in range(100):
        assert ws.receive()["data"]["observation"]["text"] == f"{i}\n"


def test_a_message_in_pieces_and_one_of_a_mebibyte(serve):
    ws = serve().socket()
    ws.ask("reset")
    ws.raw(frame(TEXT, b'{"type":"step","data"', fin=False) + frame(PING, b""))
    ws.raw(frame(0, b':{"command":"echo 1"}}'))
    answers = {opcode: payload for opcode, payload, *_ in (ws.read_frame(), ws.read_frame())}
    assert PONG in answers  # before the answer or after it
    assert json.loads(answers[TEXT])["data"]["observation"]["text"] == "1\n"
    long = "x" * 1_000_000
    assert ws.step(f": {long}; echo 2")["observation"]["text"] == "2\n"
    assert ws.step(f": {long}{long}")["code"] == "EXECUTION_ERROR"
    big = ws.step("head -c 60000 /dev/zero | tr '\\0' x")["observation"]["text"]
    assert big.rstrip() == "x" * 60_000


def test_dropped_connections_free_their_sessions(serve):
    server = serve("--max-sessions", "2")
    for _ in range(3):
        first, second = server.socket(), server.socket()
        first.ask("reset")
        first.send({"type": "step", "data": {"command": "sleep 60"}})
        third = server.socket()
        began = time.monotonic()
        full = third.receive()["data"]
        assert full["code"] == "CAPACITY_REACHED"
        assert (full["active_sessions"], full["max_sessions"]) == (2, 2)
        assert third.closed() == 1013
        assert time.monotonic() - began < 10
        for ws in (first, second, third):
            ws.drop()
        until(lambda: server.metric("sessions") == 0, "the sessions end")
    assert server.metric("sessions_refused_total") == 3


def test_a_slow_reader_waits_alone(serve):
    server = serve("--max-steps", "300")
    slow, good = server.socket(), server.socket()
    slow.ask("reset")
    good.ask("reset")
    # More than the buffers of the sockets hold, and more messages than the server keeps.
    for i in range(200):
        command = f"printf %060000d {i}"
        slow.send({"type": "step", "data": {"command": command}})
    status = f"/proc/{server.child.pid}/status"
    before_kb = memory_kb(status)
    for i in range(20):
        assert good.step(f"echo {i}")["observation"]["text"] == f"{i}\n"
        time.sleep(0.05)
    assert memory_kb(status) - before_kb < 16 << 10
    for i in range(200):
        assert int(slow.receive()["data"]["observation"]["text"][-9:]) == i
    assert server.end() == 0


def test_half_a_handshake_takes_no_session(serve):
    server = serve("--max-sessions", "4")
    halves = []
    for text in (b"", b"GET ", b"GET /ws HTTP/1.1\r\nHost: 127", b"POST /reset HTTP/1.1\r\n") * 25:
        halves.append(socket.create_connection(("127.0.0.1", server.port)))
        halves[-1].sendall(text)
    ws = server.socket()
    ws.ask("reset")
    assert ws.step("echo here")["observation"]["text"] == "here\n"
    assert server.metric("sessions") == 1
    for half in halves:
        half.shutdown(socket.SHUT_WR)
    until(lambda: server.metric("connections") < 4, "the halves' connections end")
    for half in halves:
        half.close()
    assert ws.step("echo still")["observation"]["text"] == "still\n"


@pytest.mark.parametrize("before", [b"", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"])
def test_half_requests_keep_nobody_out(serve, before):
    server = serve("--max-sessions", "4", token=TOKEN)
    own = {"Authorization": f"Bearer {TOKEN}"}
    ws = server.socket(**own)
    kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    kept.request("GET", "/schema", headers=own)
    kept.getresponse().read()
    halves = []
    for _ in range(600):
        halves.append(socket.create_connection(("127.0.0.1", server.port)))
        if before:
            halves[-1].sendall(before)
            assert halves[-1].recv(4096).startswith(b"HTTP/1.1 200")
        halves[-1].sendall(b"GET /ws HT")
    ends = select.epoll()
    ended = set()
    for half in halves:
        ends.register(half, select.EPOLLRDHUP)

    def are_dropped():
        ended.update(fd for fd, _ in ends.poll(0))
        return len(ended) >= 340

    until(are_dropped, "the oldest connections end")
    assert halves[-1].fileno() not in ended
    began = time.monotonic()
    assert server.json("GET", "/health") == (200, {"status": "healthy"})
    server.socket(**own).drop()
    kept.request("GET", "/metrics", headers=own)
    page = kept.getresponse().read().decode()
    assert time.monotonic() - began < 10  # half requests end after 20 s
    assert int(re.search(r"^fumehood_connections_dropped_total (.*)$", page, re.M)[1]) >= 340
    ws.ask("reset")
    assert ws.step("echo here")["observation"]["text"] == "here\n"
    kept.close()
    ends.close()
    for half in halves:
        half.close()


def test_tokens(serve):
    token = TOKEN * 25  # with a name in front, a URL has more than 512 bytes
    server = serve(token=token)
    basic = base64.b64encode(f"anyone:{token}".encode()).decode()
    assert server.json("GET", "/health") == (200, {"status": "healthy"})
    for given in (None, "Bearer", "Bearer x", f"Bearer {token}x", "Basic x", f"Token {token}"):
        headers = {"Authorization": given} if given else {}
        for method, path in (("GET", "/schema"), ("POST", "/reset"), ("GET", "/nothing")):
            status, head, body = server.http(method, path, "{}", **headers)
            assert status == 401 and head["www-authenticate"] == "Bearer"
            assert token.encode() not in body
        with pytest.raises(Refused) as refused:
            server.socket(**headers)
        assert refused.value.status == 401
    for given in (f"Bearer {token}", f"bearer {token}", f"Basic {basic}"):
        assert server.http("GET", "/schema", Authorization=given)[0] == 200
        server.socket(Authorization=given).drop()


def test_a_token_is_drawn_and_printed(fumehood):
    words = ["serve", "--tasks-dir", TASKS, "--task", "rows", "--listen", ":0"]
    child = fumehood.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    port = int(child.stdout.readline().rpartition(":")[2])
    token = child.stderr.readline().split()[-1]
    assert len(token) == 32
    with pytest.raises(Refused):
        WebSocket(port)
    WebSocket(port, headers={"Authorization": f"Bearer {token}"}).drop()
    child.terminate()
    assert child.wait(PATIENCE_S) == 0


@pytest.mark.parametrize(
    ("listen", "closed"),
    [("127.0.0.1:0", "127.0.0.2"), ("127.0.0.2:0", "127.0.0.1"), ("[::1]:0", "127.0.0.1")],
)
def test_other_addresses_of_the_machine_are_closed(serve, listen, closed):
    server = serve("--listen", listen)
    socket.create_connection((listen.rsplit(":", 1)[0].strip("[]"), server.port)).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((closed, server.port))


def test_other_hosts_and_origins_are_refused(serve):
    server = serve("--allow-host", "lab.example", "--allow-origin", "https://page.example")
    own = f"127.0.0.1:{server.port}"
    for host in ("evil.example", f"evil.example:{server.port}", "", "[::1", "127.0.0.1:x", "a b"):
        assert server.http("GET", "/health", Host=host)[0] in (400, 403), host
        with pytest.raises(Refused):
            server.socket(Host=host)
    for host in (own, f"localhost:{server.port}", "[::1]:80", "10.1.2.3", "lab.example:1"):
        assert server.http("GET", "/health", Host=host)[0] == 200, host
    for origin in ("https://evil.example", "null", f"https://{own}", f"http://{own}.evil.example"):
        assert server.http("GET", "/health", Origin=origin)[0] == 403
        with pytest.raises(Refused) as refused:
            server.socket(Origin=origin)
        assert refused.value.status == 403
    for origin in (f"http://{own}", "https://page.example"):
        server.socket(Origin=origin).drop()


def test_an_episode_over_http(serve):
    server = serve()
    assert server.json("POST", "/step", {"action": {"command": "ls"}})[0] == 404
    assert server.json("GET", "/state")[1]["episode_id"] is None
    status, reset = server.json("POST", "/reset", {"seed": 1})
    assert status == 200 and reset["metadata"]["seed"] == 1
    other = server.json("POST", "/reset", {"episode_id": "other"})[1]
    assert other["metadata"]["episode_id"] == "other"
    act = {"action": {"command": "x=$x$RANDOM; echo ${#x}"}, "episode_id": "other"}
    assert server.json("POST", "/step", act)[0] == 200
    _, step = server.json("POST", "/step", {"action": {"command": "echo hi"}, "timeout_s": 5})
    assert (step["observation"]["text"], step["metadata"]["info"]["step"]) == ("hi\n", 1)
    assert server.json("GET", "/state")[1]["step_count"] == 1
    assert server.json("GET", "/state?episode_id=other")[1]["step_count"] == 1
    assert server.json("GET", "/state?episode_id=nope")[0] == 404
    for body in ("", "[]", "{", {"action": 1}, {"action": {}}, {"action": {"command": 1}}):
        status, answer = server.json("POST", "/step", body)
        assert status == 422 and answer["detail"][0]["loc"][0] == "body"
    assert server.json("POST", "/step", {"action": {"command": "x" * (2 << 20)}})[0] == 413
    status, answer = server.json("POST", "/step", {"action": {"command": "submit"}})
    assert status == 200 and answer["done"]
    assert server.json("POST", "/step", {"action": {"command": "ls"}})[0] == 409


def test_what_a_server_tells_of_itself(serve):
    server = serve()
    assert server.json("GET", "/schema")[1]["action"]["required"] == ["command"]
    assert server.json("GET", "/metadata")[1]["tasks"] == ["rows"]
    api = server.json("GET", "/openapi.json")[1]
    assert {"/reset", "/step", "/state", "/mcp"} <= set(api["paths"])
    assert server.json("POST", "/mcp", {})[1]["jsonrpc"] == "2.0"
    ws = server.socket()
    ws.ask("reset")
    ws.step("true")
    assert server.metric("sessions") == server.metric("resets_total") == 1
    assert server.metric("step_seconds_count") == 1


def test_idle_sessions_are_closed(serve):
    server = serve("--idle-timeout", "1")
    ws = server.socket()
    ws.ask("reset")
    server.json("POST", "/reset", {})
    answer = ws.receive()
    assert answer["data"]["code"] == "SESSION_ERROR" and "idle" in answer["data"]["message"]
    assert ws.closed() == 1001
    until(lambda: server.metric("sessions") == 0, "the session of the HTTP request ends")
    assert server.metric("sessions_reaped_total") == 2


def test_a_drained_server_answers_running_steps(serve, fumehood):
    server = serve("--out", fumehood.out)
    idle, busy = server.socket(), server.socket()
    idle.ask("reset")
    busy.ask("reset")
    idle.step("true")
    busy.send({"type": "step", "data": {"command": "sleep 1; echo done"}})
    until(lambda: server.metric("connections") >= 2, "both connections")
    time.sleep(0.2)
    server.child.terminate()
    assert idle.closed() == 1001
    assert busy.receive()["data"]["observation"]["text"] == "done\n"
    assert busy.closed() == 1001
    assert server.child.wait(PATIENCE_S) == 0
    assert steps_of(fumehood.out) == [1, 1]
    for path in fumehood.out.glob("*/events.jsonl"):
        assert json.loads(path.read_text().splitlines()[-1])["exit_status"] == "early_exit"


def test_a_killed_server_loses_no_answered_step(serve, fumehood):
    server = serve("--out", fumehood.out)
    ws = server.socket()
    ws.ask("reset")
    for _ in range(5):
        ws.step("true")
    server.end(signal.SIGKILL)
    assert steps_of(fumehood.out) == [5]
    (args,) = fumehood.out.glob("*/args.yaml")
    assert f'tasks_dir: "{TASKS}"' in args.read_text()  # a replay needs it


def test_a_drain_ends(serve, fumehood):
    server = serve("--drain", "0.2", "--out", fumehood.out)
    ws = server.socket()
    ws.ask("reset")
    ws.send({"type": "step", "data": {"command": "sleep 60"}})
    server.http("POST", "/reset", {})
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "bash", "arguments": {"command": "sleep 60"}}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    session = server.http("POST", "/mcp", begin)[1]["mcp-session-id"]
    with ThreadPoolExecutor() as threads:
        step = threads.submit(server.http, "POST", "/step", {"action": {"command": "sleep 60"}})
        tool = threads.submit(server.http, "POST", "/mcp", call, **{"Mcp-Session-Id": session})
        until(lambda: server.metric("resets_total") == 3, "the episode of the tool begins")
        until(lambda: server.metric("connections") >= 4, "all connections")
        time.sleep(0.2)
        assert server.end() == 0
        status, head, body = step.result()
        assert (status, head["connection"]) == (503, "close")
        assert json.loads(body)["detail"] == "the server is shutting down"
        status, head, body = tool.result()
        assert (status, head["connection"]) == (503, "close")
        assert json.loads(body)["error"]["message"] == "the server is shutting down"
    assert ws.closed() == 1001
    logs = list(fumehood.out.glob("*/events.jsonl"))
    assert len(logs) == 3
    for events in logs:
        assert json.loads(events.read_text().splitlines()[-1])["exit_status"] == "early_exit"


@pytest.mark.parametrize(
    "words",
    [
        ["--listen", "nowhere.example:1"],
        ["--listen", ":99999"],
        ["--task", "nothing"],
        ["--token-file", "/does/not/exist"],
        ["--max-sessions", "0"],
    ],
)
def test_wrong_options(fumehood, words):
    base = ["serve", "--tasks-dir", TASKS]
    if "--task" not in words:
        base += ["--task", "rows"]
    said = fumehood(*base, *words, status=2).stderr
    assert said and "the token of this server" not in said

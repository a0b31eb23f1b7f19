# SPDX-License-Identifier: Apache-2.0
"""fumehood serve: MCP over HTTP, WebSockets, and standard input and output."""

import http.client
import json
import subprocess
import time

import pytest
from conftest import PATIENCE_S, TASKS, until
from test_serve import serve as serve  # a fixture

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def rpc(method: str, number=1, **params) -> dict:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def tool(name: str, number=1, **arguments) -> dict:
    return rpc("tools/call", number, name=name, arguments=arguments)


def cancellation(number) -> dict:
    params = {"requestId": number}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


class Stdio:
    """A process of `fumehood serve --stdio`."""

    def __init__(self, fumehood, *args):
        pipe = subprocess.PIPE
        words = ["serve", "--stdio", "--tasks-dir", TASKS, "--task", "rows", *args]
        self.child = fumehood.start(*words, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def send(self, message) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()

    def receive(self) -> dict:
        return json.loads(self.child.stdout.readline())

    def ask(self, message) -> dict:
        self.send(message)
        return self.receive()

    def end(self) -> int:
        self.child.stdin.close()
        assert self.child.stdout.read() == ""
        return self.child.wait(PATIENCE_S)


@pytest.fixture
def stdio(fumehood):
    started = []

    def start(*args) -> Stdio:
        started.append(Stdio(fumehood, *args))
        return started[-1]

    yield start
    for s in started:
        s.child.kill()
        s.child.wait()
        for pipe in (s.child.stdin, s.child.stdout, s.child.stderr):
            pipe.close()


def test_an_episode_over_standard_input(stdio, fumehood):
    s = stdio("--out", fumehood.out)
    begun = s.ask(rpc("initialize", "a", **INITIALIZE))
    assert begun["id"] == "a" and begun["result"]["protocolVersion"] == "2025-06-18"
    assert begun["result"]["serverInfo"]["name"] == "fumehood"
    s.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    names = [t["name"] for t in s.ask(rpc("tools/list"))["result"]["tools"]]
    assert names == ["bash", "validate", "submit", "new_episode"]
    done = s.ask(tool("bash", command="cp zeros.csv submission.csv; echo hello"))["result"]
    assert done["content"] == [{"type": "text", "text": "hello\n"}] and not done["isError"]
    assert done["structuredContent"]["info"]["step"] == 1
    scored = s.ask(tool("validate"))["result"]["structuredContent"]
    assert scored["info"]["score"] == {"accuracy": 0.5} and not scored["done"]
    assert s.ask(tool("submit"))["result"]["structuredContent"]["done"]
    over = s.ask(tool("bash", command="ls"))["result"]
    assert over["isError"] and "has ended" in over["content"][0]["text"]
    again = s.ask(tool("new_episode", seed=5))["result"]
    assert "submission.csv" in again["content"][0]["text"]
    assert s.end() == 0
    assert len(list(fumehood.out.glob("*/events.jsonl"))) == 2


WRONG = [
    ("nonsense", -32700),
    ("[]", -32600),
    ("{}", -32600),
    ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    ('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600),
    ('{"jsonrpc":"2.0","id":1,"method":"fly"}', -32601),
    ('{"jsonrpc":"2.0","id":1,"method":"server/discover"}', -32601),
    ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
    (rpc("tools/call", name="fly"), -32602),
    (rpc("tools/call", name="bash", arguments=[]), -32602),
    (tool("bash"), -32602),
    (tool("bash", command=7), -32602),
    (tool("bash", command="ls", timeout_s=0), -32602),
    (tool("new_episode", seed=-1), -32602),
    (tool("new_episode", task="other"), -32602),
]


def test_wrong_requests(stdio):
    s = stdio()
    for message, code in WRONG:
        answer = s.ask(message)
        assert answer["error"]["code"] == code, message
        assert answer["error"]["message"] and answer["jsonrpc"] == "2.0"
    s.send("x" * (9 << 20))
    assert s.receive()["error"]["code"] == -32700
    assert s.ask(rpc("ping"))["result"] == {}
    assert s.end() == 0


def test_requests_wait_for_their_turn_and_input_may_end_first(stdio):
    s = stdio("--max-steps", "1000")
    for i in range(100):
        s.send(tool("bash", i, command=f"echo {i}"))
    s.child.stdin.close()
    for i in range(100):
        answer = s.receive()
        assert answer["id"] == i and answer["result"]["content"][0]["text"] == f"{i}\n"
    assert s.child.wait(PATIENCE_S) == 0


def test_a_call_is_cancelled(stdio):
    s = stdio()
    s.ask(tool("bash", command="true"))
    s.send(tool("bash", 2, command="sleep 9"))
    time.sleep(0.3)
    begun = time.monotonic()
    s.send(cancellation(2))
    assert s.receive()["result"]["structuredContent"]["info"]["outcome"] == "interrupted"
    assert time.monotonic() - begun < 5


def test_a_signal_ends_it(stdio):
    s = stdio()
    s.ask(tool("bash", command="true"))
    s.send(tool("bash", command="sleep 9"))
    time.sleep(0.2)
    s.child.terminate()
    assert s.child.wait(PATIENCE_S) == 0


def test_sessions_over_http(serve):
    server = serve("--max-sessions", "1")
    newer, known = ({"MCP-Protocol-Version": v} for v in ("2099-01-01", "2025-06-18"))
    status, head, body = server.http("POST", "/mcp", rpc("initialize", **INITIALIZE), **newer)
    assert status == 200 and json.loads(body)["result"]["serverInfo"]["name"] == "fumehood"
    own = {"Mcp-Session-Id": head["mcp-session-id"]}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert server.http("POST", "/mcp", note, **own)[0] == 202
    status, answer = server.json("POST", "/mcp", tool("bash", command="x=1; echo hi"), **own)
    assert status == 200 and answer["result"]["content"][0]["text"] == "hi\n"
    refused, answer = server.json("POST", "/mcp", rpc("ping"), **own, **newer)
    assert refused == 400 and "MCP-Protocol-Version" in answer["error"]["message"]
    assert server.http("DELETE", "/mcp", **own, **newer)[0] == 400
    answer = server.json("POST", "/mcp", tool("bash", command="echo $x"), **own, **known)[1]
    assert answer["result"]["content"][0]["text"] == "1\n"
    full = server.json("POST", "/mcp", rpc("initialize", **INITIALIZE))[1]
    assert full["error"]["data"] == {"active_sessions": 1, "max_sessions": 1}
    unknown = {"Mcp-Session-Id": "0" * 32}
    assert server.http("POST", "/mcp", tool("bash", command="ls"), **unknown)[0] == 404
    assert server.json("POST", "/mcp", tool("bash", command="ls"))[1]["error"]["code"] == -32602
    assert server.http("DELETE", "/mcp", **unknown)[0] == 404
    assert server.http("DELETE", "/mcp")[0] == 400
    assert server.http("DELETE", "/mcp", **own)[0] == 200
    assert server.http("POST", "/mcp", tool("bash", command="ls"), **own)[0] == 404
    assert server.http("GET", "/mcp")[0] == 405


def test_a_long_call_is_answered_as_an_event(serve):
    server = serve()
    head = server.http("POST", "/mcp", rpc("initialize", **INITIALIZE))[1]
    headers = {
        "Mcp-Session-Id": head["mcp-session-id"],
        "Accept": "application/json, text/event-stream",
    }
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    call = tool("bash", command="sleep 3; echo done")
    connection.request("POST", "/mcp", json.dumps(call), headers)
    time.sleep(0.5)
    other = server.json("POST", "/mcp", tool("bash", command="ls"), **headers)[1]["result"]
    assert other["isError"] and "under way" in other["content"][0]["text"]
    answer = connection.getresponse()
    assert answer.headers["content-type"] == "text/event-stream"
    comments, _, event = answer.read().decode().rpartition("event: message\n")
    assert comments.startswith(": ") and event.startswith("data: ")
    assert json.loads(event[6:])["result"]["content"][0]["text"] == "done\n"
    connection.close()


def test_a_deleted_session_answers_its_call(serve):
    server = serve()
    head = server.http("POST", "/mcp", rpc("initialize", **INITIALIZE))[1]
    own = {"Mcp-Session-Id": head["mcp-session-id"]}
    server.json("POST", "/mcp", tool("bash", command="true"), **own)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", "/mcp", json.dumps(tool("bash", command="sleep 9")), own)
    time.sleep(0.3)
    assert server.http("DELETE", "/mcp", **own)[0] == 200
    answer = json.loads(connection.getresponse().read())["result"]
    assert answer["isError"] and "closed" in answer["content"][0]["text"]
    connection.close()


def test_sessions_of_openenv(serve):
    server = serve("--max-sessions", "1")
    made = server.json("POST", "/mcp", rpc("openenv/session/create"))[1]["result"]
    sid = made["session_id"]
    ws = server.socket(f"/ws?session_id={sid}")
    ws.ask("reset", episode_id="e")
    call = rpc("tools/call", name="bash", arguments={"command": "echo hi"}, session_id=sid)
    result = server.json("POST", "/mcp", call)[1]["result"]
    assert result["structuredContent"]["episode_id"] == "e"
    ws.send({"type": "mcp", "data": tool("bash", command="echo ho")})
    message = ws.receive()
    assert message["type"] == "mcp"
    assert message["data"]["result"]["content"][0]["text"] == "ho\n"
    second = server.socket(f"/ws?session_id={sid}")
    assert second.receive()["data"]["code"] == "SESSION_ERROR"
    close = rpc("openenv/session/close", session_id=sid)
    assert server.json("POST", "/mcp", close)[1]["error"]["code"] == -32600
    ws.drop()
    until(
        lambda: "result" in server.json("POST", "/mcp", close)[1],
        "the session is free once the connection is gone",
    )
    lost = server.socket(f"/ws?session_id={sid}")
    assert lost.receive()["data"]["code"] == "SESSION_ERROR"
    until(lambda: server.metric("sessions") == 0, "the session ends")


def test_an_episode_over_a_websocket(serve):
    server = serve("--max-sessions", "1")
    ws = server.socket("/mcp", **{"Sec-WebSocket-Protocol": "mcp"})
    ws.send(rpc("initialize", **INITIALIZE))
    assert ws.receive()["result"]["serverInfo"]["name"] == "fumehood"
    ws.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    ws.send(tool("bash", command="echo hi"))
    assert ws.receive()["result"]["content"][0]["text"] == "hi\n"
    ws.send(tool("bash", 5, command="sleep 2; echo slept"))
    ws.send(tool("bash", 6, command="echo never"))
    ws.send(tool("bash", 7, command="sleep 9"))
    for other in [4, 6, "5", None]:  # an ended call, a waiting one, and names of none
        ws.send(cancellation(other))
    ws.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}})
    assert ws.receive()["result"]["content"][0]["text"] == "slept\n"
    time.sleep(0.3)
    ws.send(cancellation(7))
    answer = ws.receive()
    assert answer["id"] == 7
    assert answer["result"]["structuredContent"]["info"]["outcome"] == "interrupted"
    full = server.socket("/mcp")
    assert full.receive()["error"]["code"] == -32000

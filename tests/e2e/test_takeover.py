# SPDX-License-Identifier: Apache-2.0
"""`fumehood run --web`: a person plays, or takes over a model's run, by the viewer's server."""

import http.client
import json
import signal
import socket
import subprocess
import threading
import urllib.parse

import pytest
from conftest import until
from test_agent import act, serve, trajectory  # noqa: F401
from test_replay import replay

ACTIONS = [act(f"echo step {n}") for n in range(1, 30)]


class Web:
    """A run with --web, and its page."""

    def __init__(self, fumehood, *args):
        self.child = fumehood.start(
            *fumehood.run_words("--web", "--task", "rows", "--max-steps", 40, "--json", *args),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = next(line for line in self.child.stderr if "/#/live" in line).strip()
        threading.Thread(target=self.child.stderr.read, daemon=True).start()
        parts = urllib.parse.urlsplit(self.address)
        self.host, self.path = parts.netloc, parts.path
        until(self.live, "an episode")
        self.id = self.live()

    def ask(self, path: str, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request(method, f"{self.path}{path}", body, headers)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return reply.status, text

    def get(self, path: str) -> dict:
        status, text = self.ask(path)
        assert status == 200, text
        return json.loads(text)

    def live(self):
        return self.get("api/live")["run"]

    def run(self) -> dict:
        return self.get(f"api/run?run={self.id}")

    def control(self) -> dict:
        return self.run()["control"]

    def headers(self, **more) -> dict:
        return {"Origin": f"http://{self.host}", "Content-Type": "application/json", **more}

    def order(self, order: str, **more):
        """Gives an order as the page does. Returns the status, and why it was refused."""
        body = json.dumps({"run": self.id, "order": order, **more})
        status, text = self.ask("api/order", "POST", body, **self.headers())
        self.reply = json.loads(text)
        return status, self.reply.get("error")

    def wait(self, state: str, step: int) -> None:
        def there():
            control = self.control()
            return (control["state"], control["step"]) == (state, step)

        until(there, f"{state} {step}")

    def act(self, text: str, step: int, **more) -> None:
        self.wait("person", step)
        assert self.order("act", step=step, text=text, **more) == (200, None)
        assert self.reply["control"]["step"] > step

    def end(self, status=0) -> dict:
        out, _ = self.child.communicate(timeout=300)
        assert self.child.returncode == status, out
        return json.loads(out)


@pytest.fixture
def web(fumehood):
    started = []

    def start(*args) -> Web:
        started.append(Web(fumehood, *args))
        return started[-1]

    yield start
    for one in started:
        one.child.kill()
        one.child.wait()


def events(result: dict, *kinds: str) -> list[dict]:
    with open(result["trajectory"].rpartition("/")[0] + "/events.jsonl") as file:
        return [e for e in map(json.loads, file) if not kinds or e["event"] in kinds]


def same_again(fumehood, result: dict) -> None:
    again = replay(fumehood, result["trajectory"])
    assert again["different"] == 0 and again["steps"] == result["steps"]


def test_a_person_plays(fumehood, web):
    page = web("--model", "human")
    page.wait("person", 1)
    assert "each row's x" in page.run()["assignment"]["text"]
    page.act("echo one\necho two", 1)
    page.wait("person", 2)
    run = page.run()
    assert run["steps"][0][0] == "echo one" and run["steps"][0][1] & 256
    step = page.get(f"api/steps?run={page.id}&from=1")["steps"][0]
    assert step["observation"]["text"] == "one\ntwo\n"
    assert page.order("act", step=1, text="ls") == (
        409,
        "Step 1 was taken already, maybe on another page.",
    )
    assert page.order("pause")[0] == page.order("hint", text="x")[0] == 409
    assert "whole screen" in page.order("act", step=2, text="vim x")[1]
    page.act("cp zeros.csv submission.csv; validate", 2)
    page.act("submit", 3)
    until(lambda: page.run()["whole"], "the end")
    assert page.control()["state"] == "ended"
    assert page.order("act", step=4, text="ls") == (409, "The episode has ended.")
    result = page.end()
    assert result["exit_status"] == "submitted" and result["steps"] == 3
    assert [e.get("by") for e in events(result, "step")] == ["person"] * 3
    # The person is the model, whose steps are learned.
    line = json.loads(fumehood("export", "--format", "chat", fumehood.out).stdout)
    assert [m["weight"] for m in line["messages"] if m["role"] == "assistant"] == [1] * 3
    same_again(fumehood, result)


def test_a_person_with_thoughts(fumehood, web):
    page = web("--model", "human_thought")
    page.act("echo hi", 1, thought="I greet.")
    page.act("exit_forfeit", 2)
    result = page.end()
    first = events(result, "step")[0]
    assert first["thought"] == "I greet." and first["response"] == "I greet.\n```\necho hi\n```"


def test_ctrl_c_ends_the_run(web):
    page = web("--model", "human")
    page.act("sleep 300", 1)
    assert (page.reply["control"]["state"], page.reply["control"]["step"]) == ("busy", 2)
    page.wait("busy", 2)
    page.child.send_signal(signal.SIGINT)
    assert page.end(status=130)["exit_status"] == "early_exit"


def test_a_command_is_interrupted(web):
    page = web("--model", "human")
    assert page.order("interrupt")[0] == 409
    page.act("sleep 300", 1)
    page.wait("busy", 2)
    assert page.order("interrupt")[0] == 200
    page.act("submit", 2)
    result = page.end()
    assert [s["info"]["outcome"] for s in events(result, "step")] == ["interrupted", "ok"]
    assert [e["step"] for e in events(result, "interrupt")] == [2]


@pytest.mark.parametrize("agent", ["default", "tool_calling"])
def test_a_model_is_taken_over(fumehood, web, serve, agent):  # noqa: F811
    use = {"id": "u", "name": "bash", "arguments": {"command": "sleep 0.2"}}
    turns = ACTIONS if agent == "default" else [{"uses": [use]}] * 29
    server = serve([{**turn, "delay": 0.3} for turn in turns])
    fumehood.env["OPENAI_API_KEY"] = "k"
    page = web("--model", "openai:m", "--url", server.url + "/v1", "--agent", agent)
    until(server.log.exists, "a request")
    assert page.order("pause") == (200, None)
    until(lambda: page.control()["state"] == "person", "a pause")
    step = page.control()["step"]
    assert page.order("hint", text="Try <b>less</b>.") == (200, None)
    page.act("echo by hand", step)
    page.wait("person", step + 1)
    asked = len(server.asked())
    assert page.order("let_go") == (200, None)
    until(lambda: len(server.asked()) > asked, "a request")
    messages = server.asked()[asked]["body"]["messages"]
    told = [m["content"] for m in messages]
    assert "Try <b>less</b>." in told
    by_hand = told.index("```\necho by hand\n```")
    assert told[by_hand - 1] == "Try <b>less</b>."
    assert messages[by_hand]["role"] == "assistant" and messages[by_hand + 1]["role"] == "user"
    assert told[by_hand + 1].startswith("by hand\n")
    assert page.order("act", step=step, text="ls")[0] == 409

    page.child.kill()
    page.child.wait()
    (folder,) = fumehood.out.glob("*_run_*")
    last = act("submit") if agent == "default" else {"uses": [{**use, "name": "submit"}]}
    server = serve([*turns[: step + 3], *[last] * 20])
    (result,) = fumehood.run_json("--resume", folder, "--url", server.url + "/v1")
    kinds = events(result, "pause", "hint", "let_go")
    assert [e["event"] for e in kinds] == ["pause", "hint", "let_go"]
    assert [e["step"] for e in kinds] == [step, step, step + 1]
    assert kinds[1]["text"] == "Try <b>less</b>." and kinds[0]["asked"] <= kinds[0]["time"]
    by = {s["info"]["step"]: s.get("by") for s in events(result, "step")}
    assert [n for n, who in by.items() if who] == [step]
    traj = trajectory(result)
    assert [s["action"] for s in traj["trajectory"]][step - 1] == "echo by hand"
    assert "Try <b>less</b>." in [m["content"] for m in traj["history"]]
    # The model did not write the person's step, so it is not to learn it.
    line = json.loads(fumehood("export", "--format", "chat", folder).stdout)
    weights = [(m["content"], m["weight"]) for m in line["messages"] if m["role"] == "assistant"]
    assert [text for text, weight in weights if not weight] == ["```\necho by hand\n```"]
    same_again(fumehood, result)


def test_a_reply_that_does_not_come_is_dropped(fumehood, web, serve):  # noqa: F811
    server = serve({"tries": [act("echo one"), {"delay": 300, "text": ""}, act("submit")]})
    page = web("--model", "openai:m", "--url", server.url + "/v1", "--api-key", "k")
    page.wait("model", 2)
    assert page.order("interrupt") == (409, "No command runs now.")
    assert page.order("pause")[0] == page.order("interrupt")[0] == 200
    page.act("echo two", 2)
    page.wait("person", 3)
    assert page.order("let_go")[0] == 200
    result = page.end()
    assert result["steps"] == 3 and result["api_calls"] == 2
    kinds = [e["event"] for e in events(result, "pause", "interrupt", "let_go")]
    assert kinds == ["pause", "interrupt", "let_go"]
    shown = fumehood("show", result["trajectory"].rpartition("/")[0]).stdout
    assert shown.count(", by a person") == 1 and "step 2 of 3, by a person" in shown


def test_a_hint_that_comes_too_late(web, serve):  # noqa: F811
    server = serve({"tries": [{**act("submit"), "delay": 4}]})
    page = web("--model", "openai:m", "--url", server.url + "/v1", "--api-key", "k")
    page.wait("model", 1)
    assert page.order("hint", text="Wait!")[0] == 200
    result = page.end()
    assert [e["text"] for e in events(result, "hint")] == ["Wait!"]
    assert not [e for e in events(result, "message") if "is_hint" in e]


# The library leaks a few bytes when it can't listen, which the sanitizer would report.
@pytest.mark.once
def test_a_port_that_is_taken(fumehood, web):
    page = web("--model", "human")
    port = page.host.rpartition(":")[2]
    words = ("--task", "rows", "--web", "--web-port", port)
    assert "can't listen" in fumehood.run(*words, status=1).stderr
    assert "needs --web" in fumehood.run("--task", "rows", "--web-port", port, status=2).stderr
    fumehood.env["FUMEHOOD_TOKEN"] = "a b"
    assert "$FUMEHOOD_TOKEN" in fumehood.run("--task", "rows", "--web", status=2).stderr


def test_a_script_is_paused(fumehood, web):
    page = web("--model", fumehood.actions(*["sleep 0.3"] * 20))
    assert page.order("hint", text="x") == (409, "No language model plays.")
    assert page.order("pause")[0] == 200
    until(lambda: page.control()["state"] == "person", "a pause")
    page.act("exit_forfeit", page.control()["step"])
    assert page.end()["exit_status"] == "exit_forfeit"


def test_only_the_page_may_write(fumehood, web, tmp_path):
    page = web("--model", "human")
    page.wait("person", 1)
    good = {"run": page.id, "order": "act", "step": 1, "text": "touch evil"}

    def post(body=good, path="api/order", method="POST", **more) -> int:
        headers = {k: v for k, v in page.headers(**more).items() if v is not None}
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        return page.ask(path, method, text, **headers)[0]

    port = page.host.rpartition(":")[2]
    for origin in (
        None,
        "null",
        "http://evil.example",
        f"https://{page.host}",
        f"http://localhost:{port}",
        f"http://127.0.0.1:{int(port) % 60000 + 1}",
        f"http://127.0.0.1.evil.example:{port}",
    ):
        assert post(Origin=origin) == 403, origin
    for host in (f"evil.example:{port}", "evil.example"):
        assert post(Host=host, Origin=f"http://{host}") == 403
    # An address of another machine names no page of this one.
    assert post(Host="192.0.2.1", Origin="http://192.0.2.1") == 403
    for kind in (
        None,
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonx",
        "text/plain; application/json",
    ):
        assert post(**{"Content-Type": kind}) == 415, kind
    for path in ("api/run", "api/live", "", f"api/run?run={page.id}", "api/order/x"):
        assert post(path=path) == 405, path
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS"):
        assert post(method=method) == 405, method
    assert page.ask("api/order")[0] == 404
    assert post(b"x" * 10, **{"Content-Length": str(3 << 20)}) == 413
    assert post("0\r\n\r\n", **{"Transfer-Encoding": "chunked"}) == 413
    assert post("") == 411
    for body in (
        "{",
        "[]",
        "null",
        {**good, "order": "rm"},
        {**good, "text": " \n"},
        {**good, "text": "a\0b"},
        {**good, "text": 5},
        {**good, "text": "x" * (1 << 20) + "x"},
        {**good, "thought": 5},
    ):
        assert post(body) == 400, body
    for run in ("", "../x", "0" * 16, "a" * 500):
        assert post({**good, "run": run}) == 404, run
    for step in (0, 2, -1, 10**20, "1", None):
        assert post({**good, "step": step}) == 409, step
    wrong = page.path
    page.path = "/" + "0" * 32 + "/"
    assert post() == 403
    page.path = wrong
    assert page.control() == {**page.control(), "state": "person", "step": 1}
    assert page.run()["n"] == 0
    # Another run beneath the folder is not played here.
    fumehood.run("--task", "rows", "--model", fumehood.actions("ls"))
    until(lambda: len(page.get("api/runs")["runs"]) == 2, "the other run")
    (other,) = [run[0] for run in page.get("api/runs")["runs"] if run[0] != page.id]
    assert post({**good, "run": other}) == 404
    assert "control" not in page.get(f"api/run?run={other}")
    # A client may ask before it sends a long body.
    with socket.create_connection(page.host.split(":"), timeout=60) as s:
        lines = {**page.headers(), "Host": page.host, "Content-Length": 1, "Expect": "100-continue"}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        s.sendall(f"POST {page.path}api/order HTTP/1.1\r\n{head}\r\n".encode())
        assert s.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        s.sendall(b"{")
        assert s.recv(65536).startswith(b"HTTP/1.1 400 ")
    # A port that is forwarded has another number, and stays local.
    assert post(Host="localhost:1", Origin="http://localhost:1") == 200
    page.wait("person", 2)
    page.act("exit_forfeit", 2)
    page.end()


def test_view_takes_no_orders(fumehood):
    fumehood.run("--task", "rows", "--model", fumehood.actions("ls"))
    child = fumehood.start("view", fumehood.out, stdout=subprocess.PIPE, text=True)
    parts = urllib.parse.urlsplit(child.stdout.readline().strip())
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    headers = {"Origin": f"http://{parts.netloc}", "Content-Type": "application/json"}
    connection.request("POST", f"{parts.path}api/order", "{}", headers)
    assert connection.getresponse().status == 405
    child.terminate()
    assert child.wait(60) == 0

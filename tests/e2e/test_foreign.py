# SPDX-License-Identifier: Apache-2.0
"""Programs of others as agents: they run in the sandbox and call the run's model from there."""

import json
import signal
import subprocess
import uuid
from pathlib import Path

import pytest
from conftest import PATIENCE_S, TASKS, until
from test_agent import play, serve, trajectory  # noqa: F401
from test_signals import alive_with

# Beginning of an agent's program in the sandbox: call() gives the status and the body of an answer.
CALL = r"""
import json, os, sys, urllib.request
def call(body, path="/chat/completions", base="OPENAI", **headers):
    headers |= {"Content-Type": "application/json"}
    if base == "OPENAI":
        headers.setdefault("Authorization", "Bearer " + os.environ["OPENAI_API_KEY"])
    else:
        headers["x-api-key"] = os.environ["ANTHROPIC_API_KEY"]
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    url = os.environ[base + "_BASE_URL"] + path
    try:
        r = urllib.request.urlopen(urllib.request.Request(url, data, headers))
        return r.status, r.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()
def says(*results):
    print(json.dumps(results))
m = [{"role": "user", "content": os.environ["FUMEHOOD_TASK"]}]
"""


def command(program: str) -> list[str]:
    return ["--agent-command", f"python3 - <<'EOF_'\n{CALL}\n{program}\nEOF_"]


def said(result: dict) -> list:
    """The results that the agent printed."""
    return json.loads(trajectory(result)["trajectory"][0]["observation"].splitlines()[0])


def events(result: dict, kind: str) -> list[dict]:
    lines = (Path(result["trajectory"]).parent / "events.jsonl").read_text().splitlines()
    return [e for e in map(json.loads, lines) if e["event"] == kind]


TURNS = [{"text": "one"}, {"uses": [{"id": "c1", "name": "bash", "arguments": {"a": 1}}]}]

OPENAI = r"""
out = [call({"model": "any", "temperature": 1, "messages": m})]
m.append(json.loads(out[0][1])["choices"][0]["message"])
m.append({"role": "tool", "content": [{"type": "text", "text": "two"}]})
out.append(call({"messages": m, "stream": True, "stream_options": {"include_usage": True}}))
out.append(open(os.environ["FUMEHOOD_TASK_FILE"]).read() == os.environ["FUMEHOOD_TASK"] + "\n")
out.append([os.getcwd(), os.getuid(), os.environ["FUMEHOOD_MODEL"]])
says(*out)
os.system("cp zeros.csv submission.csv")
"""


def test_openai(serve, play, fumehood):  # noqa: F811
    server = serve(TURNS)
    result = play(server, *command(OPENAI))
    one, two, same, where = said(result)
    assert one[0] == two[0] == 200 and same is True
    assert where == ["/home/agent/workspace", 1000, "m"]
    assert json.loads(one[1])["choices"][0]["message"]["content"] == "one"
    *chunks, done = [line.removeprefix("data: ") for line in two[1].split("\n\n") if line]
    first, last, usage = map(json.loads, chunks)
    use = first["choices"][0]["delta"]["tool_calls"][0]
    assert (use["index"], use["function"]) == (0, {"name": "bash", "arguments": '{"a": 1}'})
    assert last["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    assert usage["usage"]["prompt_tokens"] == 100 and done == "[DONE]"

    asked = [request["body"] for request in server.asked()]
    assert [a["model"] for a in asked] == ["m", "m"] and asked[0]["temperature"] == 1
    assert not any("stream" in a for a in asked) and len(asked[1]["messages"]) == 3
    assert result["exit_status"] == "submitted" and result["scores"] == [{"accuracy": 0.5}]
    assert result["api_calls"] == 2 and result["steps"] == 2 and result["agent"] == "command"
    history = trajectory(result)["history"]
    assert [h["role"] for h in history] == ["user", "assistant", "user", "assistant"]
    assert history[2]["content"] == "two" and history[3]["action"] == 'bash {"a": 1}'
    calls = events(result, "call")
    assert [(c["status"], c["old_messages"], c["tokens_sent"]) for c in calls] == [
        (200, 0, 100),
        (200, 1, 100),
    ]
    assert len(calls[1]["request"]["messages"]) == 2 and "choices" in calls[1]["answer"]
    shown = fumehood("show", Path(result["trajectory"]).parent).stdout
    assert shown.count("--- the agent's call: ") == 4 and 'bash {"a": 1}' in shown


TOOLS = {
    "openai": r"""
tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
reply = json.loads(call({"messages": m, "tools": tools})[1])["choices"][0]["message"]
m += [reply, {"role": "tool", "tool_call_id": reply["tool_calls"][0]["id"], "content": "out"}]
call({"messages": m, "tools": tools})
""",
    "anthropic": r"""
def ask():
    tools = [{"name": "bash", "input_schema": {"type": "object"}}]
    body = {"max_tokens": 9, "messages": m, "tools": tools}
    return json.loads(call(body, "/v1/messages", "ANTHROPIC")[1])["content"]
reply = ask()
m.append({"role": "assistant", "content": reply})
use = next(p for p in reply if p["type"] == "tool_use")
result = {"type": "tool_result", "tool_use_id": use["id"], "content": [{"type": "text", "text": "out"}]}
m.append({"role": "user", "content": [result, {"type": "text", "text": "Go on."}]})
ask()
""",
}


@pytest.mark.parametrize(
    ("model", "path", "more"),
    [("openai:m", "/v1", []), ("anthropic:m", "", [{"role": "user", "content": "Go on."}])],
)
def test_tool_calls_in_chat_files(serve, play, fumehood, model, path, more):  # noqa: F811
    server = serve([TURNS[1], {"text": "done"}])
    play(server, *command(TOOLS[model.split(":")[0]]), model=model, path=path)
    (line,) = map(
        json.loads, fumehood("export", "--format", "chat", fumehood.out).stdout.splitlines()
    )
    assert line["tools"] == [
        {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}
    ]
    user, reply, result, *rest = line["messages"]
    (use,) = reply["tool_calls"]
    assert user["role"] == "user" and use["function"]["name"] == "bash" and reply["content"] == ""
    assert json.loads(use["function"]["arguments"]) == {"a": 1}
    assert result == {"role": "tool", "content": "out", "tool_call_id": use["id"]}
    assert rest == [*more, {"role": "assistant", "content": "done", "weight": 1}]


ANTHROPIC = r"""
body = {"max_tokens": 9, "system": "Be good.", "messages": m}
one = call(body, "/v1/messages", "ANTHROPIC")
m.append({"role": "assistant", "content": json.loads(one[1])["content"]})
m.append({"role": "user", "content": "two"})
says(one, call(body | {"stream": True}, "/v1/messages", "ANTHROPIC"))
"""


def test_anthropic(serve, play):  # noqa: F811
    server = serve([{"text": "one", "thinking": "hm"}, TURNS[1] | {"text": "now"}])
    result = play(server, *command(ANTHROPIC), model="anthropic:m", path="")
    one, two = said(result)
    assert [b["type"] for b in json.loads(one[1])["content"]] == ["thinking", "text"]
    blocks = [event.split("\ndata: ") for event in two[1].split("\n\n") if event]
    data = [json.loads(text) for _, text in blocks]
    assert [name for name, _ in blocks] == [f"event: {d['type']}" for d in data]
    assert [d["type"] for d in data] == [
        "message_start",
        *2 * ["content_block_start", "content_block_delta", "content_block_stop"],
        "message_delta",
        "message_stop",
    ]
    assert data[2]["delta"] == {"type": "text_delta", "text": "now"}
    assert data[4]["content_block"]["input"] == {}
    assert json.loads(data[5]["delta"]["partial_json"]) == {"a": 1}
    assert data[7]["delta"]["stop_reason"] == "tool_use"
    assert data[7]["usage"]["output_tokens"] == 10
    history = trajectory(result)["history"]
    assert [h["role"] for h in history] == ["system", "user", "assistant", "user", "assistant"]
    assert result["exit_status"] == "submission_not_found (submit)"


REFUSED = r"""
says(
    call({"messages": m}, Authorization="Bearer " + "0" * 32),
    call({"messages": m}, "/messages"),
    call(None, "/models"),
    call(b"{nonsense"),
    call(b"[1]"),
    call({"messages": m}),
    call({"messages": m}),
    call({"messages": m}),
)
"""


@pytest.mark.parametrize(
    ("options", "last", "why"),
    [
        (["--agent-calls", "2"], [200, 200, 403], "may make no more"),
        (["--agent-tokens", "150"], [200, 200, 403], "may use 150 in all"),
        (["--per-instance-cost-limit", "0.0001"], [200, 403, 403], "limit is $0.0001"),
    ],
)
def test_limits_and_refusals(serve, play, tmp_path, options, last, why):  # noqa: F811
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"input": 0.5, "output": 1.5}}')
    result = play(serve([{"text": "no {KEY}"}]), *command(REFUSED), "--prices", prices, *options)
    out = said(result)
    assert [status for status, _ in out[:5]] == [401, 404, 200, 400, 400]
    assert [status for status, _ in out[5:]] == last
    assert json.loads(out[2][1])["data"][0]["id"] == "m"
    assert "--model of the protocol" in out[1][1] and "[key]" in out[5][1]
    error = json.loads(out[7][1])
    assert error["type"] == "error" and why in error["error"]["message"]
    assert result["exit_status"] == "submission_not_found (exit_cost)"
    assert result["api_calls"] == 2


def test_a_model_that_fails(serve, play):  # noqa: F811
    bad = {"status": 400, "error": {"message": "no such {KEY}"}}
    result = play(serve([bad]), *command("says(call({'messages': m}))"), status=1)
    assert said(result)[0][0] == 400 and "[key]" in said(result)[0][1]
    assert result["exit_status"] == "submission_not_found (exit_api)" and "400" in result["error"]


def test_an_agent_that_fails(serve, play):  # noqa: F811
    result = play(serve(TURNS), "--agent-command", "cp zeros.csv submission.csv; exit 3")
    assert result["exit_status"] == "autosubmission (exit_error)" and result["api_calls"] == 0
    late = play(
        serve(TURNS), "--agent-command", "sleep 100", "--agent-timeout", "0.2", "--jobs", "2"
    )
    assert late["exit_status"] == "submission_not_found (exit_error)"
    mine = play(serve(TURNS), "--agent-command", "cp zeros.csv submission.csv; submit; exit 3")
    assert mine["exit_status"] == "submitted" and mine["steps"] == 1


SCORES = r"""
import subprocess
def run(words):
    r = subprocess.run(words, shell=True, capture_output=True, text=True)
    return [r.returncode, r.stdout + r.stderr]
out = [run("validate"), run("cp zeros.csv submission.csv; validate")]
out.append(run("sed 's/,0/,1/' zeros.csv >submission.csv; validate"))
out.append(run("timeout 0.01 validate; validate & validate; wait"))
says(*out)
"""


def test_validate_shows_its_score(serve, play, fumehood):  # noqa: F811
    result = play(serve(TURNS), *command(SCORES))
    none, zeros, ones, _ = said(result)
    assert none[0] == 0 and "There is no file" in none[1]
    assert zeros == [0, zeros[1]] and "Evaluation Score: {'accuracy': 0.5}" in zeros[1]
    assert "Baseline Score: {'accuracy': 0.5}" in zeros[1] and ones[1] == zeros[1]
    scores = events(result, "score")
    assert scores[0]["score"] is None and "no file" in scores[0]["error"]
    assert all(e["score"] == {"accuracy": 0.5} for e in scores[1:])
    # The tool that was killed may have made its call before.
    assert [e["step"] for e in scores[:-1]] in (5 * [1], 6 * [1]) and scores[-1]["step"] == 2
    assert len(result["scores"]) == len(scores) - 1 and result["exit_status"] == "submitted"


@pytest.mark.parametrize("variant", ["", ":limited"])
def test_a_killed_run_keeps_its_scores(serve, fumehood, variant):  # noqa: F811
    work = "cp zeros.csv submission.csv; validate; sed -i '3s/,0/,1/' submission.csv"
    work += "; validate; validate; submit; sleep 1000"
    run = fumehood.start(
        *("run", "--task", "rows" + variant, "--tasks-dir", TASKS, "--model", "openai:m", "-v"),
        *("--url", serve(TURNS).url + "/v1", "--out", fumehood.out, "--agent-command", work),
        env=fumehood.env | {"OPENAI_API_KEY": "sk-x"},
        stderr=subprocess.PIPE,
        text=True,
    )

    def recorded() -> list[dict]:
        texts = [path.read_text() for path in fumehood.out.glob("*/events.jsonl")]
        return [json.loads(line) for text in texts for line in text.splitlines()]

    until(lambda: any(e["event"] == "submit" for e in recorded()), "its submit")
    run.kill()
    shown = run.communicate()[1]
    n = 2 if variant else 3
    scores = [e["score"]["accuracy"] for e in recorded() if e["event"] == "score"]
    assert scores == [0.5, 0.75, 0.75][:n] and shown.count("Evaluation Score: ") == n
    assert "submit: the submission is scored when the command has ended." in shown
    report = json.loads(fumehood("report", "--json", fumehood.out).stdout)
    scores = next(t for t in report["tables"] if t["id"] == "scores-attempt")
    assert dict(zip(scores["columns"], scores["rows"][0], strict=True))["openai:m"] == 0.75


def test_a_validate_that_outlives_the_command(serve, play):  # noqa: F811
    result = play(serve(TURNS), "--agent-command", "cp zeros.csv submission.csv; validate &")
    assert {"accuracy": 0.5} in result["scores"] and result["exit_status"] == "submitted"


def test_a_call_that_is_under_way_at_the_end(serve, play):  # noqa: F811
    program = r"""
import threading
threading.Thread(target=call, args=({"messages": m},), daemon=True).start()
import time
time.sleep(0.2)
print("x" * 200000, flush=True)
os._exit(0)
"""
    server = serve([{"text": "late", "delay": 0.21}])
    result = play(server, *command(program))
    assert result["exit_status"] == "submission_not_found (submit)"
    assert len(server.asked()) == 1 and result["api_calls"] <= 1


HEAD = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
BAD = {
    "\r\n\r\n": 400,
    "nonsense\r\n\r\n": 400,
    "GET x HTTP/1.1\r\n\r\n": 400,
    "GET / HTTP/2.0\r\n\r\n": 505,
    HEAD + "a b: c\r\n\r\n": 400,
    HEAD + "a: b\nc: d\r\n\r\n": 400,
    HEAD + "a: \0\r\n\r\n": 400,
    HEAD + "Content-Length: 99999999\r\n\r\n": 413,
    HEAD + "Content-Length: -1\r\n\r\n": 400,
    HEAD + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n": 400,
    HEAD + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n": 400,
    HEAD + "Transfer-Encoding: gzip\r\n\r\n": 501,
    HEAD + "Expect: more\r\n\r\n": 417,
    HEAD + "Transfer-Encoding: chunked\r\n\r\nx\r\n": 400,
    HEAD + "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n": 413,
    HEAD + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc": 400,
    HEAD + "a: " + "x" * 20000: 431,
    HEAD + "Content-Length: 1\r\n\r\n[": 400,
}
# Good requests in odd forms, on one connection; then a client that goes away, and a full house.
RAW = r"""
import socket, time
at = ("127.0.0.1", int(os.environ["OPENAI_BASE_URL"].split(":")[2].split("/")[0]))
out = []
for text in BAD:
    s = socket.create_connection(at)
    s.sendall(text.encode())
    out.append(int(s.recv(65536).split()[1]))
head = "POST /v1/chat/completions?x=1 HTTP/1.1\r\nHost: localhost\r\n"
head += "x-api-key: " + os.environ["OPENAI_API_KEY"] + "\r\n"
s = socket.create_connection(at)
f = s.makefile("rb")
def answer():
    status = f.readline().decode().split()[1]
    n = 0
    while (line := f.readline().decode().strip()):
        if line.lower().startswith("content-length:"):
            n = int(line.split(":")[1])
    f.read(n)
    return int(status)
chunked = "Transfer-Encoding: chunked\r\n\r\n"
both = head + chunked + "c;x=1\r\n{\"messages\":\r\n4\r\n []}\r\n0\r\na: b\r\n\r\n"
s.sendall((both + both + head + "Expect: 100-continue\r\nContent-Length: 15\r\n\r\n").encode())
out += [answer(), answer(), answer()]
s.sendall(b"{\"messages\":[]}")
out.append(answer())
idle = [socket.create_connection(at) for _ in range(15)]
for i in idle[:8]:
    i.sendall((head + "Content-Length: 15\r\n\r\n{\"messages\":[]}").encode())
    i.close()
for i in idle:
    i.close()
s.close()
out.append(call({"messages": []})[0])
says(*out)
"""


def test_malformed_requests(serve, play):  # noqa: F811
    result = play(serve([{"text": "yes"}]), *command(f"BAD = {list(BAD)!r}\n{RAW}"))
    out = said(result)
    assert dict(zip(BAD, out, strict=False)) == BAD
    assert out[len(BAD) :] == [200, 200, 100, 200, 200]


def test_two_at_once_and_a_slow_model(serve, play):  # noqa: F811
    server = serve([{"text": "yes", "delay": 0.3}])
    program = r"""
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    says(*[s for s, _ in pool.map(lambda i: call({"messages": m * (i + 1)}), range(8))])
"""
    results = play(server, *command(program), "--runs", "2", "--jobs", "2")
    for result in results:
        assert said(result) == [200] * 8 and result["api_calls"] == 8


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_behind(serve, fumehood, number):  # noqa: F811
    mark = "mark-" + str(uuid.uuid4())
    server = serve([{"text": "late", "delay": 100}])
    run = fumehood.start(
        *("run", "--task", "rows", "--tasks-dir", TASKS, "--model", "openai:m", "-q"),
        *("--url", server.url + "/v1", "--out", fumehood.out),
        "--agent-command",
        f"(exec -a {mark} sleep 1000) & " + command("call({'messages': m})")[1],
        env=fumehood.env | {"OPENAI_API_KEY": "sk-x"},
    )
    until(lambda: server.log.exists() and server.asked(), "a call")
    assert alive_with(mark) == 1
    run.send_signal(number)
    status = run.wait(PATIENCE_S)
    assert status == (-9 if number == signal.SIGKILL else 130)
    until(lambda: not alive_with(mark), "the end of the sandbox")
    refused = fumehood("run", "--resume", next(fumehood.out.iterdir()), status=2)
    assert "can't be resumed" in refused.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--model", "baseline"], "needs a language model"),
        (["--model", "openai:m", "--agent", "memory"], "--agent-command replaces --agent"),
    ],
)
def test_wrong_usage(fumehood, words, why):
    fumehood.env["OPENAI_API_KEY"] = "sk-x"
    done = fumehood.run("--task", "rows", "--agent-command", "true", *words, status=2)
    assert why in done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Language models in episodes, against a server that speaks their protocols over real sockets."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, TASKS

SERVER = ROOT / "tests" / "servers" / "llm.py"


def act(command: str, thought: str = "So.") -> dict:
    return {"text": f"{thought}\n```\n{command}\n```\n"}


ROWS = [act("ls"), act("cp sample.csv submission.csv 2>/dev/null; validate"), act("submit")]


class Server:
    """A language model that gives the replies of a script."""

    def __init__(self, folder, script: dict):
        path = folder / "script.json"
        self.log = folder / "asked.jsonl"
        path.write_text(json.dumps(script))
        self.child = subprocess.Popen(
            [sys.executable, SERVER, path, "--log", self.log],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = f"http://127.0.0.1:{int(self.child.stdout.readline())}"

    def asked(self) -> list[dict]:
        whole = [x for x in self.log.read_text().splitlines(keepends=True) if x.endswith("\n")]
        return [json.loads(line) for line in whole]

    def close(self):
        self.child.stdin.close()
        self.child.wait(30)


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(turns, name: str = "m") -> Server:
        servers.append(
            Server(tmp_path, {name: turns if isinstance(turns, dict) else {"turns": turns}})
        )
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def play(fumehood):
    """A function that runs episodes. It returns a list of results, or a single result."""

    def run(server, *args, model="openai:m", path="/v1", status=0):
        fumehood.env.update(OPENAI_API_KEY="sk-none-secret", ANTHROPIC_API_KEY="sk-ant-secret")
        done = fumehood(
            *("run", "--task", "rows", "--tasks-dir", TASKS, "--model", model, "--json", "-q"),
            *("--url", server.url + path, "--out", fumehood.out, *args),
            status=status,
        )
        for where in (done.stdout, done.stderr):
            assert "secret" not in where
        results = [json.loads(line) for line in done.stdout.splitlines()]
        return results[0] if len(results) == 1 else results

    return run


def trajectory(result: dict) -> dict:
    with open(result["trajectory"]) as file:
        text = file.read()
    assert "secret" not in text
    return json.loads(text)


def actions(result: dict) -> list[str]:
    return [step["action"].strip() for step in trajectory(result)["trajectory"]]


@pytest.mark.parametrize("more", [[], ["--stream"]])
@pytest.mark.parametrize(("model", "path"), [("openai:m", "/v1"), ("anthropic:m", "")])
def test_an_episode(serve, play, model, path, more):
    server = serve(ROWS)
    result = play(server, *more, model=model, path=path)
    assert result["exit_status"].startswith(("submitted", "submission_not_found"))
    assert actions(result)[0] == "ls" and result["api_calls"] == result["steps"] == 3
    history = trajectory(result)["history"]
    assert [m["role"] for m in history] == ["system"] + ["user", "assistant"] * 3
    assert history[2]["thought"].strip() == "So." and history[2]["action"] == "ls\n"
    assert history[3]["content"].endswith(
        "(Current Step: 1, Remaining Steps: " + history[3]["content"].split("Remaining Steps: ")[1]
    )
    assert "(Open file: n/a)\n(Current directory: /home/agent/workspace)" in history[3]["content"]
    assert trajectory(result)["info"]["model_stats"]["api_calls"] == 3


def test_wrong_replies_are_asked_again_and_forgotten(serve, play):
    server = serve(
        {
            "tries": [
                {"text": "no block"},
                act("vim a"),
                act("echo fine"),
                act("python"),
                act("submit"),
            ]
        }
    )
    result = play(server)
    assert actions(result) == ["echo fine", "submit"]
    assert [m["role"] for m in trajectory(result)["history"]] == ["system"] + 2 * [
        "user",
        "assistant",
    ]
    asked = [request["body"]["messages"] for request in server.asked()]
    assert [len(messages) for messages in asked] == [2, 4, 4, 4, 6]
    assert asked[1][2]["content"] == "no block" and "fenced block" in asked[1][3]["content"]
    assert "'vim' was not run" in asked[2][3]["content"]


WRONG_USE = {"text": "So.", "uses": [{"id": "a", "name": "fly", "arguments": {"to": "a"}}]}


@pytest.mark.parametrize(
    ("last", "agent", "response"),
    [
        ({"text": "no block"}, "default", "no block"),
        (act("vim a"), "default", "So.\n```\nvim a\n```\n"),
        ({"text": ""}, "default", ""),
        (WRONG_USE, "tool_calling", 'So.\nfly {"to": "a"}'),
    ],
)
def test_too_many_wrong_replies_end_the_episode(serve, play, last, agent, response):
    """The record has the last wrong reply, as in MLGym."""
    result = play(serve({"tries": [{"text": "none"}] * 2 + [last]}), "--agent", agent)
    assert actions(result) == ["exit_format"] and result["api_calls"] == 3
    assert result["exit_status"].endswith("(exit_format)")
    played = trajectory(result)
    (step,) = played["trajectory"]
    assert step["response"] == played["history"][-1]["content"] == response
    assert step["thought"] == "None of the model's replies could be run."


def test_an_action_that_is_too_long_is_asked_for_again(serve, play):
    result = play(serve({"tries": [act("echo " + "x" * (1 << 20)), act("submit")]}))
    assert actions(result) == ["submit"] and "error" not in result


@pytest.mark.parametrize("cut", [b"\\ud83d", b"\\udc00\\ud800", b"\xf0\x9f", b"\\ud83d\\u0041"])
def test_half_a_character_costs_no_step(serve, play, cut):
    body = json.dumps(
        {"choices": [{"finish_reason": "stop", "message": {"role": "assistant", **CONTENT}}]}
    )
    body = body.replace("HALF", cut.decode("utf-8", "surrogateescape"))
    result = play(serve({"tries": [{"body": body, "type": "application/json"}]}))
    assert actions(result) == ["submit"] and result["api_calls"] == 1
    assert "\ufffd" in json.dumps(trajectory(result), ensure_ascii=False)


CONTENT = {"content": "HALF.\n```\nsubmit\n```\n"}
USES = [
    {"uses": [{"id": "a", "name": "bash", "arguments": {"command": "printf 'a b' > 'x y'"}}]},
    {
        "text": "Two at once.",
        "uses": [
            {"id": "b", "name": "open", "arguments": {"path": "x y"}},
            {"id": "c", "name": "submit", "arguments": {}},
        ],
    },
    {
        "uses": [
            {
                "id": "d",
                "name": "edit",
                "arguments": {"start_line": 1, "end_line": 1, "replacement_text": "it's $x"},
            }
        ]
    },
    {"uses": [{"id": "e", "name": "bash", "arguments": {"command": "cat 'x y'"}}]},
    {"uses": [{"id": "f", "name": "submit", "arguments": {}}]},
]


def use(name, **arguments):
    return {"uses": [{"id": "a", "name": name, "arguments": arguments}]}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (use("edit", start_line=1, end_line=3), "'edit' needs 'replacement_text'"),
        (use("open", file="g"), "'open' has no argument 'file'; there are: path, line_number"),
        (use("goto", line_number=True), "'line_number' of 'goto' has to be a whole number"),
        (use("bash"), "'bash' needs 'command'"),
        (
            use("edit", start_line=1, end_line=1, replacement_text="a\nend_of_edit\ntouch ran"),
            "'replacement_text' of 'edit' has a line 'end_of_edit'",
        ),
    ],
)
def test_a_call_that_is_wrong_costs_no_step(serve, play, wrong, why):
    server = serve({"tries": [wrong, USES[-1]]})
    assert actions(play(server, "--agent", "tool_calling")) == ["submit"]
    assert why in server.asked()[-1]["body"]["messages"][-1]["content"]


def test_texts_by_tools(serve, play, tmp_path):
    moves = [
        use("bash", command="seq 5 >f; open f"),
        use("edit", start_line=2, end_line=2, replacement_text="B\n"),
        use("edit", start_line="3", end_line=4.0, replacement_text=""),
        use("insert", line_number=1, text_to_add="\n"),
        use("memory_write", content_str="x\nedit 1:2\n'y'\nend_of_edit"),
        use("bash", command="cat f; cat ~/memory.json"),
        use("submit"),
    ]
    agent = tmp_path / "notes.yaml"
    text = (ROOT / "agents" / "tool_calling.yaml").read_text()
    agent.write_text(text.replace("native:", "native:\n  - memory_write"))
    shown = trajectory(play(serve(moves), "--agent", agent))["trajectory"][5]["observation"]
    assert shown.startswith("1\n\nB\n5\n{")
    assert json.dumps("x\nedit 1:2\n'y'\nend_of_edit") in shown


@pytest.mark.parametrize(("model", "path"), [("openai:m", "/v1"), ("anthropic:m", "")])
def test_tools(serve, play, model, path):
    server = serve(USES)
    result = play(server, "--agent", "tool_calling", model=model, path=path)
    steps = trajectory(result)["trajectory"]
    assert [s["action"].split("\n")[0] for s in steps] == [
        "printf 'a b' > 'x y'",
        "open 'x y'",
        "edit 1:1",
        "cat 'x y'",
        "submit",
    ]
    assert steps[3]["observation"] == "it's $x\n"
    last = server.asked()[-1]["body"]
    assert {tool.get("name") or tool["function"]["name"] for tool in last["tools"]} >= {
        "bash",
        "open",
        "submit",
    }


@pytest.mark.parametrize(
    ("reply", "more", "word"),
    [
        ({"status": 500}, ["--retries", "1"], "exit_api"),
        ({"status": 401, "error": {"message": "who are you?"}}, [], "exit_api"),
        ({"body": "{nonsense", "type": "application/json"}, ["--retries", "1"], "exit_api"),
        ({"text": "x", "cut": 20}, ["--retries", "1"], "exit_api"),
        (
            {"status": 400, "error": {"code": "context_length_exceeded", "message": "too long"}},
            [],
            "exit_context",
        ),
        ({"text": "x"}, ["--context", "10"], "exit_context"),
    ],
)
def test_what_a_provider_can_t_do_ends_the_episode_in_order(serve, play, reply, more, word):
    server = serve({"turns": [act("echo 1 > submission.csv"), reply]})
    broke = word == "exit_api"
    result = play(server, *more, status=int(broke))
    assert result["exit_status"].endswith(f"({word})")
    assert ("error" in result) == broke
    (log,) = Path(result["trajectory"]).parent.glob("run-*.log")
    assert not broke or result["error"] in log.read_text().replace("\\", "")
    assert actions(result)[-1] == word


def test_what_broke_is_no_result(serve, fumehood):
    scored = act("cp zeros.csv submission.csv")
    server = serve({"tries": [scored, act("submit"), scored, {"status": 500}]})
    done = fumehood(
        *("run", "--tasks-dir", TASKS, "--task", "rows", "--model", "openai:m", "--runs", 2, "-q"),
        *("--url", server.url + "/v1", "--api-key", "k", "--retries", 0, "--out", fumehood.out),
        status=1,
    )
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith("rows")]
    assert [line[1] for line in lines[:2]] == ["submitted", "failed"]
    assert "-" in lines[1] and "(1 scored)" in done.stdout


def test_costs(serve, play, tmp_path, fumehood):
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"input": 10000, "output": 0}}')
    server = serve([act("ls")] * 10)
    result = play(server, "--prices", prices, "--per-instance-cost-limit", 2.5)
    assert result["exit_status"].endswith("(exit_cost)")
    assert result["cost"] == 3 and result["api_calls"] == 3 and result["steps"] == 3
    limits = ("--per-instance-cost-limit", 9, "--total-cost-limit", 2.5)
    both = play(server, "--prices", prices, "--runs", 2, *limits, status=1)
    assert both[0]["exit_status"].endswith("(exit_cost)") and both[0]["cost"] == 3
    assert (both[1]["exit_status"], both[1]["trajectory"], both[1]["steps"]) == ("", None, 0)
    assert [r["error"] for r in both] == [
        "all models have cost $3.0000, and their limit is $2.5000"
    ] * 2
    run = (
        "run",
        "--task",
        "rows",
        "--tasks-dir",
        TASKS,
        "--model",
        "openai:m",
        "--url",
        server.url,
    )
    refused = fumehood(*run, "--per-instance-cost-limit", "1", status=2)
    assert "price" in refused.stderr
    for option in "--per-instance-cost-limit", "--total-cost-limit":
        refused = fumehood(*run, option, "-1", status=2)
        assert f"{option} wants a number from 0 to" in refused.stderr


def test_commands_see_the_variables(serve, play, tmp_path):
    agent = tmp_path / "narrow.yaml"
    text = (ROOT / "agents" / "default.yaml").read_text()
    agent.write_text(text.replace("WINDOW: 1000", "WINDOW: 4").replace("OVERLAP: 2", "OVERLAP: 1"))
    moves = ["seq 9 >nine", "open nine", "scroll_down", "exit; ls", "scroll_down", "submit"]
    played = trajectory(play(serve(list(map(act, moves))), "--agent", agent))["trajectory"]
    seen = [
        [line[:2] for line in s["observation"].splitlines() if line[1:2] == ":"] for s in played
    ]
    assert seen[1:5] == [
        ["1:", "2:", "3:", "4:"],
        ["4:", "5:", "6:", "7:"],
        [],
        ["6:", "7:", "8:", "9:"],
    ]


STATEFUL = """\
system_template: s
task_template: "{observation} {files} files, {busy}, {open_file}"
next_step_template: "{files} files in {working_dir} after {current_step}"
next_step_no_output_template: "nothing, {files} files%s"
tools:
  state_command:
    name: state
    code: |
      state() { lacking_program; printf '{"files": %%d, "busy": false, "open_file": "x"}' "$(ls | wc -l)"; }
"""


@pytest.fixture
def stateful(tmp_path):
    def write(more: str = ""):
        path = tmp_path / "stateful.yaml"
        path.write_text(STATEFUL % more)
        return path

    return write


def test_a_state_gives_fields(serve, play, stateful):
    moves = ["rm -r *; echo x", "touch a b", "state() { echo broken; }", "submit"]
    result = play(serve(list(map(act, moves))), "--agent", stateful())
    assert result["exit_status"].startswith("submission_not_found")
    said = [m["content"] for m in trajectory(result)["history"] if m["role"] == "user"]
    assert re.search(r" [1-9]\d* files, False, x$", said[0])
    assert said[1].startswith("0 files in ") and said[1].endswith(" after 1")
    assert said[2:] == ["nothing, 2 files"] * 2


def test_a_state_keeps_all_of_its_text(serve, play, stateful):
    text = '{"files": 1, "busy": null, "big": 12345678901234567890123, "a": {"b": [1, 1.50, {}]}'
    text += ', "open_file": "n/a", "working_dir": "/x"}'
    moves = [f"state() {{ printf %s '{text}'; }}", "true", "submit"]
    result = play(serve(list(map(act, moves))), "--agent", stateful())
    assert [step["state"] for step in trajectory(result)["trajectory"]][1:] == [text, text]


def test_a_state_that_hangs_is_said_and_given_up(serve, play, stateful):
    hangs = ["state() { sleep 60; }", *["pwd"] * 3, "touch new; exit 3", "submit"]
    result = play(serve(list(map(act, hangs))), "--agent", stateful())
    (log,) = Path(result["trajectory"]).parent.glob("run-*.log")
    events = (log.parent / "events.jsonl").read_text().splitlines()
    told = [e for e in map(json.loads, events) if e["event"] == "state"]
    assert [e["step"] for e in told] == [1, 3] and "not asked any more" in told[1]["what"]
    assert log.read_text().count(" state ") == 2 and told[0]["what"] in log.read_text()
    times = [step["execution_time"] for step in trajectory(result)["trajectory"]]
    assert [seconds > 4.5 for seconds in times] == [True] * 3 + [False] * 3
    said = [m["content"] for m in trajectory(result)["history"] if m["role"] == "user"]
    assert [text.split(" files ")[0] for text in said[4:]] == ["2", "3"]


def test_what_a_state_does_not_give_is_said(fumehood, serve, stateful):
    agent = stateful(", {fies}")
    fumehood.env["OPENAI_API_KEY"] = "k"
    done = fumehood.run(
        *("--task", "rows", "--model", "openai:m", "--agent", agent),
        *("--url", serve([act("true"), act("submit")]).url + "/v1"),
        status=1,
    )
    assert f"{agent}:4: unknown field {{fies}}, and the JSON object that state" in done.stderr
    assert "did you mean {files}?" in done.stderr


def test_a_hundred_at_once(serve, play):
    server = serve(ROWS)
    results = play(server, "--runs", 100, "--jobs", 100)
    assert len(results) == 100
    for result in results:
        assert result["steps"] == 3 and "error" not in result


HEAD = "system_template: s\n"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (HEAD + "task_template: |-\n  a\n  b {nowhere}\n", ":4: unknown field {nowhere}"),
        (HEAD + "task_template: t\ntools: {native: [fly]}\n", ":3:17: there is no command 'fly'"),
        (HEAD + "task_template: |-\n  a {nowhere}\n", ":3: unknown field {nowhere}"),
        (
            HEAD + "task_template: t\ntools:\n  blocklist_error_template: '{name} {whi}'\n",
            ":4: unknown field {whi}",
        ),
        (HEAD + "task_template: t\nformat_error_template: '{why} {wy}'\n", "field {wy}; did"),
        (
            HEAD + "task_template: t\ntools: {env_variables: {a-b: 1}}\n",
            "a.yaml:3:25: env_variables: 'a-b' can't be the name of a variable",
        ),
        (HEAD, "key 'task_template' is missing"),
    ],
)
def test_a_wrong_agent_is_refused_before_anything_runs(fumehood, tmp_path, config, message):
    path = tmp_path / "a.yaml"
    path.write_text(config)
    done = fumehood(
        *("run", "--task", "rows", "--tasks-dir", TASKS, "--model", "openai:m"),
        *("--url", "http://127.0.0.1:9/v1", "--agent", path, "--out", fumehood.out),
        status=2,
    )
    assert message in done.stderr and not fumehood.out.exists()


def test_stopped_while_it_thinks(fumehood, serve):
    server = serve([act("ls"), act("ls") | {"delay": 60}])
    child = fumehood.start(
        *("run", "--task", "rows", "--tasks-dir", TASKS, "--model", "openai:m", "--json", "-v"),
        *("--url", server.url + "/v1", "--api-key", "k", "--out", fumehood.out),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in child.stderr:
        if "1/" in line:
            break
    while len(server.asked()) < 2:
        pass
    child.terminate()
    out, _ = child.communicate(timeout=300)
    result = json.loads(out.splitlines()[-1])
    assert result["exit_status"] == "early_exit" and result["steps"] == 1

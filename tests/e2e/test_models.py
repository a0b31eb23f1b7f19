# SPDX-License-Identifier: Apache-2.0
"""Messages about language models: unknown prices and failed tries."""

import json
import re

import pytest
from conftest import TASKS
from test_agent import act, serve  # noqa: F401
from test_runs import on_terminal

NOBODY = "http://127.0.0.1:1"
NO_LIMIT = "fumehood: the price of '{}' is not known, so that no limit on costs holds: "
AGAIN = {"status": 503, "error": {"message": "too busy"}, "headers": {"retry-after-ms": "1"}}


def run(fumehood, url, *args, status=0) -> str:
    """Runs a task. Returns standard error."""
    words = ("run", "--tasks-dir", TASKS, "--out", fumehood.out)
    words += () if "--sweep" in args else ("--task", "rows")
    return fumehood(*words, "--api-key", "k", "--url", url, *args, status=status).stderr


def logs(fumehood) -> list[str]:
    return [path.read_text() for path in sorted(fumehood.out.glob("*/run-*.log"))]


@pytest.mark.parametrize(
    ("args", "warned"),
    [
        (["--model", "openai:m"], ["openai:m"]),
        (["--sweep", "sweep.yaml"], ["openai:m", "openai:n"]),
        (["--model", "openai:m", "--per-instance-cost-limit", "0"], []),
        (["--model", "openai:gpt-4-0613"], []),
        (["--model", "baseline"], []),
    ],
)
def test_a_price_that_is_not_known_is_said_once(fumehood, args, warned):
    sweep = {"tasks": ["rows"], "models": ["openai:m", "openai:n"], "agents": ["default", "memory"]}
    (fumehood.folder / "sweep.yaml").write_text(json.dumps(sweep))
    said = run(fumehood, NOBODY, *args, "--retries", 0, status=int("baseline" not in args))
    assert re.findall(r"the price of '(.*?)'", said) == warned
    for model in warned:
        name = model.split(":")[1]
        assert NO_LIMIT.format(model) in said and f'{{"{name}": {{"input"' in said
    for log in logs(fumehood):
        assert log.count("the price of '") == bool(warned)


def test_a_price_that_is_given_limits(fumehood, serve, tmp_path):  # noqa: F811
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"m": {"input": 100000, "output": 0}}))
    server = serve([act("ls")] * 10)
    said = run(fumehood, server.url, "--model", "openai:m", "--prices", prices)
    assert "the price of" not in said and "exit_cost" in said


def test_tries_that_fail_are_told(fumehood, serve):  # noqa: F811
    """Each run's log has all failed tries. Standard error has one message of an outage."""
    server = serve({"tries": [AGAIN] * 6 + [act("submit")]})
    more = ("--model", "openai:m", "--runs", 3, "--jobs", 3, "--retries", 7)
    said = run(fumehood, server.url, *more)
    fields = r'model=openai:m try="(\d) of 8" pause_s=0(?:\.0\d*)? why="HTTP 503: too busy"'
    assert len(re.findall(rf"^warn: no reply.* {fields}$", said, re.M)) == 1
    assert said.count("no reply") == 1
    tries = [re.findall(rf"Z (?:warn|info): no reply.* {fields}", log) for log in logs(fumehood)]
    assert sum(map(len, tries)) == 6
    for own in tries:
        assert own == [str(i + 1) for i in range(len(own))]
    assert "no reply" not in run(fumehood, server.url, *more, "--quiet", "--suffix", "q")


def test_pauses_are_drawn_for_each_episode(fumehood):
    run(fumehood, NOBODY, "--model", "openai:m", "--runs", 2, "-j", 2, "--retries", 2, status=1)
    pauses = [re.findall(r"pause_s=(\S+)", log) for log in logs(fumehood)]
    assert [len(p) for p in pauses] == [2, 2] and pauses[0] != pauses[1]


def test_the_table_says_that_it_is_tried_again(fumehood, serve):  # noqa: F811
    slow = AGAIN | {"headers": {"retry-after-ms": "3000"}}
    server = serve({"tries": [act("ls"), slow, act("sleep 3"), act("submit")]})
    url = ("--url", server.url, "--api-key", "k", "--per-instance-cost-limit", 0)
    shown = on_terminal(fumehood, 24, "--task", "rows", "--model", "openai:m", *url)
    lines = re.findall(r"rows #0 +(\d)/6 .* s   (.*?) *[\x1b\r]", shown)
    assert ("1", "retrying, 1 of 11: HTTP 503: too busy") in lines
    assert ("2", "sleep 3") in lines


@pytest.mark.parametrize(
    ("model", "body", "said"),
    [
        (
            "openai:m",
            "\n<!doctype html><p>Hello",
            "a web page, no reply of a model: --url should be",
        ),
        ("openai:m", '{"type": "message", "content": [], "usage": {}}', "model anthropic:NAME"),
        (
            "anthropic:m",
            '{"choices": [], "usage": {}}',
            "OpenAI's protocol: name the model openai:",
        ),
    ],
)
def test_another_protocol_is_not_tried_again(fumehood, serve, model, body, said):  # noqa: F811
    server = serve([{"body": body}])
    words = ["--task", "rows", "--model", model, "--url", server.url, "--api-key", "k"]
    done = fumehood.run(*words, "--per-instance-cost-limit", 0, status=1)
    assert said in done.stderr and "tries" not in done.stderr
    assert len(server.asked()) == 1


def test_what_is_no_json_is_not_tried_often(fumehood, serve):  # noqa: F811
    server = serve([{"body": "not json", "type": "application/json"}])
    words = ["--task", "rows", "--model", "openai:m", "--url", server.url, "--api-key", "k"]
    done = fumehood.run(*words, "--per-instance-cost-limit", 0, status=1)
    assert "it is not JSON: not json (3 tries)" in done.stderr
    assert len(server.asked()) == 3

# SPDX-License-Identifier: Apache-2.0
"""Keys of language models: their sources, the servers that get them, and hiding them in records."""

import re
from pathlib import Path

import pytest
from conftest import TASKS
from test_agent import ROWS, act, play, serve, trajectory  # noqa: F401


@pytest.mark.parametrize("more", [[], ["--stream"]])
@pytest.mark.parametrize(("model", "path"), [("openai:m", "/v1"), ("anthropic:m", "")])
@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ([], act("echo {KEY}, {KEY}", "It is {KEY}.") | {"thinking": "{KEY}"}),
        (
            ["--agent", "tool_calling"],
            {"uses": [{"id": "a", "name": "bash", "arguments": {"command": "echo {KEY}, {KEY}"}}]},
        ),
        (
            ["--agent", "tool_calling"],
            {
                "uses": [
                    {
                        "id": "{ESCAPED}",
                        "name": "bash",
                        "arguments": '{"command": "echo {ESCAPED}, {KEY}"}',
                    }
                ]
            },
        ),
        ([], act("echo {ESCAPED}, {KEY}", "It is {ESCAPED}.") | {"thinking": "{ESCAPED}"}),
    ],
)
def test_a_key_repeated_in_a_reply(serve, play, model, path, more, agent, said):  # noqa: F811
    last = act("submit") if not agent else {"uses": [{"id": "b", "name": "submit"}]}
    result = play(serve([said, last]), *agent, *more, model=model, path=path)
    steps = trajectory(result)["trajectory"]
    assert steps[0]["action"].strip() == "echo [key], [key]"
    assert steps[0]["observation"] == "[key], [key]\n"
    for file in Path(result["trajectory"]).parent.iterdir():
        assert not re.search(rb"secret|u0073|u0063", file.read_bytes())


def test_a_key_that_an_agent_puts_together(serve, play):  # noqa: F811
    """A key that an agent joins from two halves is hidden in observations too."""
    halves = "k=sk-none-sec k=${k}ret; echo $k; mkdir $k; cd $k; seq 9 >$k; open $k"
    result = play(serve([act(halves), act("ls"), act("submit")]))
    steps = trajectory(result)["trajectory"]
    assert steps[0]["observation"].startswith("[key]\n[File: /home/agent/workspace/[key]/[key] (9")
    assert steps[1]["observation"] == "[key]\n"
    for file in Path(result["trajectory"]).parent.iterdir():
        assert b"secret" not in file.read_bytes()


def test_a_short_key_in_a_complaint(serve, play):  # noqa: F811
    wrong = {"status": 401, "error": {"message": "Incorrect API key provided: {KEY}."}}
    result = play(serve([wrong]), "--api-key", "short1key", status=1)
    assert "Incorrect API key provided: [key]." in result["error"]


def test_a_key_as_an_address_has_it(serve, play):  # noqa: F811
    wrong = {"status": 400, "body": "<a href='?key=sk%2Dnone%252dsecret'>", "type": "text/html"}
    result = play(serve([wrong]), status=1)
    assert "?key=[key]" in result["error"]
    for file in Path(result["trajectory"]).parent.iterdir():
        assert b"secret" not in file.read_bytes()


def test_no_key_no_run(fumehood):
    fumehood.env.pop("OPENAI_API_KEY", None)
    done = fumehood(
        "run", "--task", "rows", "--tasks-dir", TASKS, "--model", "openai:gpt-4o", status=2
    )
    assert "OPENAI_API_KEY" in done.stderr


def test_a_key_of_dotenv(fumehood, serve):  # noqa: F811
    server = serve(ROWS)
    fumehood.env.pop("OPENAI_API_KEY", None)
    (fumehood.folder / ".env").write_text('export OPENAI_API_KEY="from-the-file" # mine\n')
    run = ("run", "--task", "rows", "--tasks-dir", TASKS, "--model", "openai:m", "-q")
    fumehood(*run, "--url", server.url + "/v1", "--out", fumehood.out)
    assert server.asked()[0]["headers"]["authorization"] == "Bearer from-the-file"
    (fumehood.folder / ".env").write_text("OPENAI_API_KEY\n")
    assert ".env:1: expected KEY=VALUE" in fumehood(*run, status=2).stderr


def test_an_address_of_dotenv_gets_no_other_key(fumehood, serve):  # noqa: F811
    server = serve(ROWS)
    address = f"OPENAI_BASE_URL={server.url}/v1\nFUMEHOOD_STATE={fumehood.folder}/theirs\n"
    address += "FUMEHOOD_JUDGE_KEY=/nowhere\n"
    (fumehood.folder / ".env").write_text(address)
    run = ("run", "--task", "rows", "--tasks-dir", TASKS, "--model", "openai:m", "-q")
    fumehood.env["OPENAI_API_KEY"] = "sk-mine-and-real"
    refused = fumehood(*run, status=2).stderr
    assert f"would send a key to {server.url}/v1, the address that .env sets" in refused
    assert ".env" in fumehood(*run, "--api-key", "sk-mine", status=2).stderr
    assert not server.log.exists()
    warned = fumehood(*run, "--url", server.url + "/v1").stderr
    assert warned.count("ignored: .env:3: FUMEHOOD_JUDGE_KEY\n") == 1
    del fumehood.env["OPENAI_API_KEY"]
    fumehood(*run)
    (fumehood.folder / ".env").write_text(address + "OPENAI_API_KEY=sk-theirs")
    fumehood(*run)
    keys = [request["headers"].get("authorization") for request in server.asked()[::3]]
    assert keys == ["Bearer sk-mine-and-real", None, "Bearer sk-theirs"]
    assert not (fumehood.folder / "theirs").exists()

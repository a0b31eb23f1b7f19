# SPDX-License-Identifier: Apache-2.0
"""Agents without a model, recorders and trajectories of the package `fumehood`."""

import asyncio
import json
import math
import os
import random
import subprocess
from pathlib import Path
from types import UnionType
from typing import get_args, get_origin, get_type_hints, is_typeddict

import numpy as np
import pytest

pytest.importorskip("fumehood._core", reason="the build has no Python extension")

import fumehood  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
REPLIES = [
    "I look.\n```\nls\n```",
    "No command.",
    "```\nvim\n```",
    "```\ncp zeros.csv submission.csv\nvalidate\n```",
    "Enough.\n```\nsubmit\n```",
]


@pytest.fixture(scope="module")
def gym(tmp_path_factory):
    state = str(tmp_path_factory.mktemp("state"))
    with fumehood.Gym(tasks_dir=str(ROOT / "tests/tasks"), state_dir=state) as gym:
        yield gym


@pytest.fixture
def env(gym):
    with fumehood.Env("rows", gym=gym, max_text_bytes=fumehood.RECORD_TEXT_BYTES) as env:
        yield env


@pytest.fixture(scope="module")
def agent():
    return fumehood.Agent()


def play(env, agent, recorder, replies):
    """Plays replies as an episode. Returns its chat's history, and the kinds of decisions."""
    replies, kinds = iter(replies), []
    agent.set_up(env)
    step = env.reset(seed=7)
    recorder.reset(step)
    chat = agent.chat(env, recorder)
    while not (step.terminated or step.truncated):
        chat.observe(step)
        decision = chat.reply(next(replies))
        kinds.append((decision.kind, decision.fault))
        while decision.kind == "ask_again":
            assert chat.messages[-1]["content"] == decision.complaint
            decision = chat.reply(next(replies))
            kinds.append((decision.kind, decision.fault))
        step = env.step(decision.action, timeout_s=30)
        recorder.step(decision, step, numbers={"value": 0.5, "ids": np.arange(2)})
    return chat.history, kinds


def command(*args):
    return subprocess.run(
        [os.environ["FUMEHOOD"], *map(str, args)], capture_output=True, text=True, check=True
    ).stdout


def test_a_record_of_a_conversation(env, agent, tmp_path):
    """The commands read a record as one of their own."""
    options = {"out": tmp_path / "out", "agent": agent, "model": "my:model", "policy_step": 12}
    with fumehood.Recorder(env, 7, **options) as recorder:
        history, kinds = play(env, agent, recorder, REPLIES)
        recorder.end(numbers={"return": np.float32(0.25)}, calls=5, tokens_sent=9, cost=0.5)
        folder, traj = recorder.folder, recorder.traj
    assert kinds == [
        ("action", None),
        ("ask_again", "format"),
        ("ask_again", "blocked"),
        ("action", None),
        ("action", None),
    ]
    read = fumehood.Trajectory.read(folder)
    assert (read.exit_status, read.over, read.seed, read.policy_step) == ("submitted", True, 7, 12)
    assert read.opened["model"] == "my:model" and read.numbers == {"return": 0.25}
    assert len(read.scores) == 2 and read.model_stats["api_calls"] == 5
    assert [step.action for step in read.steps][-1].strip() == "submit"
    assert read.steps[0].numbers == {"value": 0.5, "ids": [0, 1]}
    members = fumehood.Info.__annotations__.keys()
    assert all(step.info.keys() <= members for step in read.steps)
    assert read.steps[1].info["score"] == read.scores[0] and read.steps[1].reward is not None
    assert [m["content"] for m in read.history] == [m["content"] for m in history]
    shown = json.loads(command("show", "--json", folder))
    assert [step["info"] for step in shown["steps"]] == [step.info for step in read.steps]
    printed = command("replay", "--compare", folder, "--out", tmp_path / "again")
    assert printed.startswith("3 steps equal, 0 after")
    text = Path(traj).read_bytes()
    Path(traj).unlink()
    command("export", folder)
    assert Path(traj).read_bytes() == text
    alone = fumehood.Trajectory.read(traj)
    assert alone.steps[1].observation == read.steps[1].observation and alone.over is None
    assert alone.scores == read.scores and alone.steps[1].info == {}


def test_a_record_has_the_limit_of_output(gym, tmp_path):
    """A replay shows as much output as the recorded steps did."""
    with (
        fumehood.Env("rows", gym=gym, output_bytes=3) as env,
        fumehood.Recorder(env, 7, out=tmp_path / "out") as recorder,
    ):
        recorder.reset(env.reset(seed=7))
        recorder.step("printf abcd", env.step("printf abcd"))
        folder = recorder.folder
    read = fumehood.Trajectory.read(folder)
    assert read.opened["output_bytes"] == 3
    assert read.steps[0].observation.startswith("abc\n(There was more output; only the first 3 by")
    printed = command("replay", "--compare", folder, "--out", tmp_path / "again")
    assert printed.startswith("1 steps equal, 0 after")


def test_a_record_is_that_of_a_run(env, agent, tmp_path):
    """`fumehood run` with the same replies writes the same files but for times and its model."""
    asked = tmp_path / "replies.jsonl"
    asked.write_text(json.dumps({"rows": REPLIES}) + "\n")
    with fumehood.Recorder(env, 7, out=tmp_path / "ours", agent=agent) as recorder:
        play(env, agent, recorder, REPLIES)
        folder = Path(recorder.folder)
    command(
        *("run", "--tasks-dir", ROOT / "tests/tasks", "--task", "rows", "--seed", 7),
        *("--agent", "default", "--model", f"replay:{asked}", "--out", tmp_path / "run"),
    )
    (other,) = (tmp_path / "run").iterdir()

    def names(path):
        return sorted(p.name.split("-")[0] for p in path.iterdir())

    def options(path):
        lines = (path / "args.yaml").read_text().splitlines()
        return [line for line in lines if "model_name" not in line]

    assert names(folder) == names(other)
    assert options(folder) == options(other)
    ours, theirs = (json.loads((p / "rows.traj").read_text()) for p in (folder, other))
    assert ours["history"] == theirs["history"]
    assert ours["info"]["score"] == theirs["info"]["score"]


def test_the_third_bad_reply_gives_up(env, agent):
    with agent.chat(env) as chat:
        chat.observe(env.reset())
        kinds = [chat.reply("no command").kind for _ in range(3)]
        assert kinds == ["ask_again", "ask_again", "give_up"]
        with pytest.raises(fumehood.StateError):
            chat.reply("```\nls\n```")


BAD_TEXTS = ["```\necho \0\n```", "```\necho \ud800\n```"]


@pytest.mark.parametrize("reply", [*BAD_TEXTS, {"role": "assistant", "content": BAD_TEXTS[1]}])
def test_a_reply_that_is_no_text_has_a_format_fault(env, agent, reply, tmp_path):
    with (
        fumehood.Recorder(env, out=tmp_path, agent=agent) as recorder,
        agent.chat(env, recorder) as chat,
    ):
        step = env.reset()
        recorder.reset(step)
        chat.observe(step)
        kinds = [(d.kind, d.fault) for d in [chat.reply(reply) for _ in range(3)]]
        assert kinds == [*[("ask_again", "format")] * 2, ("give_up", "format")]
        assert "\\x" in chat.history[-1]["content"]


def test_an_action_without_a_reply(env, agent):
    with agent.chat(env) as chat:
        chat.observe(env.reset())
        decision = chat.act("exit_context")
        step = env.step(decision.action)
        assert step.terminated and "exit_context" in step.exit_status


def test_tool_calls(env):
    agent = fumehood.Agent("tool_calling")
    assert agent.tools[0]["type"] == "function" and "{" not in agent.info["output_parser"]
    agent.set_up(env)
    with agent.chat(env) as chat:
        chat.observe(env.reset())
        call = {"name": "bash", "arguments": '{"command": "echo hi"}'}
        decision = chat.reply({"content": None, "tool_calls": [{"id": "a", "function": call}]})
        assert decision.action.strip() == "echo hi"
        chat.observe(env.step(decision.action))
        assert chat.messages[-1]["role"] == "tool" and chat.messages[-1]["tool_call_id"] == "a"
        with pytest.raises(fumehood.InputError):
            chat.reply_json("[]")


def test_parsers():
    assert fumehood.parse_reply("ThoughtActionParser", "So.\n```\nls\n```") == ("So.\n", "ls\n")
    with pytest.raises(fumehood.InputError):
        fumehood.parse_reply("ThoughtActionParser", "So.")
    with pytest.raises(fumehood.InputError):
        fumehood.parse_reply("NoSuchParser", "ls")


def test_agents_that_are_not_there(tmp_path):
    with pytest.raises(fumehood.MissingError, match="default"):
        fumehood.Agent("nothingLikeThis")
    (tmp_path / "bad.yaml").write_text("output_parser: [")
    with pytest.raises(fumehood.InputError, match=r"bad.yaml:\d+:\d+: "):
        fumehood.Agent(str(tmp_path / "bad.yaml"))


# --- order and errors -----------------------------------------------------------------------------


def test_states_of_a_recorder(env, tmp_path):
    recorder = fumehood.Recorder(env, out=tmp_path)
    step = env.reset()
    with pytest.raises(fumehood.StateError):
        recorder.step("true", step)
    recorder.reset(step)
    step = env.step("true")
    for numbers in ({"x": "y" * (65 << 10)}, {"x": {1}}):
        with pytest.raises(fumehood.InputError):
            recorder.step("true", step, numbers=numbers)
    with pytest.raises(TypeError):
        recorder.step("true", tuple(step))
    with pytest.raises(ValueError):
        recorder.step("\0", step)
    recorder.step("true", step, numbers={"loss": float("nan")})
    recorder.end()
    with pytest.raises(fumehood.StateError):
        recorder.end()
    folder, traj = recorder.folder, recorder.traj
    recorder.close()
    recorder.close()
    assert (recorder.folder, recorder.traj) == (folder, traj) and Path(traj).exists()
    with pytest.raises(fumehood.ClosedError):
        recorder.step("true", step)
    read = fumehood.Trajectory.read(folder)
    assert read.exit_status == "early_exit" and read.over is False
    assert np.isnan(read.steps[0].numbers["loss"])


def test_nothing_is_recorded_after_the_episodes_end(env, tmp_path):
    with fumehood.Recorder(env, out=tmp_path) as recorder:
        recorder.reset(env.reset())
        last = env.submit()
        recorder.step("submit", last)
        with pytest.raises(fumehood.StateError, match="before the episode's end"):
            recorder.step("true", last)
    read = fumehood.Trajectory.read(recorder.folder)
    assert read.exit_status == last.exit_status and len(read.steps) == 1


def test_an_exception_breaks_the_record(env, tmp_path):
    with pytest.raises(RuntimeError), fumehood.Recorder(env, out=tmp_path) as recorder:
        recorder.reset(env.reset())
        folder = recorder.folder
        raise RuntimeError("out of luck")
    last = Path(folder, "events.jsonl").read_text().splitlines()[-1]
    assert json.loads(last)["error"] == "RuntimeError: out of luck"
    assert not fumehood.Trajectory.read(folder).over


def test_bytes_beside_an_action_count(gym):
    with fumehood.Env("rows", gym=gym, max_text_bytes=5000) as env:
        env.reset()
        assert not env.step("true", beside_bytes=10).truncated
        assert env.step("true", beside_bytes=6000).truncated


def test_a_chat_outlives_its_recorder(env, agent, tmp_path):
    recorder = fumehood.Recorder(env, out=tmp_path, agent=agent)
    step = env.reset()
    recorder.reset(step)
    chat = agent.chat(env, recorder)
    recorder.close()
    with pytest.raises(fumehood.ClosedError):
        chat.observe(step)
    with pytest.raises(fumehood.ClosedError):
        agent.chat(env, recorder)
    chat.close()
    with pytest.raises(fumehood.ClosedError):
        chat.json()


def test_steps_of_asyncio(gym, agent, tmp_path):
    async def main():
        async with await fumehood.AsyncEnv.open("rows", gym=gym) as env:
            agent.set_up(env)
            with fumehood.Recorder(env, out=tmp_path, agent=agent) as recorder:
                step = await env.reset()
                recorder.reset(step)
                chat = agent.chat(env, recorder)
                chat.observe(step)
                decision = chat.reply("```\nsubmit\n```")
                recorder.step(decision, await env.step(decision.action))
                return recorder.folder

    assert fumehood.Trajectory.read(asyncio.run(main())).over


def test_a_fork_can_not_record(env, tmp_path):
    recorder = fumehood.Recorder(env, out=tmp_path)
    recorder.reset(env.reset())
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            recorder.end()
        except fumehood.StateError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    recorder.end()
    recorder.close()


# --- trajectories ---------------------------------------------------------------------------------


def test_a_trajectory_of_mlgym(tmp_path):
    made = {
        "environment": "swe_main",
        "trajectory": [
            {
                "action": "ls\n",
                "observation": "a.py",
                "response": "```\nls\n```",
                "state": '{"open_file": "n/a", "working_dir": "/home/agent"}\n',
                "thought": "",
                "execution_time": 0.25,
            }
        ],
        "history": [{"role": "system", "content": "Hello", "agent": "primary"}],
        "info": {"model_stats": {"api_calls": 1}, "exit_status": "submitted", "score": [{"r2": 1}]},
    }
    path = tmp_path / "regression.traj"
    path.write_text(json.dumps(made))
    read = fumehood.Trajectory.read(path)
    assert read.steps[0].state["working_dir"] == "/home/agent"
    assert read.steps[0].execution_time_s == 0.25 and read.steps[0].reward is None
    assert read.scores == ({"r2": 1},) and read.opened == {} and read.seed is None


def test_trajectories_that_can_not_be_read(tmp_path):
    with pytest.raises(fumehood.MissingError):
        fumehood.Trajectory.read(tmp_path / "none")
    path = tmp_path / "bad.traj"
    path.write_text('{"trajectory":\n 3')
    with pytest.raises(fumehood.InputError, match=r"bad.traj:2"):
        fumehood.Trajectory.read(path)
    path.write_text("{}")
    with pytest.raises(fumehood.InputError, match="'environment' is missing"):
        fumehood.Trajectory.read(path)


def test_a_state_that_is_no_object(tmp_path):
    """An agent's state command may print anything. MLGym records replies that are null."""
    for state in ("", "bash: state: command not found", "[1]", "{" * 50_000, '{"a": "n/a"}\n'):
        step = {"action": "ls", "observation": None, "response": None, "thought": None}
        step |= {"state": state, "execution_time": 1}
        made = {"environment": "t", "trajectory": [step], "history": [], "info": {}}
        (tmp_path / "a.traj").write_text(json.dumps(made))
        (read,) = fumehood.Trajectory.read(tmp_path / "a.traj").steps
        assert read.state == ({"a": "n/a"} if "n/a" in state else {})
        assert (read.observation, read.response, read.thought) == ("", "", "")


VALUES = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "\0",
    "{}",
    "\ud800",
    [],
    {},
    [[]],
    {"a": None},
    2**70,
    math.nan,
]


def changed(draw, value):
    """A copy of JSON in which something was removed or replaced."""
    if not value or not isinstance(value, dict | list) or draw.random() < 0.1:
        return draw.choice(VALUES)
    copy = value.copy()
    key = draw.choice(list(copy) if isinstance(copy, dict) else range(len(copy)))
    if draw.random() < 0.2:
        del copy[key]
    else:
        copy[key] = changed(draw, copy[key])
    return copy


def test_random_trajectories(env, tmp_path):
    """A record is refused, or each member has its type."""
    with fumehood.Recorder(env, 7, out=tmp_path / "out", policy_step=1) as recorder:
        recorder.reset(env.reset(seed=7))
        for action in ("ls", "cp zeros.csv submission.csv; submit"):
            recorder.step(action, env.step(action), numbers={"value": 0.5})
        recorder.end(numbers={"return": 1})
        folder, traj = Path(recorder.folder), Path(recorder.traj)
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    made = json.loads(traj.read_text())
    draw, alone, read = random.Random(21), tmp_path / "alone.traj", 0
    shapes = get_type_hints(fumehood.Trajectory), get_type_hints(fumehood.TrajectoryStep)
    for i in range(800):
        if i % 2:
            path, text = alone, json.dumps(changed(draw, made))
        else:
            path, which = folder / "events.jsonl", draw.randrange(len(events))
            mixed = [*events[:which], changed(draw, events[which]), *events[which + 1 :]]
            text = "".join(json.dumps(event) + "\n" for event in mixed)
        if i % 5 == 0:
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice('"{]1\0') + text[at + 1 :]
        path.write_text(text)
        try:
            trajectory = fumehood.Trajectory.read(path)
        except fumehood.Error:
            continue
        read += 1
        for shape, thing in [(shapes[0], trajectory), *((shapes[1], s) for s in trajectory.steps)]:
            for name, kind in shape.items():
                assert fits(getattr(thing, name), kind), (name, text)
    assert read > 200


def fits(value, kind) -> bool:
    """Whether a value has the type of an annotation."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return any(fits(value, one) for one in arguments)
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(one, arguments[0]) for one in value)
    if origin is dict or is_typeddict(kind):
        return isinstance(value, dict)
    return type(value) is kind or (kind is float and type(value) is int)

# SPDX-License-Identifier: Apache-2.0
"""fumehood env: requests and answers on standard input and output, and wrong requests."""

import json
import shutil

import pytest
from conftest import TASKS, Door

INFO = [
    "step",
    "exit_code",
    "outcome",
    "duration_s",
    "cpu_s",
    "memory_peak_bytes",
    "written_bytes",
    "state",
    "baseline",
    "best",
]


@pytest.fixture
def door(fumehood):
    d = Door(fumehood, "--task", "rows")
    yield d
    d.child.kill()
    d.child.wait()


def test_a_whole_episode(door):
    reset = door.ask(op="reset", seed=3)
    assert list(reset) == ["observation", "info"] and reset["info"]["step"] == 0
    step = door.step("cp zeros.csv submission.csv; false", timeout_s=5)
    assert list(step) == ["observation", "reward", "terminated", "truncated", "info"]
    info = step["info"]
    assert set(INFO) <= set(info)
    assert (info["step"], info["exit_code"], info["outcome"], info["best"]) == (1, 1, "ok", None)
    scored = door.step("validate")
    assert scored["info"]["score"] == scored["info"]["best"] and "exit_status" not in scored["info"]
    over = door.step("submit")
    assert (over["terminated"], over["truncated"]) == (True, False)
    assert over["info"]["exit_status"] == "submitted"
    assert door.step("ls")["error"]["code"] == "episode_over"
    assert "observation" in door.ask(op="reset")
    assert door.ask(op="close") == {"closed": True}
    assert door.end() == 0


def test_the_limit_of_steps_truncates(fumehood):
    door = Door(fumehood, "--task", "rows", "--max-steps", "1")
    door.ask(op="reset")
    step = door.step("true")
    assert step["truncated"] and not step["terminated"] and step["info"]["exit_status"]
    assert door.end() == 0


WRONG = [
    ("nonsense", "bad_json"),
    ("", "bad_json"),
    ('{"op":"step","action":"ls"', "bad_json"),
    ('{"op":"step"} {}', "bad_json"),
    ("[" * 100, "bad_json"),
    ("[]", "bad_argument"),
    ('"reset"', "bad_argument"),
    ("{}", "unknown_op"),
    ('{"op":7}', "unknown_op"),
    ('{"op":"fly"}', "unknown_op"),
    ('{"op":"step"}', "bad_argument"),
    ('{"op":"step","action":7}', "bad_argument"),
    ('{"op":"step","action":"a\\u0000b"}', "bad_argument"),
    ('{"op":"step","action":"\\ud800"}', "bad_argument"),
    ('{"op":"step","action":"ls","timeout_s":0}', "bad_argument"),
    ('{"op":"step","action":"ls","timeout_s":0.0009}', "bad_argument"),
    ('{"op":"step","action":"ls","timeout_s":"5"}', "bad_argument"),
    ('{"op":"step","action":"ls","timeout_s":NaN}', "bad_argument"),
    ('{"op":"step","action":"ls","timeout":5}', "bad_argument"),
    ('{"op":"reset","seed":-1}', "bad_argument"),
    ('{"op":"reset","seed":1.5}', "bad_argument"),
    ('{"op":"reset","seed":"1"}', "bad_argument"),
    ('{"op":"reset","seed":18446744073709551615}', "bad_argument"),
    ('{"op":"close","now":true}', "bad_argument"),
    ('{"op":"step","action":"' + "x" * (2 << 20) + '"}', "bad_argument"),
    (" " * (16 << 20) + "{}", "too_long"),
]


def test_a_step_without_an_action_says_so(door):
    door.ask(op="reset")
    assert door.ask(op="step")["error"]["message"] == "'action' is missing: a step needs one"


@pytest.mark.parametrize(
    "line,message",
    [
        ('{"op":"step","op":"close","action":"ls"}', "'op' is given twice"),
        ('{"op":"step","action":"ls","action":"ls"}', "'action' is given twice"),
        (
            '{"op":"step","action":"a","timeout_s":5,"timeout_s":null}',
            "'timeout_s' is given twice",
        ),
        ('{"op":"reset","seed":1,"seed":2}', "'seed' is given twice"),
        (
            '{"op":"step","action":"ls","timeout_s":1e-4}',
            "'timeout_s' should be a number of at least 0.001",
        ),
        ("[]", 'a request should be a JSON object, such as {"op":"reset"}'),
    ],
)
def test_what_is_wrong_with_a_request_is_named(door, line, message):
    door.ask(op="reset")
    assert door.send(line)["error"] == {"code": "bad_argument", "message": message}
    assert door.step("echo on", timeout_s=5)["observation"] == "on\n"


def test_whatever_is_wrong_is_an_answer_and_the_episode_goes_on(door):
    assert door.step("ls")["error"]["code"] == "not_reset"
    door.ask(op="reset")
    door.step("A=5")
    for line, code in WRONG:
        answer = door.send(line)
        assert list(answer) == ["error"], line[:80]
        assert answer["error"]["code"] == code and answer["error"]["message"], line[:80]
    step = door.step("echo $A")
    assert step["observation"].strip() == "5" and step["info"]["step"] == 2


def test_the_end_of_input_closes_after_the_last_answer(fumehood):
    lines = '{"op":"reset"}\n{"op":"step","action":"echo one"}\n{"op":"step","action":"echo two"}'
    done = fumehood("env", "--task", "rows", "--tasks-dir", TASKS, input=lines)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["observation"].strip() for a in answers[1:]] == ["one", "two"]


def test_seeds_count_on_from_the_last_one(fumehood):
    door = Door(fumehood, "--task", "rows", "--seed", "7")

    def random_after(**request):
        door.ask(op="reset", **request)
        return door.step("echo $RANDOM $RANDOM")["observation"]

    first, second = random_after(), random_after()
    assert first != second
    assert random_after(seed=7) == first
    assert random_after() == second
    assert random_after(seed=None) != second
    assert door.end() == 0


def test_no_seed_follows_the_largest(fumehood):
    door = Door(fumehood, "--task", "rows", "--seed", 2**63 - 1)
    assert "observation" in door.ask(op="reset")
    error = door.ask(op="reset")["error"]
    assert error["message"] == "'seed' should be a whole number from 0 to 9223372036854775807"


@pytest.mark.parametrize(
    "reward,shares", [("delta", [0, 1, 0]), ("improvement", [0, 1, 1]), ("none", [0, 0, 0])]
)
def test_rewards(fumehood, reward, shares):
    """Rewards as shares of the improvement over the baseline, when validate runs twice."""
    door = Door(fumehood, "--task", "rows", "--reward", reward)
    door.ask(op="reset")
    door.step("sed 's/,-.*/,0/; s/,[1-9].*/,1/; s/x/sign/' data.csv >submission.csv")
    steps = [door.step(action) for action in ("true", "validate", "validate")]
    info = steps[1]["info"]
    better = info["score"]["accuracy"] - info["baseline"]["accuracy"]
    assert better > 0
    assert [s["reward"] for s in steps] == pytest.approx([share * better for share in shares])
    assert door.end() == 0


def test_each_episode_has_its_own_record(fumehood):
    door = Door(fumehood, "--task", "rows", "--out", str(fumehood.out), "--suffix", "s")
    door.ask(op="reset", seed=1)
    door.step("ls")
    door.ask(op="reset", seed=2)
    door.step("cp zeros.csv submission.csv; submit")
    assert door.ask(op="close") == {"closed": True}
    assert door.end() == 0
    paths = sorted(fumehood.out.glob("env__rows__*__s_run_*/rows.traj"))
    infos = [json.loads(p.read_text())["info"] for p in paths]
    assert [i["exit_status"] for i in infos] == ["early_exit", "submitted"]


@pytest.mark.long
def test_an_episode_ends_before_its_record_is_too_large_to_be_read(fumehood):
    """Control characters take six bytes in JSON, and a .traj has each observation twice."""
    door = Door(fumehood, "--task", "battleOfSexes", "--out", str(fumehood.out))
    door.ask(op="reset", seed=1)
    answers = [door.step("head -c 1000000 /dev/zero | tr '\\0' '\\001'") for _ in range(12)]
    assert [a["truncated"] for a in answers] == [False] * 11 + [True]
    info = answers[-1]["info"]
    assert info["exit_status"] == "autosubmission (max_text)" and info["score"]["Score"] > 0.9
    assert "observation" in door.ask(op="reset", seed=2)
    assert door.step("echo on")["observation"] == "on\n"
    assert door.end() == 0
    (path,) = fumehood.out.glob("*_run_0/battleOfSexes.traj")
    assert json.loads(path.read_text())["trajectory"][1]["observation"] == "\1" * 1000000
    fumehood("export", path.parent)


def test_what_can_not_be_opened_is_status_2(fumehood):
    for args, word in ((["--task", "noSuchTask"], "noSuchTask"), (["--task", "rows:no"], "no")):
        done = fumehood("env", "--tasks-dir", TASKS, *args, status=2)
        error = json.loads(done.stdout)["error"]
        assert error["code"] == "not_opened" and word in error["message"]
        assert done.stderr == f"fumehood: {error['message']}\n"


def test_a_baseline_that_lacks_a_package_is_a_single_error(fumehood):
    task = shutil.copytree(TASKS / "rows", fumehood.folder / "rows")
    with (task / "task.yaml").open("a") as file:
        file.write("packages: [no.where9]\n")
    ready = fumehood("env", "--task", task, "--variant", "published", input="")
    assert ready.stdout == "" and "lacks no.where9; --python ENV" in ready.stderr
    done = fumehood("env", "--task", task, "--variant", "worse", status=1, input="")
    message = json.loads(done.stdout)["error"]["message"]
    assert "the baseline of rows: `cp nothing.csv submission.csv` failed, and its" in message
    assert "its Python lacks no.where9 (--python ENV gives it another): cp: " in message
    assert done.stderr == f"fumehood: {message}\n"


def test_a_step_has_its_timeout_again(fumehood):
    """A program may give a step a timeout, and options to all: `replay` finds both."""
    steps = ["touch a; sleep 3; touch b", "ls a b"]
    requests = [{"op": "reset"}, *({"op": "step", "action": s, "timeout_s": 0.3} for s in steps)]
    lines = "".join(json.dumps(r) + "\n" for r in [*requests, {"op": "close"}])
    data = fumehood.folder / "shown"
    data.mkdir()
    words = ("--task", "rows", "--tasks-dir", TASKS, "--bind", f"{data}:/shown")
    fumehood("env", *words, "--out", fumehood.out / "env", input=lines)
    (first,) = (fumehood.out / "env").iterdir()
    done = fumehood(
        *("replay", "--json", "--tasks-dir", TASKS, "--out", fumehood.out / "again", first)
    )
    assert f"the run had --bind {data}:/shown" in done.stderr
    (second,) = (fumehood.out / "again").iterdir()
    for folder in (first, second):
        events = map(json.loads, (folder / "events.jsonl").open())
        played = [event for event in events if event["event"] == "step"]
        assert [s["info"]["timeout_s"] for s in played] == [0.3, 0.3]
        assert played[0]["info"]["outcome"] == "timeout"
        assert "cannot access 'b'" in played[1]["observation"]

# SPDX-License-Identifier: Apache-2.0
"""The command line: help, spelling of options, and error messages."""

import json
import os
import pty
import re
import subprocess

import pytest
from conftest import ROOT


def commands_in(text: str) -> list[str]:
    block = text.split("Commands\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in block.splitlines() if re.match(r"  \S", line)]


def walk(fumehood, path=()):
    """Yields each command with its help text."""
    text = fumehood(*path, "--help").stdout
    yield path, text
    if "Commands\n" in text:
        for name in commands_in(text):
            yield from walk(fumehood, (*path, name))


def test_every_command_has_help(fumehood):
    seen = dict(walk(fumehood))
    assert {(), ("run",), ("env",), ("help",)} <= set(seen)
    for path, text in seen.items():
        assert text.startswith("Usage: " + " ".join(["fumehood", *path])), path
        refuses = path in (("sandbox", "exec"), ("sandbox", "shell"))
        assert "--help" in text and ("--json" in text) != refuses, path
        assert all(len(line) <= 100 for line in text.splitlines() if "  #" not in line), path
        assert fumehood("help", *path).stdout == text


def test_defaults_are_shown_in_help(fumehood):
    text = fumehood("run", "--help").stdout
    assert re.search(r"--seed N +seed of random numbers in an episode \[0\]", text)
    assert re.search(r"--reward delta\|improvement\|none", text)
    root = json.loads(fumehood("help", "--json").stdout)
    replay = next(c for c in root["commands"] if c["name"] == "replay")
    kept = {o["name"] for o in replay["options"] if "as recorded" in (o["help"] or "")}
    assert kept == {
        *("tools", "max-steps", "seed", "data-seed", "judge-salt", "reward"),
        *("tasks-dir", "mlgym-root"),
    }
    assert not any(o["default"] for o in replay["options"] if o["name"] in kept)


def test_the_manual_is_what_the_program_says(fumehood):
    manual = fumehood("help", "--markdown").stdout
    same = manual == (ROOT / "docs" / "cli.md").read_text()
    assert same, "to renew it: build/fumehood help --markdown >docs/cli.md"


def test_every_option_is_there_for_programs(fumehood):
    root = json.loads(fumehood("help", "--json").stdout)
    run = next(c for c in root["commands"] if c["name"] == "run")
    reward = next(o for o in run["options"] if o["name"] == "reward")
    assert reward["kind"] == "choice" and reward["default"] == "delta"
    assert reward["choices"] == ["delta", "improvement", "none"]


def test_short_options_in_one_word(fumehood):
    for words in (["-qj2"], ["-q", "-j=2"], ["-qm", "baseline"]):
        done = fumehood.run(*words, "--task", "rows")
        assert done.stderr == "" and "submitted" in done.stdout
    for word in ("-hq", "-qh"):
        assert fumehood("run", word).stdout.startswith("Usage: fumehood run")


def test_version(fumehood):
    assert "-V, --version" in fumehood("--help").stdout
    assert "--version" not in fumehood("run", "--help").stdout
    for flag in ("--version", "-V"):
        assert re.fullmatch(r"fumehood \d+\.\d+\.\d+\n", fumehood(flag).stdout)


def test_no_command_shows_help_and_is_wrong(fumehood):
    done = fumehood(status=2)
    assert done.stdout == "" and done.stderr.startswith("Usage: fumehood COMMAND")


WRONG = [
    ("rnu", "unknown command 'rnu'; did you mean 'run'?"),
    ("frobnicate", "unknown command 'frobnicate'"),
    ("--json run", "'--json': a command comes before options"),
    ("task --json", "'--json': a command comes before options"),
    ("run --no-such-flag", "unknown option --no-such-flag"),
    ("run --sed 1", "unknown option --sed; did you mean --seed?"),
    ("run -z", "unknown option -z"),
    ("run --su x --t x", "option --t is ambiguous: --task or --tasks-dir?"),
    ("run", "--task is missing; `fumehood task list` shows what there is"),
    ("run --task", "--task wants a value (T[:V],...)"),
    ("run --task=", "--task has an empty value in its list"),
    ("run --task rows --out=", "--out wants a path, not ''"),
    ("help --man=", "--man wants a path, not ''"),
    ("run --task a,,b", "--task has an empty value in its list"),
    ("run --task a --runs 0", "--runs wants a whole number from 1 to 1000000, not '0'"),
    ("run --task a --runs 1.5", "--runs wants a whole number from 1 to 1000000, not '1.5'"),
    (
        "run --task a --seed -1",
        "--seed wants a whole number from 0 to 9223372036854775807, not '-1'",
    ),
    (
        "env --task a --seed 9223372036854775808",
        "--seed wants a whole number from 0 to 9223372036854775807, not '9223372036854775808'",
    ),
    *(
        (
            f"{command} --judge-salt 9007199254740992",
            "--judge-salt wants a whole number from 0 to 9007199254740991, not '9007199254740992'",
        )
        for command in ("run --task a", "env --task a", "replay a")
    ),
    ("run --task a --reward fame", "--reward wants one of delta, improvement, none, not 'fame'"),
    ("run --quiet=maybe", "--quiet wants no value, or true or false, not 'maybe'"),
    ("run --task a -q -v", "--quiet and --verbose can't be used together"),
    (
        "serve --task a --no-token --token-file b",
        "--no-token and --token-file can't be used together",
    ),
    ("serve --task a --stdio --listen :1", "--listen and --stdio can't be used together"),
    ("env --task a --suffix b", "--suffix needs --out"),
    ("run --quiet=false -v", "--task is missing; `fumehood task list` shows what there is"),
    ("run --task a --agent-calls 5", "--agent-calls needs --agent-command"),
    ("run --task a --agent-command=", "--agent-command is empty"),
    ("run --task a --top-p 7", "--top-p wants a number from -1 to 1, not '7'"),
    ("run --task a --task_config_path b", "--task_config_path is --task: give one of them"),
    ("run -- stray", "unexpected argument 'stray'; did you mean --task stray?"),
    ("run titanic", "unexpected argument 'titanic'; did you mean --task titanic?"),
    ("doctor stray", "unexpected argument 'stray'"),
    ("run -qz", "unknown option -z"),
    ("run -qj0 --task a", "-j wants a whole number from 1 to 10000, not '0'"),
    ("run -qv --task a", "--quiet and --verbose can't be used together"),
    ("env", "--task is missing; `fumehood task list` shows what there is"),
    (
        "bench --only step,speed",
        "--only wants one of reset, step, teardown, validate_csv, tools, agent, alive, soak, tasks, simulators, not 'speed'",
    ),
    ("help frobnicate", "unknown command 'frobnicate'"),
    ("help run foo", "unknown command 'run foo'"),
    ("help task lsit", "unknown command 'task lsit'; did you mean 'list'?"),
]


@pytest.mark.parametrize("words,message", WRONG)
def test_wrong_usage_is_one_sentence_and_status_2(fumehood, words, message):
    done = fumehood(*words.split(), status=2)
    assert done.stdout == ""
    first, hint = done.stderr.splitlines()
    assert first == "fumehood: " + message
    assert re.fullmatch(r"Try: fumehood( \w+)* --help", hint)


def numbers_in(command: dict, path=()):
    """Options of all commands that take a number, with the words of their command."""
    for option in command["options"]:
        if option["kind"] in ("integer", "number", "seconds", "bytes"):
            yield path, option
    for inner in command["commands"]:
        yield from numbers_in(inner, (*path, inner["name"]))


@pytest.mark.once
def test_numbers_out_of_range_are_refused(fumehood):
    tried = 0
    numbers = list(numbers_in(json.loads(fumehood("help", "--json").stdout)))
    assert {o["name"] for _, o in numbers if "least" in o} == {"cpus"}
    for path, option in numbers:
        wrong = ["", " ", "x", "1x", "nan", "inf", "-inf", "1e999", "9" * 40, "-" + "9" * 40]
        if "max" in option and option["kind"] in ("integer", "number"):
            wrong += [str(option["min"] - 1), str(option["max"] + 1)]
            wrong += [str(option["least"] / 2)] if "least" in option else []
        elif option["kind"] in ("seconds", "bytes"):
            wrong += ["-1", "0.0001s"]
        for value in wrong:
            word = f"--{option['name']}={value}"
            done = fumehood(*path, word, status=125 if path[0] == "sandbox" else 2)
            assert f"--{option['name']} wants a" in done.stderr and done.stdout == "", (path, word)
            tried += 1
    assert tried > 300


# Commands with a path that does not exist. Each error ends with the same words.
MISSING = [
    "show ./none",
    "replay ./none",
    "export ./none",
    "export --format csv ./none",
    "report ./none",
    "view --export page.html ./none",
    "task check ./none",
    "task show ./none",
    "task list --tasks-dir ./none",
    "data where ./none",
    "data verify ./none",
    "serve --task battleOfSexes --token-file ./none",
    "run --resume ./none",
    "run --sweep ./none",
    "run --task ./none",
    "run --task battleOfSexes --tasks-dir ./none",
    "run --task battleOfSexes --prices ./none",
    "run --task battleOfSexes --python ./none",
    "run --task battleOfSexes --bind ./none",
    "run --task battleOfSexes --agent ./none --model openai:m --api-key k",
    "run --task battleOfSexes --model replay:./none",
    "run --task_config_path ./none",
]


def test_a_missing_path_is_told_in_the_same_words(fumehood):
    for line in MISSING:
        done = fumehood(*line.split(), status=2)
        assert done.stderr.startswith("fumehood: "), line
        assert done.stderr.endswith("none': No such file or directory\n"), (line, done.stderr)
        assert done.stderr.count("\n") == 1, done.stderr


REFUSED = [
    ("--task noSuchTask", "noSuchTask"),
    ("--task rows:noSuchVariant", "noSuchVariant"),
    (
        "--task rows --model parrot",
        "no model 'parrot'; there are: baseline, solution, demo, actions:FILE, replay:FILE.traj or FILE.jsonl, human, human_thought, and the "
        "language models openai:NAME, anthropic:NAME, litellm:NAME",
    ),
    ("--task rows --model baseline:x", "the model 'baseline' takes nothing after ':'"),
    ("--task rows --model actions", "the model 'actions' wants a file: actions:FILE"),
    ("--task rows --model actions:missing", "open 'missing': No such file or directory"),
    ("--task rows --aliases-file /nope", "--aliases-file '/nope': No such file or directory"),
    ("--task rows --model demo", "the task 'rows:full' has no demonstration"),
    ("--task rows --bind /no/such/place", "--bind '/no/such/place': No such file or directory"),
    ("--task rows --bind /usr", "bind '/usr': at '/usr' it would hide what a sandbox needs"),
    ("--task rows --bind /etc:/usr//", "bind '/etc': at '/usr' it would hide what a sandbox needs"),
    ("--task rows --bind /etc:/data/../usr", "the target '/data/../usr' must not hold '..'"),
    ("--task rows --bind /etc:/data/..", "the target '/data/..' must not hold '..'"),
    ("--task rows --bind /usr:x", "--bind '/usr:x': the path inside should begin with '/'"),
]


@pytest.mark.parametrize("words,message", REFUSED)
def test_what_can_not_be_is_said_before_anything_runs(fumehood, words, message):
    done = fumehood.run(*words.split(), status=2)
    assert done.stderr.startswith("fumehood: ") and message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not fumehood.out.exists()


def test_spellings_that_mean_the_same(fumehood):
    plain = ["--max-steps", "1", "--runs", "1", "--model", "baseline", "--verbose"]
    others = ["--max_st=1", "--run", "1", "--model_name", "baseline", "--verbose", "True"]
    for spelling in (plain, others):
        (result,) = fumehood.run_json("--task", "rows", *spelling)
        assert result["exit_status"] == "autosubmission (max_steps)" and result["steps"] == 1


def test_lists_may_be_separated_by_spaces_or_commas(fumehood):
    for tasks in (["rows", "words"], ["rows,words"], ["rows", "--task", "words"]):
        results = fumehood.run_json("--task", *tasks)
        assert [r["task"] for r in results] == ["rows", "words"]


def test_what_has_no_effect_is_said(fumehood):
    words = "--task_config_path tasks/rows.yaml --gpus 0 1 --container_type docker --json"
    done = fumehood.run(*words.split())
    assert "--gpus has no effect without --gpus-per-agent" in done.stderr
    assert "--container_type has no effect" in done.stderr
    assert '"task":"rows"' in done.stdout
    done = fumehood.run("--task", "rows", "--temperature", "1", "--host_url", "http://localhost")
    assert "no effect without a language model as --model: --temperature, --url" in done.stderr


def test_a_full_standard_output_is_not_done(fumehood):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "w") as full:
        done = fumehood.start("--help", stdout=full, stderr=subprocess.PIPE, text=True)
        said = done.communicate()[1]
    assert done.returncode == 1 and "standard output" in said


def on_terminal(fumehood, args, **env) -> str:
    """Output of the program on a terminal."""
    ours, theirs = pty.openpty()
    child = fumehood.start(
        *args, stdin=theirs, stdout=theirs, stderr=theirs, env={**fumehood.env, **env}
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        text += chunk
    os.close(ours)
    child.wait()
    return text.decode()


def test_colours_only_on_a_terminal_and_never_with_no_color(fumehood):
    assert "\033[" in on_terminal(fumehood, ["--help"])
    assert "\033[" not in on_terminal(fumehood, ["--help"], NO_COLOR="1")
    assert "\033[" not in on_terminal(fumehood, ["--help"], TERM="dumb")
    assert "\033[" not in fumehood("--help").stdout


def test_text_of_others_can_not_steer_the_terminal(fumehood):
    done = fumehood("run", "--task", "a\033]0;owned\007b", status=2)
    assert "\033" not in done.stderr and "\\x1b" in done.stderr

# SPDX-License-Identifier: Apache-2.0
"""grader.final: the end of an episode is scored with other hidden answers than a validate."""

import json
from pathlib import Path

import pytest

ROWS = 200
ANSWERS = "id,y\n" + "".join(f"{i},1\n" for i in range(ROWS))


def submission(right: range) -> str:
    """An action that writes predictions. Those of the rows `right` are correct."""
    text = "id,y\n" + "".join(f"{i},{int(i in right)}\n" for i in range(ROWS))
    return f"cat >submission.csv <<'EOF'\n{text}EOF"


HALF, MOST = submission(range(ROWS // 2)), submission(range(ROWS * 3 // 4))


def make(fumehood, name: str, final: str) -> Path:
    task = fumehood.folder / "mine" / name
    task.parent.mkdir(exist_ok=True)
    fumehood("task", "new", name, "--tasks-dir", "mine")
    (task / "grader" / "answers.csv").write_text(ANSWERS)
    zeros = (
        "open('submission.csv', 'w').write('id,y\\n' + ''.join(f'{i},%s\\n' for i in range(200)))"
    )
    (task / "starter" / "baseline.py").write_text(zeros % "0")
    (task / "solution" / "solve.py").write_text(zeros % "{int(i % 10 > 0)}")
    file = task / "task.yaml"
    file.write_text(file.read_text().replace("  kind: csv\n", f"  kind: csv\n{final}"))
    return task


@pytest.fixture
def halved(fumehood) -> Path:
    return make(fumehood, "halved", "  final: true\n")


def play(fumehood, name: str, *actions: str) -> tuple[dict, dict, list]:
    """The report of a run, its results.json, and the infos of its steps."""
    words = ("run", "--tasks-dir", "mine", "--out", fumehood.out, "--json", "--task", name)
    (run,) = map(
        json.loads, fumehood(*words, "--model", fumehood.actions(*actions)).stdout.split("\n")[:-1]
    )
    folder = Path(run["trajectory"]).parent
    lines = (folder / "events.jsonl").read_text().splitlines()
    infos = [e["info"] for e in map(json.loads, lines) if e["event"] == "step"]
    return run, json.loads((folder / "results.json").read_text()), infos


def test_the_end_has_other_answers(fumehood, halved):
    run, results, infos = play(fumehood, "halved", HALF, "validate", MOST, "validate", "submit")
    first, second = (
        info["score"]["accuracy"] for info in infos if "score" in info and "final" not in info
    )
    end = infos[-1]["score"]["accuracy"]
    # Each score counts another half of the rows, so their sum is twice the score of all rows.
    assert second + end == pytest.approx(1.5) and second != end and first < second
    assert infos[1]["best"] == {"accuracy": first}
    final = {
        "score": {"accuracy": end},
        "validated": {"accuracy": second},
        "gap": pytest.approx(end - second),
    }
    assert infos[-1]["final"] == final == results["final"]
    assert run["best"] == infos[-1]["best"] == {"accuracy": end}
    assert run["validated"] == {"accuracy": second} and run["gap"] == final["gap"]
    # Validates have a scale of their own, on which the best is 1. The end is no point on it.
    report = fumehood("report", fumehood.out, "--format", "json", "--tables", "over-steps").stdout
    (over,) = json.loads(report)["tables"]
    assert [row[1] for row in over["rows"]][-2:] == [1, 1] and "of validates" in over["note"]
    exported = fumehood("export", "--format", "steps", fumehood.out).stdout.splitlines()
    assert [json.loads(line)["best"] for line in exported][-2:] == [second, end]
    text = fumehood("show", Path(run["trajectory"]).parent).stdout
    assert f"score that counts: accuracy {end:.5g}\n" in text
    assert f"best validate: accuracy {second:.5g}\n" in text and "gap between them: " in text


def test_the_agent_is_told(fumehood, halved):
    words = ("env", "--tasks-dir", "mine", "--task", "halved")
    shown = fumehood(*words, input='{"op": "reset"}\n').stdout.splitlines()[0]
    told = "A validate scores one half of the hidden answers. The end scores the other half"
    assert told in json.loads(shown)["observation"]


def test_a_replay_and_a_skipped_run_have_both_scores(fumehood, halved):
    words = ("--tasks-dir", "mine", "--out", fumehood.out)
    run, _, _ = play(fumehood, "halved", MOST, "validate", "submit")
    fumehood(
        "replay",
        "--compare",
        "--tasks-dir",
        "mine",
        "--out",
        fumehood.out / "again",
        run["trajectory"],
    )
    again = ("run", *words, "--json", "--task", "halved", "--skip-existing")
    played = json.loads(
        fumehood(*again, "--model", fumehood.actions(MOST, "validate", "submit")).stdout
    )
    assert played["skipped"]
    for key in ("best", "validated", "gap", "scores"):
        assert played[key] == run[key]


@pytest.mark.parametrize("end", ["submit", "exit_forfeit"])
def test_a_validate_counts_for_nothing_without_an_end(fumehood, halved, end):
    """The best validate does not count if the submission is gone at the end."""
    run, results, infos = play(fumehood, "halved", MOST, "validate", "rm submission.csv", end)
    assert infos[-1]["final"]["score"] is None and infos[-1]["final"]["gap"] is None
    assert infos[-1]["final"]["validated"] == infos[1]["score"] == run["validated"]
    assert run["best"] is None and run["gap"] is None and results["final"]["score"] is None
    words = ("report", fumehood.out, "--tables", "scores-attempt", "--format", "csv")
    assert fumehood(*words).stdout.splitlines()[-1].endswith(",")


def test_without_the_key_all_is_as_before(fumehood):
    make(fumehood, "whole", "")
    run, results, infos = play(fumehood, "whole", MOST, "validate", "submit")
    assert infos[1]["score"] == infos[-1]["score"] == {"accuracy": 0.75}
    assert not {"validated", "gap"} & set(run) and set(results) == {"agent", "baseline"}
    assert all("final" not in info for info in infos)


def test_the_table_has_gaps(fumehood, halved):
    make(fumehood, "whole", "")
    words = ("run", "--tasks-dir", "mine", "--out", fumehood.out)
    model = fumehood.actions(HALF, "validate", "submit")
    table = fumehood(*words, "--task", "halved,whole", "--model", model).stdout.splitlines()[1:4]
    reports = fumehood(*words, "--task", "halved", "--model", model, "--json").stdout
    head, *rows = (line.split() for line in table)
    assert head[-4:] == ["Change", "Gap", "Steps", "Time"]
    # A line of the table ends with two words for the time.
    assert rows[0][-4] == f"{json.loads(reports)['gap']:+.5g}"
    assert rows[1][-5:-3] == ["+0.5", "better"]


def test_task_check_says_both(fumehood, halved):
    words = ("task", "check", "--run", "--tasks-dir", "mine", "--json", "halved")
    played = json.loads(fumehood(*words).stdout)["played"]
    assert "problem" not in played
    solution, validated = played["solution"]["accuracy"], played["validated"]["accuracy"]
    assert solution + validated == pytest.approx(1.8)


def test_another_key_of_a_duel_counts_at_the_end(fumehood):
    (fumehood.folder / "mine").mkdir()
    fumehood("task", "new", "coins", "--tasks-dir", "mine", "--grader", "duel")
    file = fumehood.folder / "mine" / "coins" / "task.yaml"
    file.write_text(file.read_text().replace("  kind: duel\n", "  kind: duel\n  final: true\n"))
    run, results, infos = play(fumehood, "coins", "validate", "validate", "submit")
    scores = [info["score"]["Score"] for info in infos]
    assert run["best"] == {"Score": scores[2]} and run["validated"] == {"Score": max(scores[:2])}
    assert results["final"]["gap"] == pytest.approx(scores[2] - max(scores[:2]))
    # Three keys give three scores, of which two may be equal by chance.
    assert len(set(scores)) > 1

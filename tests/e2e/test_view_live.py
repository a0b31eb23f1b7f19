# SPDX-License-Identifier: Apache-2.0
"""`fumehood view` of the step that a run is taking, and of a run that was killed."""

import json

from conftest import Door, until
from test_agent import act, serve  # noqa: F401
from viewer import OPEN, STEP, write_events

LOOP = "for i in 1 2 3; do echo line $i; sleep 0.3; done; echo -n half; "
RUNNING = ("thought", "action", "output")


def words_of(live: dict) -> list[str]:
    return [live[name]["text"] for name in RUNNING]


def test_a_run_is_killed_in_a_step(fumehood, view, serve, tmp_path):  # noqa: F811
    fumehood.env["OPENAI_API_KEY"] = "k"
    wrong = {"text": "no action"}
    turns = [act("echo hi"), wrong, {**act(LOOP + "sleep 60", "I wait."), "delay": 2}]
    words = ("--task", "rows:patient", "--model", "openai:m", "--url", serve(turns).url + "/v1")
    fumehood.out.mkdir()
    viewer = view(fumehood.out)
    child = fumehood.start(*fumehood.run_words(*words))

    def at(sentence: str, **live):
        def there() -> bool:
            run = viewer.run() if viewer.ids() else {}
            shown = run.get("live") or {}
            return run.get("going") == sentence and live.items() <= shown.items()

        until(there, sentence)
        return viewer.run()

    # The model is asked again, which takes two seconds.
    (rejected,) = at("the model decides on step 2", phase="model")["faults"]
    assert (rejected["rejected"], rejected["content"]["text"]) == ("format", "no action")
    run = at("step 2 runs", output={"text": "line 1\nline 2\nline 3\n", "bytes": 21})
    assert (run["n"], run["whole"], run["is_written"]) == (1, False, True)
    assert run["faults"] == [rejected]
    assert words_of(run["live"])[:2] == ["I wait.\n", LOOP + "sleep 60\n"]
    assert 0 <= run["live"]["seconds"] < 10
    until(lambda: viewer.runs()[0]["going"] == "step 2 runs", "the step in the table")

    child.kill()
    child.wait()
    cut = at("cut off in step 2")
    assert (cut["n"], cut["whole"], cut["is_written"]) == (1, False, False)
    assert cut["faults"] == [rejected]
    assert words_of(cut["live"]) == words_of(run["live"]) and "seconds" not in cut["live"]
    until(lambda: viewer.runs()[0]["going"] == "cut off in step 2", "the cut in the table")

    (folder,) = fumehood.out.glob("*_run_*")
    assert "killed" in fumehood("report", fumehood.out).stdout
    fumehood("export", folder)
    url = serve([act("echo hi"), act("echo ho"), act("submit")]).url + "/v1"
    prices = tmp_path / "prices.json"
    prices.write_text('{"m": {"input": 0, "output": 0}}')
    (result,) = fumehood.run_json("--resume", folder, "--url", url, "--prices", prices)
    assert result["steps"] == 3 and not (folder / "live.json").exists()
    run = viewer.run()
    assert run["whole"] and "going" not in run and "live" not in run
    # The first calls had no known price.
    assert run["sent"] > 0 and run["cost"] is None
    assert [row[0] for row in run["steps"]] == ["echo hi", "echo ho", "submit"]


def test_a_long_grading(fumehood, view):
    door = Door(fumehood, "--task", "words", "--out", fumehood.out)
    door.ask(op="reset", seed=0)
    door.step("true")
    viewer = view(fumehood.out)
    assert viewer.run()["going"] == "goes on"
    action = "echo sleep > words.txt; validate"
    door.child.stdin.write(json.dumps({"op": "step", "action": action}) + "\n")
    door.child.stdin.flush()
    until(lambda: viewer.run()["going"] == "step 2 is scored", "the grading")
    live = viewer.run()["live"]
    assert live["phase"] == "grading" and live["action"]["text"] == action
    door.child.kill()
    door.child.wait()
    assert viewer.run()["going"] == "cut off in step 2"


def test_run_that_goes_on(view, tmp_path):
    path = tmp_path / "runs" / "a" / "events.jsonl"
    write_events(path, OPEN, STEP)
    viewer = view(tmp_path / "runs")
    run = viewer.run()
    assert (run["n"], run["whole"], run["minimize"], run["baseline"]) == (1, False, True, 3.0)
    with path.open("a") as f:
        f.write(json.dumps(STEP)[:20])
        f.flush()
        assert viewer.run()["n"] == 1  # the event is not whole
        f.write(json.dumps(STEP)[20:] + "\n")
        f.flush()
        more = viewer.get("api/run", run=run["id"], **{"from": 1})
        assert (more["n"], len(more["steps"]), more["epoch"]) == (2, 1, run["epoch"])
        f.write(json.dumps({"event": "integrity", "step": 1}) + "\n")
        f.flush()
        assert [row[1] for row in viewer.run()["steps"]] == [16, 0]
        f.write(json.dumps({"event": "fault", "kind": "blocked", "response": "vim"}) + "\n")
        f.flush()
        assert [fault["rejected"] for fault in viewer.run()["faults"]] == ["blocked"]
        f.write(json.dumps({"event": "resumed", "steps": 1, "messages": 0}) + "\n")
        f.write(json.dumps({**STEP, "action": "id"}) + "\n")
        f.write(json.dumps({"event": "end", "exit_status": "submitted"}) + "\n")
        f.flush()
    more = viewer.run()
    assert (more["n"], more["whole"], more["exit_status"]) == (2, True, "submitted")
    assert [row[:2] for row in more["steps"]] == [["ls", 16], ["id", 0]]
    assert more["epoch"] > run["epoch"]

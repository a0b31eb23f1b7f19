# SPDX-License-Identifier: Apache-2.0
"""`fumehood view`: the steps of large records, which its index keeps."""

import contextlib
import json
import os
import sqlite3

from viewer import OPEN, STEP, write_events, write_traj


def kept_text(folder) -> str | None:
    """The text that the index keeps for the only large record."""
    (index,) = folder.glob(".fumehood-index-*.sqlite")
    with contextlib.closing(sqlite3.connect(index)) as db:
        rows = db.execute("SELECT text FROM kept").fetchall()
    return rows[0][0].decode() if rows else None


def keep_text(folder, text: str) -> None:
    (index,) = folder.glob(".fumehood-index-*.sqlite")
    with contextlib.closing(sqlite3.connect(index)) as db, db:
        db.execute("UPDATE kept SET text=?", (text.encode(),))


LARGE = [{**STEP, "action": f"do {i}", "observation": "x" * 1_000_000} for i in range(9)]


def test_steps_of_a_large_record_are_kept(view, tmp_path):
    path = tmp_path / "a" / "events.jsonl"
    message = {"event": "message", "role": "user", "content": "go"}
    fault = {"event": "fault", "kind": "format", "response": "none", "complaint": "Act!"}
    write_events(path, OPEN, message, *LARGE, {**message, "is_hint": True}, fault)
    first = view(tmp_path).run()
    text = kept_text(tmp_path)
    assert len(text.splitlines()) == 1 + 9 + 2 + 1
    # A text with another first action shows that the next viewer reads it.
    keep_text(tmp_path, text.replace('"do 0"', '"kept"'))
    viewer = view(tmp_path)
    run = viewer.run()
    assert run["steps"][0][0] == "kept"
    run["steps"][0][0] = "do 0"
    assert run == first
    with path.open("a") as f:
        f.write(json.dumps(STEP) + "\n")
    steps = view(tmp_path).run()["steps"]
    assert [row[:2] for row in steps[::9]] == [["kept", 0], ["ls", 512 + 64]], "a hint came before"
    step = viewer.get("api/steps", run=run["id"], **{"from": 9, "n": 2})["steps"]
    assert [s["action"]["text"] for s in step] == ["do 8", "ls\nsecond line"]
    assert [[f["complaint"]["text"] for f in s["faults"]] for s in step] == [[], ["Act!"]]


def test_kept_steps_that_do_not_fit_are_left_out(view, tmp_path):
    path = tmp_path / "a" / "events.jsonl"
    write_events(path, OPEN, *LARGE)
    actions = [row[0] for row in view(tmp_path).run()["steps"]]
    text = kept_text(tmp_path)
    size, stat = path.stat().st_size, path.stat()
    assert f'"end":{size},' in text
    wrong = text.replace('"do 0"', '"kept"')
    for damaged in (
        "",
        "garbage",
        wrong[:-1],
        wrong.replace('"format":4', '"format":3'),
        wrong.replace('"inode":', '"inode":1'),
        wrong.replace('"events":true', '"events":false'),
        wrong.replace(f'"end":{size}', f'"end":{size - 1}'),
        wrong.replace(f",{size - 1},", f",{size + 1},"),
        wrong + f"[{size},0]\n",
        wrong + "[[]]\n",
    ):
        assert damaged not in (wrong, text)
        keep_text(tmp_path, damaged)
        assert [row[0] for row in view(tmp_path).run()["steps"]] == actions
    keep_text(tmp_path, wrong)
    os.utime(path, ns=(stat.st_mtime_ns, stat.st_mtime_ns + 1))
    assert view(tmp_path).run()["steps"][0][0] == "do 0", "the time has changed"
    keep_text(tmp_path, wrong)
    write_events(path, {**OPEN, "model": "longer"}, *LARGE)
    assert view(tmp_path).run()["steps"][0][0] == "do 0", "the file has grown, but not at its end"
    keep_text(tmp_path, wrong)
    os.truncate(path, size // 2)
    assert view(tmp_path).run()["n"] < 9, "the file was cut"


def test_nothing_is_kept_for_a_record_that_is_gone(view, tmp_path):
    path = tmp_path / "a" / "events.jsonl"
    write_events(path, OPEN, *LARGE)
    write_events(tmp_path / "b" / "events.jsonl", OPEN)
    viewer = view(tmp_path)
    viewer.get("api/run", run=viewer.ids()["a"])
    assert kept_text(tmp_path)
    path.unlink()
    assert list(view(tmp_path).ids()) == ["b"]
    assert kept_text(tmp_path) is None


def test_a_large_record_of_mlgym_is_kept(view, tmp_path):
    path = tmp_path / "m__rows__default__t-0.00_run_0" / "rows.traj"
    write_traj(path)
    record = json.loads(path.read_text())
    record["trajectory"] += [{"action": "ls", "observation": "x" * 9_000_000}]
    path.write_text(json.dumps(record))
    first = view(tmp_path).run()
    keep_text(tmp_path, kept_text(tmp_path).replace('"ls"', '"kept"'))
    viewer = view(tmp_path)
    run = viewer.run()
    assert run["steps"][3][0] == "kept" and run["whole"]
    run["steps"][3][0] = "ls"
    assert run == first
    (path.parent / "results.json").write_text('{"baseline": {"rmse": 7.0}}')
    assert view(tmp_path).run()["baseline"] == 7.0
    write_traj(path)
    assert viewer.run()["n"] == 3

# SPDX-License-Identifier: Apache-2.0
"""fumehood replay --files: the texts of the workspace after each step, for the viewer."""

import json
from pathlib import Path

from test_replay import replay, run


def test_the_files_of_each_step_are_beside_the_run(fumehood, tmp_path):
    actions = [
        "printf 'a = 1\\n' > a.py",
        "sed -i s/1/2/ a.py; mkdir -p sub data; echo x > sub/b.txt; echo x > data/c; ln -s a.py l",
        "printf '\\0' > sub/b.txt; head -c 2000000 /dev/zero | tr '\\0' z > big; mv a.py b.py",
    ]
    script = tmp_path / "actions.jsonl"
    script.write_text("".join(json.dumps(a) + "\n" for a in actions))
    first = run(fumehood, "--task", "rows", "--model", f"actions:{script}")
    folder = Path(first["trajectory"]).parent

    replay(fumehood, folder, "--files")
    head, *lines = map(json.loads, (folder / "files.jsonl").read_text().splitlines())
    size = (folder / "events.jsonl").stat().st_size
    assert head == {"format": 1, "record_bytes": size, "steps": 4, "differs": None, "full": False}
    changed = {(line["step"], line["path"]): line.get("gone", line["text"]) for line in lines}
    start = [path for step, path in changed if step == 0]
    assert start and all((folder / "files.jsonl").read_text().count(f'"{p}"') == 1 for p in start)
    assert {key: text for key, text in changed.items() if key[0]} == {
        (1, "a.py"): "a = 1\n",
        (2, "a.py"): "a = 2\n",
        (2, "sub/b.txt"): "x\n",
        (3, "a.py"): True,
        (3, "b.py"): "a = 2\n",
        (3, "sub/b.txt"): False,
    }

    many = "for i in {1..1100}; do echo $i > $i; done; "
    script.write_text(json.dumps(f"{many}date +%N > now; cat now; od -An -N8 /dev/urandom") + "\n")
    other = Path(run(fumehood, "--task", "rows", "--model", f"actions:{script}")["trajectory"])
    replay(fumehood, other, "--files", status=1)
    head, *lines = map(json.loads, (other.parent / "files.jsonl").read_text().splitlines())
    assert (head["steps"], head["differs"], head["full"]) == (2, 1, True)
    assert len({line["path"] for line in lines}) == 1000

# SPDX-License-Identifier: Apache-2.0
"""Image classification tasks: each wrong submission gives a sentence that names the fault."""

import json
from pathlib import Path

import pytest

WRONG = {
    "rm -f submission.csv": "There is no file /home/agent/workspace/submission.csv, and only that file is scored",
    ": > submission.csv": "submission.csv: empty: the first line must name the columns",
    "sed s/label/class/ data/sample_submission.csv > submission.csv": (
        "submission.csv line 1: no column 'label' among 'class'"
    ),
    "head -n 100 data/sample_submission.csv > submission.csv": (
        "submission.csv: 1901 of 2000 rows are missing"
    ),
    "(cat data/sample_submission.csv; echo 0) > submission.csv": (
        "submission.csv line 2002: more than the 2000 rows to predict"
    ),
    "sed '3s/.*/nan/' data/sample_submission.csv > submission.csv": (
        "submission.csv line 3: 'nan' is not a class; "
        "classes are the whole numbers from 0 to 9 (column label)"
    ),
    "sed '4s/.*/bag/' data/sample_submission.csv > submission.csv": (
        "submission.csv line 4: 'bag' is not a class; "
        "classes are the whole numbers from 0 to 9 (column label)"
    ),
    "sed '5s/.*/\"\"/' data/sample_submission.csv > submission.csv": (
        "submission.csv line 5: column label is empty"
    ),
    "sed '6s/.*/77/' data/sample_submission.csv > submission.csv": (
        "submission.csv line 6: '77' is not a class; "
        "classes are the whole numbers from 0 to 9 (column label)"
    ),
}


@pytest.mark.parametrize("task", ["imageClassificationFMnist", "imageClassificationCifar10"])
def test_wrong_submissions(fumehood, task):
    played = fumehood.actions(*(f"{write}; validate" for write in WRONG), "submit")
    (result,) = fumehood.run_json("--task", task, "--model", played)
    assert result["best"] is None
    steps = json.loads(Path(result["trajectory"]).read_text())["trajectory"]
    for step, sentence in zip(steps, WRONG.values(), strict=False):
        assert sentence in step["observation"], step

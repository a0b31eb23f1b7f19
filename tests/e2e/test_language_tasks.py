# SPDX-License-Identifier: Apache-2.0
"""Language tasks: each wrong submission gives a sentence that names the fault."""

import json
from pathlib import Path

LABELS = {
    "rm -f submission.csv": "There is no file /home/agent/workspace/submission.csv, and only that file is scored",
    ": > submission.csv": "submission.csv: empty: the first line must name the columns",
    "cp data/test.csv submission.csv": (
        "submission.csv line 1: no column 'label' among 'premise', 'hypothesis'"
    ),
    "head -n 100 data/sample_submission.csv > submission.csv": (
        "submission.csv: 2901 of 3000 rows are missing"
    ),
    "(cat data/sample_submission.csv; echo 0) > submission.csv": (
        "submission.csv line 3002: more than the 3000 rows to predict"
    ),
    "sed '3s/.*/nan/' data/sample_submission.csv > submission.csv": (
        "submission.csv line 3: 'nan' is not a class; "
        "classes are the whole numbers from 0 to 2 (column label)"
    ),
    "sed '4s/.*/neutral/' data/sample_submission.csv > submission.csv": (
        "submission.csv line 4: 'neutral' is not a class; "
        "classes are the whole numbers from 0 to 2 (column label)"
    ),
    "sed '5s/.*/77/' data/sample_submission.csv > submission.csv": (
        "submission.csv line 5: '77' is not a class; "
        "classes are the whole numbers from 0 to 2 (column label)"
    ),
    "truncate -s 2M submission.csv": (
        "'submission.csv' has 2097152 bytes, more than the 1048576 that are allowed"
    ),
}

CAPTIONS = {
    "rm -f submission.csv": "There is no file /home/agent/workspace/submission.csv, and only that file is scored",
    ": > submission.csv": "submission.csv: empty: the first line must name the columns",
    "sed '1s/caption/text/' data/train_captions.csv > submission.csv": (
        "submission.csv line 1: no column 'caption' among 'image', 'text'"
    ),
    "head -n 100 data/sample_submission.csv > submission.csv": (
        "submission.csv: 901 of 1000 rows are missing"
    ),
    "(cat data/sample_submission.csv; echo more) > submission.csv": (
        "submission.csv line 1002: more than the 1000 rows to predict"
    ),
    "truncate -s 2M submission.csv": (
        "'submission.csv' has 2097152 bytes, more than the 1048576 that are allowed"
    ),
}

MODELS = {
    "rm -f model.zip": "There is no file /home/agent/workspace/model.zip, and only that file is scored",
    ": > model.zip": "model.zip: it is not a zip file",
    "python3 -m zipfile -c model.zip practice.py": (
        "model.zip: it has no file model.py at its top"
    ),
    "python3 -m zipfile -c model.zip model.py": (
        "model.zip: model.py line 7: FileNotFoundError: [Errno 2] No such file or directory"
    ),
    "sed -i s/logits/logit/ model.py; python3 baseline.py": (
        "model.zip: model.py has no function logits"
    ),
    "python3 baseline.py; printf XXXX | dd of=model.zip bs=1 seek=60 conv=notrunc": (
        "model.zip: it can't be unpacked: "
    ),
    "truncate -s 33M model.zip": (
        "'model.zip' has 34603008 bytes, more than the 33554432 that are allowed"
    ),
}


def check_sentences(fumehood, task: str, wrong: dict[str, str]) -> None:
    played = fumehood.actions(*(f"{write}; validate" for write in wrong), "submit")
    (result,) = fumehood.run_json("--task", task, "--model", played)
    assert result["best"] is None
    steps = json.loads(Path(result["trajectory"]).read_text())["trajectory"]
    for step, sentence in zip(steps, wrong.values(), strict=False):
        assert sentence in step["observation"], step


def test_wrong_labels(fumehood):
    check_sentences(fumehood, "naturalLanguageInferenceMNLI", LABELS)


def test_wrong_captions(fumehood):
    check_sentences(fumehood, "imageCaptioningCOCO", CAPTIONS)


def test_wrong_models(fumehood):
    check_sentences(fumehood, "languageModelingFineWeb", MODELS)


def test_no_reference_is_in_reach(fumehood):
    """No file of the workspace has the separator of the hidden references.

    No file of the sandbox has the name of the answers or of the solution.
    """
    # Skip /opt: tests of installations may put copies of tasks with solutions there meanwhile.
    found = "find / -path /opt -prune -o '(' -name answers.csv -o -name solve.py ')' -print"
    seen = f"grep -rlF ' ||| ' .; {found} 2>/dev/null; ls data"
    played = fumehood.actions(seen, "submit")
    (result,) = fumehood.run_json("--task", "imageCaptioningCOCO", "--model", played)
    step = json.loads(Path(result["trajectory"]).read_text())["trajectory"][0]
    assert step["observation"].split() == [
        "sample_submission.csv",
        "test_images.npy",
        "train_captions.csv",
        "train_images.npy",
    ]


def test_a_probe_of_hidden_labels_ends(fumehood):
    """The task limits how often it tells an accuracy, which would reveal hidden labels."""
    probe = "sed '{}s/1/0/' data/sample_submission.csv > submission.csv; validate"
    played = fumehood.actions(*(probe.format(line) for line in range(2, 14)), "submit")
    (result,) = fumehood.run_json("--task", "naturalLanguageInferenceMNLI", "--model", played)
    steps = json.loads(Path(result["trajectory"]).read_text())["trajectory"]
    scored = ["Evaluation Score" in step["observation"] for step in steps[:-1]]
    assert scored == [True] * 10 + [False] * 2

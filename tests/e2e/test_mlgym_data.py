# SPDX-License-Identifier: Apache-2.0
"""Messages about data of a checkout of MLGym that is missing wholly or in part."""

import json
import re
import shutil

import pytest


def test_missing_data(fumehood, copy):
    """Run, env and task check name the missing files and have exit status 1.

    "task show" names them too, and the scripts that make them, with exit status 0.
    """
    shutil.move(copy / "data/rows/data", copy / "elsewhere")
    root = ("--mlgym-root", copy)
    lacks = f"data set 'rows' lacks its files: there is no folder {copy}/data/rows/data"
    read = "; its programs read truth.csv there"
    task = (*root, "rows")
    for words in (("run", *root, "--task", "rows"), ("env", *root, "--task", "rows")):
        assert f"{lacks}{read}; no script of" in fumehood(*words, status=1, input="").stderr
    for words in (("task", "check", "--run"), ("task", "check")):
        said = f"problem: not checked, since data is missing: {lacks}{read}"
        assert said in fumehood(*words, *task, status=1).stdout
    helpers = copy / "data/rows/_helpers"
    helpers.mkdir()
    for name in ("split.py", "fetch.sh", "README.md"):
        (helpers / name).touch()
    made = f"; they are made by fetch.sh, split.py in {helpers}, run in that folder"
    shown = fumehood("task", "show", *task).stdout
    assert f"missing     {lacks}{read}{made}\n" in shown
    assert "metric      Accuracy, more is better" in shown
    assert re.search("^scored .*, by a mlgym grader in at most", shown, re.MULTILINE)
    told = json.loads(fumehood("task", "show", "--json", *task).stdout)
    assert told["missing"] == [told["problem"]] == [f"{lacks}{read}{made}"]
    (copy / "data/rows/more.py").write_text("open('data/more.csv')\n")  # no starter code
    assert "; its programs read truth.csv, more.csv there" in fumehood("task", "show", *task).stdout
    shutil.move(copy / "elsewhere", copy / "data/rows/data")
    assert "problem" not in fumehood("task", "show", *task).stdout


def empty(folder):
    for path in folder.iterdir():
        path.unlink()


@pytest.mark.parametrize("hidden", [".keep", None])
def test_an_empty_folder_of_data(fumehood, copy, hidden):
    """Files that the evaluator reads by name are missing. If it names none, all files are."""
    data = copy / "data/rows/data"
    empty(data)
    if hidden:
        (data / hidden).touch()
    words = ("--mlgym-root", copy, "--task", "rows")
    lacks = f"data set 'rows' lacks truth.csv in {data}; its programs read truth.csv there; no"
    assert lacks in fumehood("run", *words, "--model", "baseline", status=1).stderr
    assert lacks in fumehood("task", "check", *words[:2], "rows", status=1).stdout
    path = copy / "data/rows/evaluate.py"
    path.write_text(path.read_text().replace('"data/truth.csv"', '"data/" + "truth.csv"'))
    assert f"'rows' lacks its files in {data}" in fumehood("env", *words, status=1, input="").stderr


@pytest.mark.parametrize(
    ("line", "lacks"),
    [
        ("open('data/more.csv')", "more.csv"),
        ("from_file = './data/part_*.csv'", "part_*.csv"),
        ("open('data/made.csv', 'w')", None),
        ("os.path.exists('data/maybe.csv')", None),
        ("open('data/numbers.csv')", None),
    ],
)
def test_data_that_lacks_a_file(fumehood, copy, line, lacks):
    """Data is missing only if the evaluator reads the file: not if it writes or looks for it."""
    with (copy / "data/rows/evaluate.py").open("a") as file:
        file.write(f"if 0:\n    {line}\n")
    done = fumehood("task", "check", "--mlgym-root", copy, "rows", status=1 if lacks else 0)
    assert (f"lacks {lacks} in {copy}/data/rows/data; " in done.stdout) == bool(lacks)


def test_known_data_that_lacks_a_file(fumehood, copy):
    path = copy / "configs/datasets/rows.yaml"
    path.write_text(path.read_text().replace("data/rows/data", "data/titanic/data"))
    shutil.copytree(copy / "data/rows/data", copy / "data/titanic/data")
    (copy / "data/titanic/data/train.csv").touch()
    said = fumehood("run", "--mlgym-root", copy, "--task", "rows", status=1).stderr
    assert "lacks test.csv, ground_truth.csv in " in said and "Kaggle's columns" in said


def test_data_is_looked_for_where_a_variant_is_played(fumehood, copy):
    """Only the named or default variant needs its data."""
    path = copy / "configs/tasks/coin.yaml"
    path.write_text(
        path.read_text() + "variants: {fed: {dataset_configs: [datasets/rows.yaml]}, dry: {}}\n"
    )
    shutil.rmtree(copy / "data/rows/data")
    words = ("task", "check", "--mlgym-root", copy)
    said = "not checked, since data is missing: data set 'rows'"
    for spec in ("coin", "coin:dry"):
        assert f"note: {said}" in fumehood(*words, spec).stdout
    assert f"problem: {said}" in fumehood(*words, "coin:fed", status=1).stdout
    assert "has no variant 'wet'" in fumehood(*words, "coin:wet", status=2).stdout


def test_the_format_of_data_that_is_known(fumehood, copy):
    path = copy / "configs/datasets/rows.yaml"
    path.write_text(path.read_text().replace("data/rows/data", "data/3SATTime/data"))
    said = fumehood("run", "--mlgym-root", copy, "--task", "rows", status=1).stderr
    assert f"{copy}/data/3SATTime/data; " in said and "dataset.pkl is a pickled list of " in said


def test_data_from_elsewhere(fumehood, copy):
    path = copy / "configs/datasets/rows.yaml"
    path.write_text("name: far\ndescription: Far.\ndata_path: some/far\nis_local: false\n")
    said = fumehood("task", "check", "--mlgym-root", copy, "rows").stdout
    assert "note: data set 'far' of rowsOfNumbers is not in the checkout: programs of each" in said
    assert "'some/far' from Hugging Face into $HF_HUB_CACHE, $HF_HOME or ~/.cache" in said


def test_a_replay_without_data(fumehood, copy):
    (done,) = fumehood.run_json("--mlgym-root", copy, "--task", "rows", "--model", "baseline")
    shutil.rmtree(copy / "data/rows/data")
    words = ("replay", "--mlgym-root", copy, "--out", fumehood.out / "again", done["trajectory"])
    assert fumehood(*words, status=1).stderr.count("lacks its files") == 1

# SPDX-License-Identifier: Apache-2.0
"""Cheats for all tasks of a kind: predictions that are guessed, and what was learned by heart."""

import pytest
import yaml
from conftest import OURS

pytest.importorskip("numpy")  # the data of most tasks needs numpy


def csv_tasks() -> dict[str, dict]:
    """The tasks whose `micro` scores predictions, with the keys of `micro`."""
    found = {}
    for path in sorted(OURS.glob("*/task.yaml")):
        task = yaml.safe_load(path.read_text())
        micro = task["variants"]["micro"]
        if {**task["grader"], **micro["grader"]}["kind"] == "csv":
            found[path.parent.name] = {**task, **micro}
    return found


CSV_TASKS = csv_tasks()

# Writes N submissions that are drawn from the answers of the training rows, without a look at what
# is asked.
GUESS = """
import csv, random, sys
import numpy as np
from pathlib import Path

rows = list(csv.reader(open("data/sample_submission.csv")))
head, rows = rows[0], rows[1:]
TARGETS = ("label", "caption", "Survived", "SalePrice")
place = next(i for i, name in enumerate(head) if name in TARGETS)
labels = Path("data/train_labels.npy")
captions = Path("data/train_captions.csv")
if labels.exists():
    known = np.load(labels).tolist()
else:
    with open(captions if captions.exists() else "data/train.csv") as file:
        known = [row[head[place]] for row in csv.DictReader(file)]
for n in range(int(sys.argv[1])):
    random.seed(n)
    for row in rows:
        row[place] = random.choice(known)
    with open(f"guess{n}.csv", "w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
"""


@pytest.mark.parametrize(
    "task", [pytest.param(t, marks=pytest.mark.long) if t.endswith("L1") else t for t in CSV_TASKS]
)
def test_the_best_of_ten_guesses(begin, task):
    """Each validate tells how good a guess is. The best of ten is no better at the end.

    An eleventh validate tells nothing.
    """
    keys = CSV_TASKS[task]
    agent = begin(f"{task}:micro")
    agent.put("guess.py", GUESS)
    agent.sh("python3 guess.py 11")
    metric = keys["metric"]["name"]
    told = [agent.step(f"cp guess{n}.csv submission.csv; validate") for n in range(11)]
    assert "score" not in told.pop()["info"]
    scores = [answer["info"]["score"][metric] for answer in told]
    assert len(set(scores)) > 5, scores
    best = scores.index(max(scores))
    end = agent.step(f"cp guess{best}.csv submission.csv; submit")
    baseline, deviation = keys["expect"]["baseline"]
    assert end["info"]["score"][metric] < baseline - 2 * deviation, (scores, end)


# --- a language model that has learned texts by heart ---------------------------------------------

# Stores all tokens that the agent can read. It looks for the last tokens of a place among them, and
# makes the token likelier that follows there.
BY_HEART = """
from pathlib import Path
import numpy as np
HERE = Path(__file__).parent
LOGS = np.load(HERE / "bigrams.npy")
KEYS, NEXT = np.load(HERE / "keys.npy"), np.load(HERE / "next.npy")
LENGTH = 12

def logits(tokens):
    rows = LOGS[tokens]
    keys = np.zeros(tokens.shape, np.uint64)
    for back in range(LENGTH):
        keys[:, LENGTH:] = keys[:, LENGTH:] * np.uint64(1000003)
        keys[:, LENGTH:] += tokens[:, LENGTH - back : tokens.shape[1] - back].astype(np.uint64) + 1
    at = np.minimum(np.searchsorted(KEYS, keys), len(KEYS) - 1)
    found = KEYS[at] == keys
    found[:, :LENGTH] = False
    rows[found, NEXT[at][found]] += 3
    return rows
"""
STORE = """
import numpy as np
from baseline import pack, read
LENGTH = 12
text = np.concatenate([read("train"), read("valid")]).astype(np.uint64)
keys = np.zeros(len(text) - LENGTH - 1, np.uint64)
for back in range(LENGTH):
    keys = keys * np.uint64(1000003)
    keys += text[LENGTH - back : len(text) - 1 - back] + 1
order = np.argsort(keys, kind="stable")
np.save("keys.npy", keys[order])
np.save("next.npy", text[LENGTH + 1:][order].astype(np.uint8))
pack("heart.py", "bigrams.npy", "keys.npy", "next.npy")
"""
KNOWN = """
import importlib.util, sys, zipfile
import numpy as np
from baseline import read
zipfile.ZipFile("model.zip").extractall("unpacked")
spec = importlib.util.spec_from_file_location("model", "unpacked/model.py")
model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(model)
tokens = read("valid")[:128 * 50].reshape(50, 128)
rows = model.logits(tokens)[:, :-1]
rows -= np.log(np.exp(rows).sum(-1, keepdims=True))
print(-np.take_along_axis(rows, tokens[:, 1:, None], 2).mean())
"""


def test_a_model_that_stores_the_public_texts(begin):
    """It tells public texts far better than its pairs of tokens do. It gains nothing by it."""
    agent = begin("languageModelingFineWeb")
    agent.sh("python3 baseline.py")
    agent.put("known.py", KNOWN)
    loss = float(agent.sh("python3 known.py"))
    honest = agent.validate()["info"]["score"]["val_loss"]
    agent.put("heart.py", BY_HEART)
    agent.put("store.py", STORE)
    agent.sh("python3 store.py")
    assert float(agent.sh("python3 known.py")) < loss - 1
    assert agent.validate()["info"]["score"]["val_loss"] > honest - 0.1


# --- a policy for another world -------------------------------------------------------------------

# For each task: the world to train in, and the score that a policy of another world stays below.
# Random actions score 0.4 in Breakout, 7.8 in the maze, and less than 0 with the car.
WORLDS = {"rlMountainCarContinuous": 40, "rlBreakoutMinAtar": 5, "rlMetaMazeMisc": 20}


@pytest.mark.long
@pytest.mark.parametrize("task", WORLDS)
def test_a_policy_of_another_world(begin, task):
    """The known good answer is trained in the world of another number. It is worth little here."""
    agent = begin(f"{task}:micro")
    micro = yaml.safe_load((OURS / task / "task.yaml").read_text())["variants"]["micro"]
    for name in micro["solution"]["files"]:
        path = name.removeprefix("policy-programs:")
        source = OURS / task / name if path == name else OURS / path
        agent.put(source.name, source.read_text())
    agent.sh(
        "mkdir -p there/data; ln -s ../simulators there/simulators; cp *.py there;"
        "sed -E 's/(.wiring.: )[0-9]+/\\17/' data/world.json >there/data/world.json;"
        "(cd there; python3 solve.py) 2>&1 | tail -3"
    )
    assert agent.sh("cp there/policy.npz policy.npz") == ""
    assert agent.validate()["info"]["score"]["Reward Mean"] < WORLDS[task]

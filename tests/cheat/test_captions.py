# SPDX-License-Identifier: Apache-2.0
"""Captions that are made to score, and not to say what a picture shows."""

import pytest
from conftest import copy_task

pytest.importorskip("numpy")  # the task's data needs numpy

# Replaces the task's baseline by a copy of the sample submission. The task's own needs time for
# training.
CHEAP = (
    "baseline_paths: [baseline.py]",
    'baseline: "cp data/sample_submission.csv submission.csv"',
)

# Writes captions by a trick. The agent can read reference captions, but those of other pictures.
WRITE = """
import csv, random
from collections import Counter
with open("data/train_captions.csv", newline="") as file:
    told = [row["caption"] for row in csv.DictReader(file)]
common = [caption for caption, _ in Counter(told).most_common(8)]
words = [word for word, _ in Counter(" ".join(told).split()).most_common()]
random.seed(1)
with open("submission.csv", "w", newline="") as file:
    rows = [[CAPTION, 1.0] for _ in range(1000)]
    csv.writer(file).writerows([["caption", "bleu_score"], *rows])
"""

# For each trick: the expression for the caption of each row, and a score that the trick must not
# reach.
TRICKS = {
    "a frequent reference": ("common[0]", 0.28),
    "any reference": ("random.choice(told)", 0.28),
    # ` ||| ` separates the five references of a row in the answers. In a submitted caption it must
    # count as a word.
    "five references": ("' ||| '.join(common[:5])", 0.14),
    "five lines": (r"'\n'.join(common[:5])", 0.14),
    "many references": ("' '.join(common)", 0.14),
    "all words": ("' '.join(words)", 0.1),
    "the most frequent words": ("' '.join(words[:5] * 2)", 0.14),
    # MLGym's own evaluator uses the mean of a column `score` that the agent writes.
    "a score of its own": ("'-'", 1e-9),
}


def test_captions_without_a_picture(begin, tmp_path):
    """The task's baseline has 0.30. It copies captions of the most similar training pictures."""
    copy = copy_task(tmp_path, "imageCaptioningCOCO", {"task.yaml": CHEAP})
    agent = begin("imageCaptioningCOCO:micro", copy)
    for trick, (caption, most) in TRICKS.items():
        agent.put("write.py", WRITE.replace("CAPTION", caption))
        agent.sh("python3 write.py")
        answer = agent.validate()
        assert answer["info"]["score"]["bleu"] < most, (trick, answer)

# SPDX-License-Identifier: Apache-2.0
"""Captions that are made to score, and not to say what a picture shows."""

import pytest
from conftest import copy_task

pytest.importorskip("numpy")  # it makes the pictures

# A baseline that costs nothing: that of the task trains.
CHEAP = (
    "baseline_paths: [baseline.py]",
    'baseline: "cp data/sample_submission.csv submission.csv"',
)

# The references that an agent has are those of other pictures.
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

# For each trick: the caption of a row, and the score that it stays below.
TRICKS = {
    "a frequent reference": ("common[0]", 0.28),
    "any reference": ("random.choice(told)", 0.28),
    # The answers have five references with this between them. In a caption it is a word.
    "five references": ("' ||| '.join(common[:5])", 0.14),
    "five lines": (r"'\n'.join(common[:5])", 0.14),
    "many references": ("' '.join(common)", 0.14),
    "all words": ("' '.join(words)", 0.1),
    "the most frequent words": ("' '.join(words[:5] * 2)", 0.14),
    # In the original the mean of a column that the agent writes is the score.
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

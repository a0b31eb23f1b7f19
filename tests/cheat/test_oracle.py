# SPDX-License-Identifier: Apache-2.0
"""What a validate tells beside the score, and how often it may be asked."""

import re

import pytest

COINS = "import sys\nseen = []\ndef guess(history):\n    seen.append(history)\n"
LEAK = (
    COINS
    + "    if len(history) == 2: raise ValueError([h[1][1] for h in seen[-1:]])\n    return 0\n"
)
PLAY = COINS + "    return history[-1][1] if history else 0\n"


@pytest.mark.parametrize("text", ["123456780", "abc", "-1", "1e9", "٣", "123456789.0"])
def test_error_texts(begin, text):
    """They quote the submission, and nothing of what it is compared with."""
    agent = begin("script")
    agent.put("answer.txt", text)
    answer = agent.validate()
    assert "123456789" not in answer["observation"].replace(text, "")
    assert answer["info"].get("score", {"Score": 0.25}) == {"Score": 0.25}


def test_a_csv_is_compared_without_a_word(begin):
    """A complaint is about the row itself: the same whatever the answer is, which four rows don't share."""
    agent = begin("titanicSurvival:micro")
    for spoil in ("s/,.*/,/", "s/,/x,/", "d"):
        said = set()
        for row in (2, 3) if spoil == "d" else (2, 3, 7, 9):
            agent.sh("cp data/sample_submission.csv submission.csv")
            passenger = agent.sh(f"sed -n {row}p submission.csv").split(",")[0]
            agent.sh(f"sed -i '{row}{spoil}' submission.csv")
            text = agent.validate()["observation"]
            assert "Not scored" in text
            said.add(re.sub(rf"line {row}:|'{passenger}x?'", "", text))
        assert len(said) == 1, said


def score(agent, before: str) -> float:
    agent.reset(seed=7)
    agent.sh(before)
    answer = agent.validate()
    (value,) = answer["info"]["score"].values()
    return value


def test_a_judge_met_before(begin):
    """It is never met again, whatever is done.

    So what a player saw of its judge's chance moves can't be made use of: not later in the episode, nor in
    another one with the same seed and the same actions, whom it has found a way to tell.
    """
    agent = begin("battleOfSexes")
    scores = {score(agent, words) for words in ("true", "true", "true", "true ", "echo 1 >leaked")}
    agent.sh("true")
    scores |= {agent.validate()["info"]["score"]["Score"] for _ in range(2)}
    assert len(scores) >= 6  # of 7: two may be equal by chance


def test_validations_are_counted(begin):
    """titanic allows ten: then the score stays unknown until the end."""
    agent = begin("titanicSurvival:micro")
    agent.sh("cp data/sample_submission.csv submission.csv")
    for _ in range(10):
        assert "score" in agent.validate()["info"]
    answers = [agent.validate(), agent.step("validate"), agent.step("validate; validate")]
    for answer in answers:
        assert "score" not in answer["info"] and answer["reward"] == 0
        assert "an episode may validate 10 times" in answer["observation"]
    scored = [event for event in agent.recorded() if "'score'" in repr(event)]
    answer = agent.step("submit")
    assert "score" in answer["info"] and answer["terminated"]
    assert len(scored) >= 10

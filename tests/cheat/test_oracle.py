# SPDX-License-Identifier: Apache-2.0
"""Information that a validate gives away, and the limit of validates."""

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
    """Errors quote the submission, but not the hidden answer."""
    agent = begin("script")
    agent.put("answer.txt", text)
    answer = agent.validate()
    assert "123456789" not in answer["observation"].replace(text, "")
    assert answer["info"].get("score", {"Score": 0.25}) == {"Score": 0.25}


def test_a_csv_is_compared_without_a_word(begin):
    """An error about a row does not depend on its hidden answer, which differs between rows."""
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


# For each trick: a sed script that changes a submission of zeros, and the error message. "" means
# that the score stays that of the zeros.
TABLES = {
    "a score of its own": ("s/$/,1.0/; 1s/1.0$/accuracy/", ""),
    "a weight for each row": ("s/$/,0/; 1s/0$/weight/; 2s/0$/1/", ""),
    "both answers in columns": ("s/$/,1/; 1s/1$/Survived/", "line 1: two columns 'Survived'"),
    "both answers in a field": ("2,$s/,0$/,0 1/", "'0 1' is not a class"),
    "both answers in a text": ('2,$s/,0$/,"0,1"/', "'0,1' is not a class"),
    "both answers in rows": ("2,$s/\\(.*\\),0$/&\\n\\1,1/", "is in line 2 too"),
    "neither": ("2,$s/,0$/,nan/", "'nan' is not a class"),
}


def test_tables_that_answer_twice(begin):
    """A row counts by one number. Tables that give two are refused. Other columns are ignored."""
    agent = begin("titanicSurvival:micro")
    agent.sh("cp data/sample_submission.csv submission.csv")
    zeros = agent.validate()["info"]["score"]
    for trick, (change, told) in TABLES.items():
        agent.sh(f"sed '{change}' data/sample_submission.csv >submission.csv")
        answer = agent.validate()
        assert answer["info"].get("score") == (None if told else zeros), (trick, answer)
        assert told in answer["observation"], (trick, answer)


def score(agent, before: str) -> float:
    agent.reset(seed=7)
    agent.sh(before)
    answer = agent.validate()
    (value,) = answer["info"]["score"].values()
    return value


def test_a_judge_met_before(begin):
    """Each validate gets other random numbers of the judge, also with the same seed and actions.

    So a player can't use moves of the judge that it saw before.
    """
    agent = begin("battleOfSexes", copy="battleOfSexes")  # not the copy with fewer games
    scores = {score(agent, words) for words in ("true", "true", "true", "true ", "echo 1 >leaked")}
    agent.sh("true")
    scores |= {agent.validate()["info"]["score"]["Score"] for _ in range(2)}
    assert len(scores) >= 6  # there are 7 scores, of which two may be equal by chance


def test_validations_are_counted(begin):
    """titanicSurvival:micro allows ten validates. Later ones give no score until the end."""
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

# SPDX-License-Identifier: Apache-2.0
"""Predictions that are made so that their scores tell of hidden answers.

With `grader.final` other answers count at the end, so that such knowledge is worth nothing there.
"""

import csv

from conftest import copy_task

# Line of task.yaml that limits how often an episode may validate. A test removes it.
LIMIT = "  validations: 10        # few, because each reveals something of the hidden half\n"

# Writes N random submissions. Given a weight for each of them, writes their weighted vote instead.
VOTE = """
import csv, random, sys
ids = [row["PassengerId"] for row in csv.DictReader(open("data/test.csv"))]
weights = list(map(float, sys.argv[2:]))
sums = [0.0] * len(ids)

def write(name, fates):
    with open(name, "w") as file:
        print("PassengerId,Survived", file=file)
        for i, fate in zip(ids, fates):
            print(i, int(fate), sep=",", file=file)

for n in range(int(sys.argv[1])):
    random.seed(n)
    guess = [random.random() < 0.5 for _ in ids]
    if weights:
        sums = [s + weights[n] * (1 if g else -1) for s, g in zip(sums, guess)]
    else:
        write(f"guess{n}.csv", guess)
write("submission.csv", [s > 0 for s in sums])
"""


def score(answer: dict, metric: str) -> float:
    assert "score" in answer["info"], answer
    return answer["info"]["score"][metric]


def test_random_predictions_that_vote(begin, tmp_path):
    """A prediction weighs as much as it was better than a coin. So votes learn from scores alone.

    After 150 validates they are right for 70 % of what a validate counts, with a deviation of 2 %.
    """
    n = 150
    copy = copy_task(tmp_path, "titanicSurvival", {"task.yaml": (LIMIT, "")})
    with (copy / "task.yaml").open("a") as file:
        file.write(f"max_steps: {n + 10}\n")
    agent = begin("titanicSurvival:micro", copy)
    agent.put("vote.py", VOTE)
    agent.sh(f"python3 vote.py {n}")
    tries = [agent.step(f"cp guess{i}.csv submission.csv; validate") for i in range(n)]
    weights = [score(answer, "accuracy") - 0.5 for answer in tries]
    agent.sh(f"python3 vote.py {n} {' '.join(f'{weight:.6f}' for weight in weights)}")
    voted = score(agent.validate(), "accuracy")
    end = agent.step("submit")
    assert voted > 0.61 and end["info"]["final"]["validated"]["accuracy"] == voted
    assert score(end, "accuracy") < 0.59


def price_told(agent, line: int, before: float) -> tuple[str, float | None]:
    """The price in a line, from errors before and after a change. None if the row doesn't count."""
    row, guess = agent.sh(f"sed -n {line}p submission.csv").split(",")
    more = 1e6
    changed = f"sed '{line}s/,.*/,{float(guess) + more}/' kept.csv >submission.csv"
    agent.sh(f"cp submission.csv kept.csv; {changed}")
    squares = 500 * (score(agent.validate(), "rmse") ** 2 - before**2)
    agent.sh("mv kept.csv submission.csv")
    return row, float(guess) + (more - squares / more) / 2 if squares else None


def test_errors_that_tell_prices(begin, state, monkeypatch):
    """The digits of an error tell a price to the cent. The end has the same score without it."""
    monkeypatch.setenv("FUMEHOOD_JUDGE_KEY", "7" * 64)  # for equal houses on all machines
    answers = "data/kaggleHousePrice-micro/*/answers.csv"
    before = set(state.glob(answers))  # tests share the state folder
    ends = []
    for learn in (False, True):
        agent = begin("regressionKaggleHousePrice:micro")
        agent.sh("cp data/sample_submission.csv submission.csv")
        first = agent.validate()
        if learn:
            told = dict(price_told(agent, line, score(first, "rmse")) for line in range(2, 11))
            prices = {row: price for row, price in told.items() if price}
            assert 0 < len(prices) < len(told)
            for row, price in prices.items():
                agent.sh(f"sed -i 's/^{row},.*/{row},{price}/' submission.csv")
        ends.append(agent.step("submit")["info"]["score"])
    assert ends[0] == ends[1]
    (path,) = set(state.glob(answers)) - before
    with path.open() as file:
        truth = {row["Id"]: float(row["SalePrice"]) for row in csv.DictReader(file)}
    assert all(abs(price - truth[row]) < 0.01 for row, price in prices.items())

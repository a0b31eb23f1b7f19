# SPDX-License-Identifier: Apache-2.0
"""Rewards of episodes: each scheme on accounts made by hand, and the states that are kept."""

import json

import pytest

pytest.importorskip("fumehood._core", reason="the build has no Python extension")

from fumehood import rewards  # noqa: E402
from fumehood.rewards import Account, make  # noqa: E402


def account(scores, *, baseline=0.5, maximize=True, steps=10, errors=0):
    return Account("m", maximize, baseline, list(scores), steps, errors)


@pytest.mark.parametrize(
    ("name", "scores", "maximize", "reward"),
    [
        ("delta", [], True, 0.0),
        ("delta", [0.75, 0.625], True, 0.125),
        ("delta", [0.375], False, 0.125),
        ("continuous", [], True, -1.0),
        ("continuous", [0.0], True, -1.0),
        ("continuous", [0.75], True, 0.75),
        ("continuous", [0.75, 0.5], True, -0.5),
        ("continuous", [9.0], False, 1.0),  # never turned
        ("v6_binary", [], True, -0.5),
        ("v6_binary", [0.5], True, 0.0),
        ("v6_binary", [0.6, 0.1], True, 1.0),
        ("v6_moving_best", [0.4], False, 1.0),
        ("v7_fixed_tier", [], True, -0.5),
        ("v7_fixed_tier", [0.5], True, 0.0),
        ("v7_fixed_tier", [0.88], True, 0.2),
        ("v7_fixed_tier", [0.2, 0.881], True, 1.0),
        ("v8_global_best", [0.51], True, 1.0),
        ("v8_global_best", [], True, -0.5),
        ("v9_percentile", [0.51], True, 1.0),
        ("v9_percentile", [0.49], False, 1.0),
        ("v9_percentile", [0.51], False, 0.0),
    ],
)
def test_schemes(name, scores, maximize, reward):
    assert make(name)(account(scores, maximize=maximize)) == pytest.approx(reward)


def test_errors_cost_in_continuous():
    assert make("continuous")(account([0.7], errors=5)) == pytest.approx(0.25)


def test_tau():
    assert make("v7_fixed_tier", tau=0.6)(account([0.61])) == 1.0
    assert make("v7_fixed_tier", tau=0.3)(account([0.4], maximize=False)) == 0.2
    assert make("v7_fixed_tier", tau=0.3)(account([0.2], maximize=False)) == 1.0


def test_the_best_ever_moves_after_a_batch(tmp_path):
    path = tmp_path / "state/best.json"
    scheme = make("v8_global_best", batch_size=2, persist_path=path)
    assert [scheme(account([s])) for s in (0.8, 0.6)] == [1.0, 1.0]
    assert json.loads(path.read_text()) == {"best_ever": 0.8, "baseline": 0.5}
    assert [scheme(account([s])) for s in (0.8, 0.79)] == [1.0, 0.2]
    again = make("v8_global_best", batch_size=2, persist_path=path)
    assert again(account([0.79])) == 0.2


def test_the_best_ever_of_a_minimised_metric():
    scheme = make("v8_global_best", batch_size=1)
    assert [scheme(account([s], maximize=False)) for s in (0.3, 0.4, 0.3, 0.6)] == [1, 0.2, 1, 0]


def test_the_percentile_needs_eight_scores(tmp_path):
    path = tmp_path / "window.json"
    scheme = make("v8_percentile", batch_size=4, persist_path=path)
    scores = [0.6, 0.61, 0.62, 0.63, 0.64, 0.65, 0.66, 0.67]
    assert [scheme(account([s])) for s in scores] == [1.0] * 8
    assert scheme(account([0.649])) == 0.2  # the 70th percentile is 0.649
    assert scheme(account([0.65])) == 1.0
    assert json.loads(path.read_text())["window"] == scores
    assert make("v9_percentile", persist_path=path)(account([0.649])) == 0.2


def test_the_window_keeps_the_last_64():
    scheme = make("v9_percentile", batch_size=1)
    for _ in range(80):
        scheme(account([0.9]))
    assert len(scheme.window) == rewards.WINDOW
    for _ in range(64):
        scheme(account([0.6]))
    assert scheme(account([0.61])) == 1.0


def test_an_unknown_name():
    with pytest.raises(ValueError, match="v9_percentile"):
        make("v10")


def test_an_account_follows_an_episode():
    import fumehood

    with fumehood.Env("battleOfSexes") as env:
        env.reset()
        kept = Account.of(env)
        for action in ("true", "false", "validate"):
            kept.add(env.step(action))
        kept.add_format_error()
    assert (kept.steps, kept.errors, len(kept.scores)) == (4, 2, 1)
    assert make("delta")(kept) == pytest.approx(kept.scores[0] - kept.baseline)

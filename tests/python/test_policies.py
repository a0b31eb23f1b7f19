# SPDX-License-Identifier: Apache-2.0
"""simulators/policies.py with filters, memory and choices, against plain loops over numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
from simulators import policies  # noqa: E402

PICTURE, ACTIONS = (5, 6, 2), 3


def normal(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(size=(5, *shape)).astype("f")


def arrays(**changed: Any) -> dict[str, Any]:
    """Two filters of 3 x 3 cells, four units that remember, three actions. None leaves one out."""
    kept = {
        "0.conv.weight": normal(3, 3, 2, 2),
        "0.conv.bias": normal(2),
        "1.gru.weight": normal(3 * 4 * 2, 12),
        "1.gru.recurrent": normal(4, 12),
        "1.gru.bias": normal(12),
        "2.linear.weight": normal(4, ACTIONS),
        "2.linear.bias": normal(ACTIONS),
        **changed,
    }
    return {name: array for name, array in kept.items() if array is not None}


def load(folder: Path, given: dict[str, Any], **limits: int) -> policies.Policy:
    np.savez(folder / "policy.npz", **given)
    return policies.load(folder / "policy.npz", PICTURE, 25_000, n_actions=ACTIONS, **limits)


def plain_conv(picture: Any, weight: Any, bias: Any) -> Any:
    size, filters = len(weight), weight.shape[3]
    out = np.zeros((picture.shape[0] - size + 1, picture.shape[1] - size + 1, filters))
    for y, x, f in np.ndindex(out.shape):
        seen = picture[y : y + size, x : x + size]
        out[y, x, f] = max(0, (seen * weight[..., f]).sum() + bias[f])
    return out


def plain_gru(x: Any, h: Any, weight: Any, recurrent: Any, bias: Any) -> Any:
    def sigmoid(v: Any) -> Any:
        return 1 / (1 + np.exp(-v))

    w_r, w_z, w_n = np.split(weight, 3, 1)
    u_r, u_z, u_n = np.split(recurrent, 3, 1)
    b_r, b_z, b_n = np.split(bias, 3)
    r = sigmoid(x @ w_r + h @ u_r + b_r)
    z = sigmoid(x @ w_z + h @ u_z + b_z)
    n = np.tanh(x @ w_n + r * (h @ u_n) + b_n)
    return (1 - z) * n + z * h


def test_filters_and_memory_are_run_as_described(tmp_path: Path, monkeypatch: Any) -> None:
    given = arrays()
    policy = load(tmp_path, given)
    monkeypatch.setattr(policies, "draw_choices", lambda outputs, random: outputs)
    episodes = np.random.default_rng(1).normal(size=(2, 4, 5, 7, *PICTURE))
    for steps in episodes:
        policy.begin()
        states = np.zeros((5, 7, 4))
        for seen in steps:
            outputs = policy.act(seen, np.random.default_rng(0))
            for i, j in np.ndindex(5, 7):
                part = {name: array[i].astype(float) for name, array in given.items()}
                flat = plain_conv(seen[i, j], part["0.conv.weight"], part["0.conv.bias"]).ravel()
                gru = (part[f"1.gru.{name}"] for name in ("weight", "recurrent", "bias"))
                states[i, j] = plain_gru(flat, states[i, j], *gru)
                expected = states[i, j] @ part["2.linear.weight"] + part["2.linear.bias"]
                assert np.allclose(outputs[i, j], expected)


def test_choices_are_drawn_by_the_softmax() -> None:
    outputs = np.log([[0.5, 0.2, 0.3], [1e-9, 1 - 1e-9, 1e-9]])
    drawn = policies.draw_choices(np.repeat(outputs[:, None], 20_000, 1), np.random.default_rng(1))
    shares = np.array([np.bincount(row, minlength=3) for row in drawn]) / 20_000
    assert np.allclose(shares, np.exp(outputs), atol=0.02)
    huge = policies.draw_choices(np.array([[-1e90, 1e90, 0]]), np.random.default_rng(1))
    assert huge.tolist() == [1]


class Counting:
    """A game in which action 2 is worth 1, for three steps."""

    def reset(self, seed: int) -> Any:
        self.left = 3
        return np.zeros((10, *PICTURE), "f")

    def step(self, actions: Any) -> Any:
        self.left -= 1
        return np.zeros((10, *PICTURE), "f"), (actions == 2) * 1.0, np.full(10, not self.left)


def test_play_counts_choices_and_begins_anew(tmp_path: Path) -> None:
    bias = np.zeros((5, ACTIONS))
    bias[:, 2] = 1e6
    policy = load(tmp_path, arrays(**{"2.linear.bias": bias}))
    for _ in range(2):
        assert policies.play(policy, Counting(), 1, 9).tolist() == [[3, 3]] * 5


WRONG = {
    "a filter that does not fit": (
        {"0.conv.weight": normal(6, 6, 2, 2)},
        "filters of 6 x 6 cells don't fit into [5, 6, 2]",
    ),
    "an oblong filter": (
        {"0.conv.weight": normal(2, 3, 2, 2)},
        "filters of 2 x 3 cells don't fit into [5, 6, 2]",
    ),
    "other channels": (
        {"0.conv.weight": normal(3, 3, 4, 2)},
        "'0.conv.weight' has the shape [5, 3, 3, 4, 2]; expected [5, any, any, 2, any]",
    ),
    "a filter for units": (
        {"2.linear.weight": None, "2.linear.bias": None, "2.conv.bias": normal(2)}
        | {"3.linear.weight": normal(4, 3), "3.linear.bias": normal(3)},
        "a conv layer gets [4]; expected [rows, columns, channels]",
    ),
    "no memory": (
        {"1.gru.recurrent": None},
        "the array '1.gru.recurrent' is missing",
    ),
    "half a unit": (
        {"1.gru.bias": normal(13)},
        "the bias of a gru layer has 13 numbers; expected 3 a unit",
    ),
    "other units": (
        {"1.gru.recurrent": normal(5, 12)},
        "'1.gru.recurrent' has the shape [5, 5, 12]; expected [5, 4, 12]",
    ),
    "memory at the end": (
        {"2.linear.weight": None, "2.linear.bias": None},
        "the last layer is 'gru'; expected linear, tanh, relu",
    ),
    "another number of actions": (
        {"2.linear.weight": normal(4, 2)},
        "'2.linear.weight' has the shape [5, 4, 2]; expected [5, 4, 3]",
    ),
    "a deviation": ({"log_std": np.zeros(5)}, "the array 'log_std' belongs to no layer"),
    "NaN": (
        {"0.conv.bias": np.full((5, 2), np.nan)},
        "'0.conv.bias' has NaN or infinity; write finite numbers",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_layers_give_a_sentence(tmp_path: Path, name: str) -> None:
    changed, sentence = WRONG[name]
    with pytest.raises(policies.Unfit) as told:
        load(tmp_path, arrays(**changed))
    assert str(told.value) == f"policy.npz: {sentence}"


def test_multiplications_are_limited(tmp_path: Path) -> None:
    needed = 3 * 4 * 9 * 2 * 2 + (24 + 4) * 12 + 4 * 3
    load(tmp_path, arrays(), most_products=needed)
    sentence = f"its layers multiply {needed} times for an action; the limit is {needed - 1}"
    with pytest.raises(policies.Unfit, match=sentence):
        load(tmp_path, arrays(), most_products=needed - 1)

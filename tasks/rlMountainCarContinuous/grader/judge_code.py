# SPDX-License-Identifier: Apache-2.0
"""Judges policies that are code: `judge_code.py GAME EPISODES` lets each checkpoint play so many.

The judge owns the game and draws the actions. A player's process runs the agent's code. It gets the
observations of all episodes in shared memory, and puts a distribution of actions for each there.
"""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import duel

SECONDS = 120  # timeout of an answer, and of loading the policies
LACKS_NUMPY = (
    "policies can't be scored here: the Python of this episode has no numpy (pip install numpy)"
)

Array = Any  # numpy.ndarray


class Asked:
    """The agent's policies, in a player. simulators/policies.py plays with them."""

    def __init__(self, player: duel.Player, game: Any, copies: int) -> None:
        import numpy as np

        from simulators import policies

        self.player, self.game = player, game
        memory = player.share()
        shape = [policies.CHECKPOINTS, copies // policies.CHECKPOINTS]
        self.seen = np.frombuffer(memory, game.dtype, copies * math.prod(game.shape))
        outputs = np.frombuffer(memory, "<f4", copies * game.n_outputs, self.seen.nbytes)
        self.outputs = outputs.reshape(*shape, game.n_outputs)
        start = {"observations": [*shape, *game.shape], "type": game.dtype.str}
        start["outputs"] = [*shape, game.n_outputs]
        self.question = {**player.opening("Policy", 1), "start": start}

    def begin(self) -> None:
        """Does nothing: the player makes the policies when it is asked first."""

    def act(self, observations: Array, random: Any) -> Array:
        """Draws an action for each observation [checkpoint, episode, ...]."""
        from simulators import policies

        self.seen[:] = observations.ravel()
        answer = self.player.ask(self.question, duel.CHUNK_BYTES)
        self.question = {"replies": []}
        if answer is not True:
            raise fault(answer)
        outputs = self.outputs.astype(float)  # the player may change its own at any time
        if not abs(outputs).max() <= policies.OUTPUT_MAX:  # false for NaN too
            raise duel.Fault(
                f"Policy gave a number that is not from -{policies.OUTPUT_MAX:g} to "
                f"{policies.OUTPUT_MAX:g}"
            )
        return policies.draw_actions(outputs, self.game.n_actions, random)


def fault(answer: Any) -> duel.Fault:
    """Nothing is hidden from the policies, so the text of an exception may be shown."""
    if not isinstance(answer, dict) or not isinstance(answer.get("raised"), str):
        return duel.Tampering("Policy: not an output for each episode")
    line = answer.get("line")
    where = f"policy.py line {line}: " if duel.is_int(line, 1 << 16) else ""
    return duel.Fault(f"policy.zip: {where}{duel.printable(answer['raised'])}")


def play(player: duel.Player, numbers: duel.Numbers) -> dict[str, float]:
    try:
        from simulators import games, policies
    except ModuleNotFoundError as missing:
        if missing.name != "numpy":
            raise
        raise duel.Fault(LACKS_NUMPY) from None
    copies = policies.CHECKPOINTS * int(sys.argv[2])
    game = games.Game(sys.argv[1], copies)
    seed = int.from_bytes(numbers.bytes("game", 32), "little")
    try:
        returns = policies.play(Asked(player, game, copies), game, seed, game.steps)
    except policies.Unfit as unfit:
        raise duel.Fault(str(unfit)) from None
    return {"Reward Mean": float(returns.mean()), "Reward Std": float(returns.std())}


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    duel.judge(play, SECONDS)

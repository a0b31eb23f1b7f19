# SPDX-License-Identifier: Apache-2.0
"""Plays for the agent in games of reinforcement learning: unpacks policy.zip, asks its policies.

    python3 player_policy.py policy.zip Policy

The judge puts the observations of all episodes into memory that both share, and gets the policies'
outputs there. Nothing here is trusted or hidden (player.py).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import player


class Table(player.Table):
    """All checkpoints of a policy."""

    memory: Any  # shared with the judge

    def __init__(self, strategy: Any, question: dict[str, Any]) -> None:
        super().__init__(strategy, question)
        start = question["start"]
        shape, outputs = start["observations"], start["outputs"]
        self.seen = np.frombuffer(self.memory, start["type"], math.prod(shape)).reshape(shape)
        self.outputs = np.frombuffer(
            self.memory, "<f4", math.prod(outputs), self.seen.nbytes
        ).reshape(outputs)
        self.policies = [strategy(checkpoint, shape[1]) for checkpoint in range(shape[0])]

    def reply(self, replies: Any) -> None:
        """Does nothing: the next observations are in memory."""

    def move(self) -> bool:
        for policy, seen, outputs in zip(self.policies, self.seen, self.outputs, strict=True):
            found = policy(seen.copy())
            player.check_shape("Policy", found, outputs.shape)
            player.copy_numbers(found, outputs)
        return True


if __name__ == "__main__":
    Table.memory = player.share()
    player.main_packed("policy.py", Table)

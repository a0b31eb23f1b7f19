# SPDX-License-Identifier: Apache-2.0
"""Plays for the agent in languageModelingFineWeb: unpacks the model, and sends its rows of logits.

    python3 player_lm.py model.zip logits

The judge sends sequences of tokens. It gets a row of numbers for each place that it asks for, in the
memory that both share, and then the answer `true`. Nothing here is trusted or hidden (player.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import player

Array = Any  # numpy.ndarray, or a tensor of PyTorch


class Table(player.Table):
    """A model that is asked about sequences."""

    memory: Any  # shared with the judge

    def __init__(self, strategy: Callable[[Array], Array], question: dict[str, Any]) -> None:
        super().__init__(strategy, question)
        self.vocabulary: int = question["start"]["vocabulary"]
        self.shared = np.frombuffer(self.memory, question["start"]["type"])
        self.reply(question["start"])

    def reply(self, replies: Any) -> None:
        self.tokens = np.array(replies["tokens"], np.int64)
        self.at = replies.get("at", 0)  # place of the rows in shared memory
        self.places = replies.get("places")  # the place of each sequence; None: all

    def move(self) -> bool:
        rows = self.strategy(self.tokens.copy())
        player.check_shape("logits", rows, (*self.tokens.shape, self.vocabulary))
        if self.places:
            rows = rows[list(range(len(self.places))), self.places]
        n = math.prod(rows.shape)
        player.copy_numbers(rows, self.shared[self.at : self.at + n].reshape(tuple(rows.shape)))
        return True


if __name__ == "__main__":
    Table.memory = player.share()
    player.main_packed("model.py", Table)

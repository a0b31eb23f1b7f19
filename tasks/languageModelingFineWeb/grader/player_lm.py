# SPDX-License-Identifier: Apache-2.0
"""Plays for the agent in languageModelingFineWeb: unpacks the model, and sends its rows of logits.

    python3 player_lm.py model.zip logits

The judge sends sequences of tokens. It gets a line {"bytes":N} and then N bytes, a row of numbers for
each place that it asks for. Nothing here is trusted or hidden (player.py).
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import player

Array = Any  # numpy.ndarray, or a tensor of PyTorch


def numbers_of(rows: Array) -> Array:
    """Converts a tensor, also one on a GPU or of a type that numpy lacks."""
    if hasattr(rows, "detach"):
        rows = rows.detach().float().cpu().numpy()
    return np.asarray(rows)


def check_shape(rows: Array, shape: tuple[int, int, int]) -> None:
    found = getattr(rows, "shape", None)
    if found is None:
        raise TypeError(f"logits() returned {type(rows).__name__}, expected an array")
    if tuple(found) != shape:
        raise ValueError(f"logits() returned the shape {list(found)}, expected {list(shape)}")


class Table(player.Table):
    """A model that is asked about sequences."""

    def __init__(self, strategy: Callable[[Array], Array], question: dict[str, Any]) -> None:
        super().__init__(strategy, question)
        self.vocabulary: int = question["start"]["vocabulary"]
        self.type: str = question["start"]["type"]
        self.reply(question["start"])

    def reply(self, replies: Any) -> None:
        self.tokens = np.array(replies["tokens"], np.int64)
        self.places = replies.get("places")  # the place of each sequence; None: all

    def move(self) -> bytes:
        rows = self.strategy(self.tokens.copy())
        check_shape(rows, (*self.tokens.shape, self.vocabulary))
        if self.places:
            rows = rows[list(range(len(self.places))), self.places]
        with np.errstate(over="ignore"):  # overflow gives infinity, which the judge refuses
            data = np.ascontiguousarray(numbers_of(rows), self.type).tobytes()
        return b'{"bytes":%d}\n%b' % (len(data), data)


def unpack(path: str, folder: Path) -> None:
    name = Path(path).name
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{name} is not a zip file")
    with zipfile.ZipFile(path) as packed:
        if "model.py" not in packed.namelist():
            raise ValueError(f"{name} has no file model.py at its top")
        packed.extractall(folder)


if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp())

    def load(path: str) -> ModuleType:
        unpack(sys.argv[1], folder)
        sys.path.insert(0, str(folder))
        return player.load(path)

    player.main(str(folder / "model.py"), sys.argv[2:], Table, load)

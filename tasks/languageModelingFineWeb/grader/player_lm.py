# SPDX-License-Identifier: Apache-2.0
"""Plays for the agent in languageModelingFineWeb: unpacks the model, and sends its rows of logits.

    python3 player_lm.py model.zip logits

The judge sends sequences of tokens. It gets a row of numbers for each place that it asks for, in the
memory that both share, and then the answer `true`. Nothing here is trusted or hidden (player.py).
"""

from __future__ import annotations

import math
import shutil
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


def copy_rows(rows: Array, to: Array) -> None:
    """Copies an array or a tensor, also one on a GPU or of a type that numpy lacks."""
    if hasattr(rows, "detach"):
        sys.modules["torch"].from_numpy(to).copy_(rows.detach())
    else:
        with np.errstate(over="ignore"):  # the judge refuses what became infinite
            np.copyto(to, rows, casting="unsafe")


def check_shape(rows: Array, shape: tuple[int, int, int]) -> None:
    found = getattr(rows, "shape", None)
    if found is None:
        raise TypeError(f"logits() returned {type(rows).__name__}, expected an array")
    if tuple(found) != shape:
        raise ValueError(f"logits() returned the shape {list(found)}, expected {list(shape)}")


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
        check_shape(rows, (*self.tokens.shape, self.vocabulary))
        if self.places:
            rows = rows[list(range(len(self.places))), self.places]
        n = math.prod(rows.shape)
        copy_rows(rows, self.shared[self.at : self.at + n].reshape(tuple(rows.shape)))
        return True


def unpack(path: str, folder: Path) -> None:
    name = Path(path).name
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{name} is not a zip file")
    with zipfile.ZipFile(path) as packed:
        if "model.py" not in packed.namelist():
            raise ValueError(f"{name} has no file model.py at its top")
        size = sum(file.file_size for file in packed.infolist())
        room = shutil.disk_usage(folder).free
        if size > room:
            raise ValueError(f"{name} unpacks to {size} bytes, and there is room for {room}")
        packed.extractall(folder)


if __name__ == "__main__":
    Table.memory = player.share()
    folder = Path(tempfile.mkdtemp())

    def load(path: str) -> ModuleType:
        unpack(sys.argv[1], folder)
        sys.path.insert(0, str(folder))
        return player.load(path)

    player.main(str(folder / "model.py"), sys.argv[2:], Table, load)

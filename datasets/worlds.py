#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the wiring of a game from $FUMEHOOD_DATA_KEY: worlds.py make GAME STEPS FOLDER

Writes world.json, which the agent and the judge read. The same key gives the same bytes.
"""

from __future__ import annotations

import json
from pathlib import Path

from making import data_key, draw_bytes, main


def make(game: str, steps: str, folder: str) -> None:
    wiring = int.from_bytes(draw_bytes(data_key(), "worlds\0wiring", 8), "little")
    world = {"game": game, "steps": int(steps), "wiring": wiring}
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, "world.json").write_text(json.dumps(world) + "\n")


if __name__ == "__main__":
    main(make=make)

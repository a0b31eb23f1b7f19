#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what a task's environment is like, from $FUMEHOOD_DATA_KEY: worlds.py WORLD FOLDER

Writes world.json, which the agent and the judge read. The same key gives the same bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from making import data_key, draw_bytes, main


class Draws:
    """Random numbers from a key and a label."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def uniform(self, label: str, low: float, high: float) -> float:
        drawn = draw_bytes(self.key, f"worlds\0{label}", 4)
        return low + (high - low) * int.from_bytes(drawn, "little") / 2**32

    def coin(self, label: str) -> bool:
        return self.uniform(label, -1, 1) >= 0

    def order(self, label: str, n: int) -> list[int]:
        """The numbers below n in any order."""
        return sorted(range(n), key=lambda i: self.uniform(f"{label} {i}", 0, 1))


def draw_car(draws: Draws) -> dict[str, Any]:
    """Turns the two sensors by any angle, shifts them, and wires the engine either way."""
    angle = draws.uniform("angle", 0, 2 * math.pi)
    cos, sin = math.cos(angle), math.sin(angle)
    return {
        "sensors": [[cos, sin], [-sin, cos]],
        "offsets": [draws.uniform(f"offset {i}", -0.5, 0.5) for i in range(2)],
        "engine": draws.uniform("engine", 0.9, 1) * (1 if draws.coin("direction") else -1),
    }


def draw_signals(draws: Draws, name: str, n: int, n_actions: int) -> dict[str, Any]:
    """Draws the order of signals, how bright and dark they are, and the order of the actions."""
    bright = [draws.uniform(f"brightness {i}", 0.5, 1.5) for i in range(n)]
    return {
        name: draws.order("signal", n),
        "brightness": [b if draws.coin(f"sign {i}") else -b for i, b in enumerate(bright)],
        "darkness": [draws.uniform(f"darkness {i}", -0.5, 0.5) for i in range(n)],
        "actions": draws.order("action", n_actions),
    }


def draw_breakout(draws: Draws, steps: int) -> dict[str, Any]:
    """Turns the picture, and wires its planes and the actions."""
    picture = {"turns": int(draws.uniform("turns", 0, 4)), "mirrored": draws.coin("mirrored")}
    return {"steps": steps, **picture, **draw_signals(draws, "planes", 4, 3)}


def draw_maze(draws: Draws) -> dict[str, Any]:
    """Wires the sensors and the actions."""
    return draw_signals(draws, "sensors", 15, 4)


def write_world(draw: Callable[[Draws], dict[str, Any]], folder: str) -> None:
    world = draw(Draws(data_key()))
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, "world.json").write_text(json.dumps(world, indent=1) + "\n")


if __name__ == "__main__":
    main(
        car=partial(write_world, draw_car),
        maze=partial(write_world, draw_maze),
        breakout=lambda steps, folder: write_world(
            partial(draw_breakout, steps=int(steps)), folder
        ),
    )

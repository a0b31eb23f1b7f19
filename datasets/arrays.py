# SPDX-License-Identifier: Apache-2.0
"""Random arrays, for programs that make data sets. They import numpy from here."""

from __future__ import annotations

import sys
from typing import Any

from making import draw_bytes

try:
    import numpy as np
except ImportError:
    sys.exit("numpy is missing: it makes the data (Debian: apt-get install python3-numpy)")

Array = Any  # numpy.ndarray


class ArrayDraws:
    """Random numbers, each array under a label of its own."""

    def __init__(self, key: bytes, name: str) -> None:
        self.key = key
        self.name = name

    def uniform(self, label: str, *shape: int) -> Array:
        drawn = draw_bytes(self.key, f"{self.name}\0{label}", 4 * int(np.prod(shape)))
        return (np.frombuffer(drawn, "<u4") / 2**32).reshape(shape)

    def normal(self, label: str, *shape: int) -> Array:
        u = self.uniform(label, 2, *shape)
        return np.sqrt(-2 * np.log(1 - u[0])) * np.cos(2 * np.pi * u[1])

    def order(self, label: str, n: int) -> Array:
        return np.argsort(self.uniform(label, n))

    def below(self, label: str, n: int) -> int:
        return int(self.uniform(label, 1)[0] * n)

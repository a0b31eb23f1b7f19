# SPDX-License-Identifier: Apache-2.0
"""Programs that make data sets share this module: keyed random numbers, tables, the command line.

Without the key, random numbers under one label tell nothing of those under another, nor of later
ones.
"""

from __future__ import annotations

import csv
import hashlib
import inspect
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def data_key() -> bytes:
    """Returns the 32 secret bytes from which generated data follows."""
    try:
        key = bytes.fromhex(os.environ["FUMEHOOD_DATA_KEY"])
    except (KeyError, ValueError):
        key = b""
    if len(key) != 32:
        sys.exit("FUMEHOOD_DATA_KEY must be 64 hexadecimal digits")
    return key


def draw_bytes(key: bytes, label: str, n: int) -> bytes:
    return hashlib.shake_256(key + f"\0{label}".encode()).digest(n)


class Draws:
    """Endless random numbers under a label."""

    def __init__(self, key: bytes, label: str) -> None:
        self.numbers = self.stream(key, label)

    @staticmethod
    def stream(key: bytes, label: str) -> Iterator[float]:
        for block in range(1 << 40):
            drawn = draw_bytes(key, f"{label}\0{block}", 8 * 512)
            for at in range(0, len(drawn), 8):
                yield (int.from_bytes(drawn[at : at + 8], "little") >> 11) / (1 << 53)

    def uniform(self) -> float:
        return next(self.numbers)

    def normal(self) -> float:
        radius = math.sqrt(-2 * math.log(1 - self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())

    def chance(self, p: float) -> bool:
        return self.uniform() < p

    def below(self, n: int) -> int:
        return int(self.uniform() * n)

    def choice(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def sample(self, items: Iterable[T], n: int) -> list[T]:
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(n)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        return self.sample(items, len(items))


# --- reading and writing tables -------------------------------------------------------------------


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Writes a CSV file. Its folder is made if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def write_columns(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Writes these columns of the rows as a CSV file."""
    write_rows(path, columns, ([row[name] for name in columns] for row in rows))


def check_table(
    path: str, found: tuple[int, Iterable[str]], n: int, columns: Sequence[str]
) -> None:
    if found[0] != n or not set(columns) <= set(found[1]):
        sys.exit(f"{path} is not a table of {n:,} rows with the columns {', '.join(columns)}")


def read_csv(path: str, n: int, columns: Sequence[str]) -> list[dict[str, str]]:
    """Reads n rows that have at least these columns."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    check_table(path, (len(rows), rows[0] if rows else ()), n, columns)
    return rows


def read_parquet(path: str, n: int, columns: Sequence[str]) -> Any:
    """Reads a pyarrow.Table of n rows that has at least these columns."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        sys.exit("pyarrow is missing: it reads parquet files (pip install pyarrow)")
    try:
        table = pyarrow.parquet.read_table(path)
    except (OSError, pyarrow.ArrowException) as error:
        sys.exit(f"{path} can't be read: {error}")
    check_table(path, (table.num_rows, table.column_names), n, columns)
    return table


def main(**commands: Callable[..., None]) -> None:
    """Calls the command that the first argument names. Other arguments are the function's."""
    command, *arguments = sys.argv[1:] or [""]
    wanted = {name: inspect.signature(call).parameters for name, call in commands.items()}
    if command not in wanted or len(arguments) != len(wanted[command]):
        program = Path(sys.argv[0]).name
        forms = [f"{program} {name} {' '.join(of).upper()}" for name, of in wanted.items()]
        sys.exit("usage: " + "\n       ".join(forms))
    commands[command](*arguments)

# SPDX-License-Identifier: Apache-2.0
"""Writes the lines of `fumehood export --format steps` as Parquet: steps on standard input."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

ROWS = 5000  # rows of a row group, so that memory is bounded
COUNTS = {"run", "policy_step", "step", "exit_code", "tokens_sent", "tokens_received", "calls"}
NUMBERS = {
    *("baseline", "run_best", "run_last", "reward", "score", "best"),
    *("duration_s", "grading_s", "cpu_s", "model_s", "cost"),
}
FLAGS = {"terminated", "truncated"}


def batches(lines: Iterable[bytes]) -> Iterator[list[dict[str, object]]]:
    """Reads the lines as objects, ROWS at a time."""
    lines = iter(lines)
    while batch := [json.loads(line) for line in islice(lines, ROWS)]:
        yield batch


def write(lines: Iterable[bytes], path: Path) -> None:
    """Writes the file when all lines are read. The first line tells the columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = [(COUNTS, pa.int64()), (NUMBERS, pa.float64()), (FLAGS, pa.bool_())]
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    writer = None
    try:
        for batch in batches(lines):
            if writer is None:
                columns = [
                    (name, next((kind for names, kind in kinds if name in names), pa.string()))
                    for name in batch[0]
                ]
                writer = pq.ParquetWriter(beside, pa.schema(columns), compression="zstd")
            writer.write_table(pa.Table.from_pylist(batch, schema=writer.schema))
        if writer is None:
            sys.exit("there are no steps on standard input")
        writer.close()
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def main() -> None:
    """Runs `python3 -m fumehood.parquet FILE`."""
    if len(sys.argv) != 2:
        sys.exit("usage: fumehood export --format steps RUN... | python3 -m fumehood.parquet FILE")
    try:
        write(sys.stdin.buffer, Path(sys.argv[1]))
    except ModuleNotFoundError:
        sys.exit("pyarrow is missing: it writes Parquet (pip install pyarrow)")


if __name__ == "__main__":
    main()

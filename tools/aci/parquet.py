# SPDX-License-Identifier: Apache-2.0
"""Shows the columns of a Parquet file for `describe`, with a package of the agent's Python."""

import sys


def rows_of_pyarrow(path: str) -> tuple[int, list[tuple[str, object]]]:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(path)
    return file.metadata.num_rows, [(field.name, field.type) for field in file.schema_arrow]


def rows_of_pandas(path: str) -> tuple[int, list[tuple[str, object]]]:
    import pandas

    frame = pandas.read_parquet(path)
    return len(frame), list(frame.dtypes.items())


def main() -> int:
    path = sys.argv[1]
    for read in rows_of_pyarrow, rows_of_pandas:
        try:
            rows, columns = read(path)
        except ImportError:
            continue
        except Exception as error:
            print(f"{path} can't be read: {error}")
            return 1
        print(f"{path}: {rows} rows, {len(columns)} columns (Parquet)")
        for name, kind in columns:
            print(f"{name}: {kind}")
        return 0
    print(f"{path} is a Parquet file, which needs pyarrow: `pip install pyarrow`.")
    return 1


sys.exit(main())

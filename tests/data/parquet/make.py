# SPDX-License-Identifier: Apache-2.0
"""Makes the Parquet files of this folder, and what is in them by pandas: needs pyarrow and pandas.

    python3 make.py

Each file holds the same table in another form; expected.json says of each column what `describe` must.
"""

import datetime
import decimal
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = Path(__file__).resolve().parent
SEEDS = FOLDER.parents[1] / "fuzz" / "corpus" / "aci_parquet"  # smaller ones
ROWS = 200
START = datetime.datetime(1969, 12, 30, 23, 59, 58, 250000)
CENT = decimal.Decimal("0.01")


def some(i: int, value, each: int):
    """Missing in each such row."""
    return None if i % each == 0 else value


def table() -> pa.Table:
    n = range(ROWS)
    columns = {
        "i8": pa.array([some(i, i * 37 % 251 - 125, 11) for i in n], pa.int8()),
        "i32": pa.array([i * 7919 % 10007 - 5000 for i in n], pa.int32()),
        "i64": pa.array([some(i, (i - 100) * 10**15, 3) for i in n], pa.int64()),
        "u32": pa.array([4294967295 - i * i for i in n], pa.uint32()),
        "f32": pa.array([i / 8 for i in n], pa.float32()),
        "f16": pa.array([some(i, (i - 9) / 64, 6) for i in n], pa.float16()),
        "f64": pa.array(
            [some(i, float("nan") if i == 1 else i * 0.1 - 7, 5) for i in n], pa.float64()
        ),
        "flag": pa.array([some(i, i % 3 == 0, 7) for i in n], pa.bool_()),
        "name": pa.array([some(i, f"name {i % 9}", 13) for i in n], pa.string()),
        "wide": pa.array([f"é{'x' * (i % 5)}{i:04}" for i in n], pa.string()),
        "digits": pa.array([f"00{i % 4}" for i in n], pa.string()),
        "day": pa.array(
            [datetime.date(1899, 12, 31) + datetime.timedelta(93 * i) for i in n], pa.date32()
        ),
        "ms": pa.array([START + datetime.timedelta(hours=i % 6) for i in n], pa.timestamp("ms")),
        "us": pa.array(
            [some(i, START + datetime.timedelta(days=i % 4), 17) for i in n], pa.timestamp("us")
        ),
        "money": pa.array([CENT * (i * 101 - 20000) for i in n], pa.decimal128(9, 2)),
        "large": pa.array([CENT * (i - 100) * 10**18 for i in n], pa.decimal128(30, 2)),
        "empty": pa.array([None] * ROWS, pa.int32()),
        "place": pa.array([{"city": some(i, f"c{i % 3}", 4)} if i % 10 else None for i in n]),
        "list": pa.array([[i, i + 1] for i in n], pa.list_(pa.int32())),
    }
    return pa.table(columns)


PLAIN = {"use_dictionary": False, "compression": "none"}
DELTAS = {
    **{name: "DELTA_BINARY_PACKED" for name in ("i8", "i32", "i64", "u32", "day", "ms", "us")},
    **{"name": "DELTA_LENGTH_BYTE_ARRAY", "wide": "DELTA_BYTE_ARRAY", "digits": "DELTA_BYTE_ARRAY"},
    **{"f32": "BYTE_STREAM_SPLIT", "f64": "BYTE_STREAM_SPLIT", "flag": "RLE"},
}
FORMS = {
    "plain": PLAIN,
    "plain-v2": {**PLAIN, "data_page_version": "2.0"},
    "dictionary": {"compression": "none", "row_group_size": 90},
    "snappy": {"compression": "snappy", "data_page_size": 512},
    "snappy-v2": {"compression": "snappy", "data_page_version": "2.0", "row_group_size": 120},
    "gzip": {"compression": "gzip", "use_dictionary": False},
    "zstd": {"compression": "zstd", "row_group_size": 123},
    "lz4": {"compression": "lz4", "use_dictionary": False},
    "deltas": {**PLAIN, "column_encoding": DELTAS},
    "deltas-zstd": {
        "use_dictionary": False,
        "compression": "zstd",
        "column_encoding": DELTAS,
        "data_page_version": "2.0",
        "data_page_size": 700,
    },
    "int96": {"use_deprecated_int96_timestamps": True, "compression": "snappy"},
    "decimals": {"store_decimal_as_integer": True, "compression": "none"},
    "brotli": {"compression": "brotli"},
    "older": {"version": "1.0", "compression": "snappy"},
}


def numbers(values: pd.Series) -> dict:
    values = values.dropna().astype(float)
    quartiles = values.quantile([0.25, 0.5, 0.75]).tolist()
    return {"numbers": [values.min(), *quartiles, values.max(), values.mean()]}


def texts(values: pd.Series) -> dict:
    counts = values.dropna().value_counts()
    top = sorted(counts.items(), key=lambda kv: (-kv[1], kv[0].encode()))[:5]
    return {"different": len(counts), "top": [[k, int(v)] for k, v in top]}


def expect(name: str, kind: str, values: pd.Series) -> dict:
    told = {"name": name, "type": kind, "missing": int(values.isna().sum())}
    if kind in ("integer", "number"):
        return told | numbers(values)
    return told if kind == "empty" else told | texts(values)


def time_text(value) -> str:
    text = str(value)
    return text.rstrip("0") if "." in text else text


def expected(t: pa.Table) -> list[dict]:
    frame = t.to_pandas(integer_object_nulls=True)
    frame["place.city"] = frame["place"].map(lambda v: v and v["city"])
    kinds = dict.fromkeys(["i8", "i32", "i64", "u32"], "integer")
    kinds |= dict.fromkeys(["f16", "f32", "f64", "money", "large"], "number")
    kinds |= {"flag": "boolean", "name": "text", "wide": "text", "digits": "text"}
    kinds |= {"day": "date", "ms": "date", "us": "date", "empty": "empty", "place.city": "text"}
    for name in ("day", "ms", "us"):
        frame[name] = frame[name].map(lambda v: None if pd.isna(v) else time_text(v))
    frame["flag"] = frame["flag"].map(lambda v: None if v is None else str(v).lower())
    return [expect(name, kind, frame[name]) for name, kind in kinds.items()]


if __name__ == "__main__":
    whole = table()
    few = whole.slice(0, 12).select(["i32", "f16", "i64", "f64", "flag", "name", "money", "place"])
    for form, options in FORMS.items():
        pq.write_table(whole, FOLDER / f"{form}.parquet", store_schema=False, **options)
        kept = {
            k: v for k, v in options.get("column_encoding", {}).items() if k in few.column_names
        }
        more = {"column_encoding": kept} if kept else {}
        pq.write_table(few, SEEDS / f"{form}.parquet", store_schema=False, **options | more)
    lines = ",\n".join(json.dumps(column, ensure_ascii=False) for column in expected(whole))
    (FOLDER / "expected.json").write_text(f"[\n{lines}\n]\n")

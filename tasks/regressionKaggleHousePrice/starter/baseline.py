"""The baseline: ridge regression of the price on all columns.

Reads data/train.csv and data/test.csv, writes submission.csv. A column whose fields are numbers is
standardised, and its empty fields get the median. Each value of another column is a column of its
own, with 0 or 1.
"""

import csv

import numpy as np

PENALTY = 0.1


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def number(field):
    try:
        return float(field)
    except ValueError:
        return np.nan


def numeric_columns(rows):
    """The columns whose fields are numbers, or empty."""
    names = [name for name in rows[0] if name not in ("Id", "SalePrice")]
    return [
        name
        for name in names
        if all(row[name] in ("", "NA") or not np.isnan(number(row[name])) for row in rows)
    ]


def make_features(train, rows):
    """Features of `rows`, scaled by what `train` holds."""
    numeric = numeric_columns(train)
    columns = [np.ones(len(rows))]
    for name in train[0]:
        if name in ("Id", "SalePrice"):
            continue
        if name in numeric:
            seen = np.array([number(row[name]) for row in train])
            middle = np.nanmedian(seen)
            seen = np.where(np.isnan(seen), middle, seen)
            values = np.array([number(row[name]) for row in rows])
            values = np.where(np.isnan(values), middle, values)
            columns.append((values - seen.mean()) / (seen.std() or 1))
        else:
            for value in sorted({row[name] for row in train}):
                columns.append(np.array([float(row[name] == value) for row in rows]))
    return np.column_stack(columns)


def ridge(features, target, penalty):
    """Weights that minimise the squared error plus `penalty` times their squares."""
    squares = penalty * np.eye(features.shape[1])
    squares[0, 0] = 0  # do not penalise the constant term
    return np.linalg.lstsq(features.T @ features + squares, features.T @ target, rcond=None)[0]


def main():
    train, test = read("data/train.csv"), read("data/test.csv")
    prices = np.array([float(row["SalePrice"]) for row in train])
    weights = ridge(make_features(train, train), prices, PENALTY)
    predictions = make_features(train, test) @ weights
    with open("submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Id", "SalePrice"])
        for row, price in zip(test, predictions, strict=True):
            writer.writerow([row["Id"], f"{price:.2f}"])


if __name__ == "__main__":
    main()

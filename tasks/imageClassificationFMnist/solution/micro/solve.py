"""A known good answer: how strongly small patches, learned from the images, show up in each region.

The patches are the centres of clusters of whitened parts of training images, as Coates and Ng (2011)
find them. Their strengths are averaged in 3 x 3 regions, so that small shifts don't matter. A ridge
regression tells the classes from them. numpy alone.
"""

import os

import numpy as np

SEED = int(os.environ.get("FUMEHOOD_TRAINING_SEED", "0"))
SIDE = 6  # side of a patch in pixels
STEP = 2  # pixels between patches
PATCHES = 64
REGIONS = 3  # regions of an image along each side
THRESHOLD = 0.25  # weaker responses count as none
PENALTY = 0.5
BATCH = 250


def read(name):
    return np.load(f"data/{name}_images.npy").astype(np.float32) / 255


def parts(images, step):
    """All parts of images with mean 0 and variance 1: [image, y, x, pixel]."""
    views = np.lib.stride_tricks.sliding_window_view(images, (SIDE, SIDE), axis=(1, 2))
    views = views[:, ::step, ::step]
    flat = views.reshape(*views.shape[:3], SIDE * SIDE)
    flat = flat - flat.mean(-1, keepdims=True)
    return flat / np.sqrt((flat * flat).mean(-1, keepdims=True) + 0.01)


def unit(rows):
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)


def learn_patches(images, n, random):
    """Filters, one a column, and the mean that is to be taken off before."""
    seen = parts(images[random.permutation(len(images))[:400]], 1).reshape(-1, SIDE * SIDE)
    seen = seen[random.permutation(len(seen))[:8000]]
    mean = seen.mean(0)
    values, vectors = np.linalg.eigh(np.cov((seen - mean).T))
    whiten = (vectors / np.sqrt(values + 0.1) @ vectors.T).astype(np.float32)
    seen = (seen - mean) @ whiten
    centres = unit(random.normal(size=(n, SIDE * SIDE)).astype(np.float32))
    for _ in range(8):
        likeness = seen @ centres.T
        nearest = np.abs(likeness).argmax(1)
        weights = np.zeros_like(likeness)
        rows = np.arange(len(seen))
        weights[rows, nearest] = likeness[rows, nearest]
        centres = unit(weights.T @ seen + 1e-3 * centres)
    return whiten @ centres.T, mean


def pooled(maps):
    """Means of maps [image, y, x, patch] in regions that overlap."""
    size = maps.shape[1]
    centres = (np.arange(REGIONS) + 0.5) * size / REGIONS - 0.5
    near = 1 - np.abs(np.arange(size) - centres[:, None]) * REGIONS / size
    near = np.maximum(near, 0).astype(np.float32)
    rows = np.tensordot(maps, near, (2, 1))
    return np.tensordot(rows, near, (1, 1)).reshape(len(maps), -1)


def features(images, filters, mean):
    made = []
    for start in range(0, len(images), BATCH):
        found = parts(images[start : start + BATCH], STEP) - mean
        maps = np.abs(found.reshape(-1, found.shape[-1]) @ filters) - THRESHOLD
        made.append(pooled(np.maximum(maps, 0).reshape(*found.shape[:3], -1)))
    return np.sqrt(np.vstack(made))


def ridge(train, labels, test, penalty):
    """How much each test image is like each class, from standardised features."""
    mean, spread = train.mean(0), train.std(0) + 1e-3
    train, test = (train - mean) / spread, (test - mean) / spread
    classes = np.eye(10, dtype=np.float32)[labels] - 0.1
    squares = train.T @ train
    squares[np.diag_indices(len(squares))] += penalty * np.trace(squares) / len(squares)
    return test @ np.linalg.solve(squares, train.T @ classes)


def main():
    train, test = read("train"), read("test")
    filters, mean = learn_patches(train, PATCHES, np.random.default_rng(SEED))
    known, asked = features(train, filters, mean), features(test, filters, mean)
    scores = ridge(known, np.load("data/train_labels.npy"), asked, PENALTY)
    with open("submission.csv", "w") as file:
        print("label", *scores.argmax(1), sep="\n", file=file)


if __name__ == "__main__":
    main()

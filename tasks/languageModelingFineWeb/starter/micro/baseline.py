"""The baseline: counts pairs of tokens in data/train.bin, writes model.zip."""

import zipfile
from pathlib import Path

import numpy as np

VOCABULARY = 64


def read(name):
    """A shard: 1,024 bytes that say what it is, then the tokens."""
    return np.fromfile(f"data/{name}.bin", "<u2", offset=1024).astype(np.int64)


def pack(model, *files):
    """Writes model.zip: the model's program as model.py, and files that it reads."""
    named = {"model.py": model} | {file: file for file in files}
    with zipfile.ZipFile("model.zip", "w") as packed:
        for name, file in named.items():
            # Leave out times and owners of files, so that the same model always gives the same zip
            # file.
            packed.writestr(zipfile.ZipInfo(name), Path(file).read_bytes(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    tokens = read("train")
    pairs = np.bincount(tokens[:-1] * VOCABULARY + tokens[1:], minlength=VOCABULARY**2)
    counts = pairs.reshape(VOCABULARY, VOCABULARY) + 1.0
    np.save("bigrams.npy", np.log(counts / counts.sum(1, keepdims=True)).astype(np.float32))
    pack("model.py", "bigrams.npy")

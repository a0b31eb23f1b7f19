"""Counts words, where the data is too."""

import json
import os

with open("words.txt") as file:
    words = len(file.read().split())
with open(3, "w") as results:
    json.dump({"words": words, "bytes": os.path.getsize("data/large.bin")}, results)

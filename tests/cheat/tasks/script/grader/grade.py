# SPDX-License-Identifier: Apache-2.0
"""Gives a point for the right number, else a quarter. Quotes a text that is not a number."""

import json
import os
from pathlib import Path

right = int((Path(__file__).parent / "right.txt").read_text())
text = Path("answer.txt").read_text(errors="replace")
try:
    answer = {"Score": 1.0 if int(text) == right else 0.25}
except ValueError:
    answer = {"error": f"answer.txt holds {text[:20]!r} and no number"}
os.write(3, json.dumps(answer).encode())

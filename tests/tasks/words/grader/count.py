"""Counts words. Some words of a submission make it fail, which is what the tests want to see."""

import json
import os
import sys
import time
from pathlib import Path

text = Path(sys.argv[1]).read_text().split()
wanted = Path("list.txt").read_text().split()
report = {"words": len(text), "letters": sum(map(len, text))}

if "sleep" in text:
    time.sleep(60)
if "crash" in text:
    raise SystemExit(3)
if "kill" in text:
    os.kill(os.getpid(), 9)
if "nan" in text:
    report["words"] = float("nan")
if "nothing" in text:
    report = {}
if "rubbish" in text:
    report = "rubbish"
if "text" in text:
    report["words"] = "many"
if "flood" in text:
    report["pad"] = "x" * 200000
if "integrity" in text:
    report = {"error": "the submission wrote to the judge", "integrity": True}
if "environment" in text:
    with open("/grader/extra.txt") as extra:
        assert extra.read() == "secret\n"
    assert len(os.environ["FUMEHOOD_JUDGE_KEY"]) == 64
    assert os.getcwd() == "/home/agent/workspace"
    assert not os.path.exists("left")
    assert not os.path.exists("/proc/loadavg")
if not set(wanted) <= set(text):
    report = {"error": f"{len(set(wanted) - set(text))} words are missing"}

with open(3, "w") as results:
    results.write(json.dumps(report))

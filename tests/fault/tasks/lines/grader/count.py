"""Counts lines. A submission may ask for more memory, or more processes, than a grader has."""

import json
import os
import sys
import time

with open(sys.argv[1]) as f:
    lines = f.read().splitlines()
if "memory" in lines:
    hoard = [bytearray(1 << 20) for _ in range(1 << 20)]
if "processes" in lines:
    while True:
        if os.fork() == 0:
            time.sleep(60)
with open(3, "w") as result:
    result.write(json.dumps({"lines": len(lines)}))

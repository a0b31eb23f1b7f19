#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays an episode through `fumehood env`: client.py [FUMEHOOD [TASK]]. See docs/protocol.md."""

import json
import subprocess
import sys


def ask(door: subprocess.Popen, **request: object) -> dict:
    print(json.dumps(request), file=door.stdin, flush=True)
    answer = json.loads(door.stdout.readline())
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer


def main(program: str = "fumehood", task: str = "titanicSurvival:micro") -> None:
    words, pipe = [program, "env", "--task", task], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as door:
        print(ask(door, op="reset", seed=0)["observation"])
        for action in ["ls", "python3 baseline.py", "validate", "submit"]:
            step = ask(door, op="step", action=action)
            print(f"$ {action}\n{step['observation']}reward {step['reward']:.3f}")
            if step["terminated"] or step["truncated"]:
                break


main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays an episode through `fumehood env`: client.py [FUMEHOOD [TASK]]. docs/protocol.md has every field."""

import json
import subprocess
import sys

ACTIONS = ["ls", "python3 baseline.py", "validate", "submit"]


def main(program: str = "fumehood", task: str = "titanic:micro") -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [program, "env", "--task", task], stdin=pipe, stdout=pipe, text=True
    ) as door:

        def ask(**request: object) -> dict:
            print(json.dumps(request), file=door.stdin, flush=True)
            answer = json.loads(door.stdout.readline())
            if "error" in answer:
                raise RuntimeError(answer["error"]["message"])
            return answer

        print(ask(op="reset", seed=0)["observation"])
        for action in ACTIONS:
            step = ask(op="step", action=action)
            print(f"$ {action}\n{step['observation']}reward {step['reward']:.3f}")
            if step["terminated"] or step["truncated"]:
                break
        ask(op="close")


main(*sys.argv[1:])

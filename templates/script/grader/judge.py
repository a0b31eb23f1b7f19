"""Scores numbers.txt. What it writes to descriptor 3 is the result."""

import json


def judge(lines):
    try:
        numbers = [int(line) for line in lines]
    except ValueError as error:
        return {"error": f"numbers.txt: {error}"}
    if sum(numbers) != 100:
        return {"error": f"numbers.txt: the sum is {sum(numbers)}, not 100"}
    return {"count": len(numbers)}


with open("numbers.txt") as submission, open(3, "w") as result:
    json.dump(judge(submission.readlines()), result)

# SPDX-License-Identifier: Apache-2.0
"""What an agent must not see stays hidden, wherever it lies and however it is shown."""

import pytest


@pytest.mark.parametrize("what", ["", "grader", "grader/answers.csv", "solution/solve.py", "/"])
def test_a_bind_of_what_is_hidden_is_refused(fumehood, what):
    fumehood("task", "new", "mine")
    source = what if what == "/" else fumehood.folder / "mine" / what
    done = fumehood("run", "--task", "./mine", "--bind", f"{source}:/x", status=1)
    assert "the agent would see what is hidden, by '/" in done.stderr


def test_a_bind_of_what_is_not_hidden_is_not(fumehood):
    fumehood("task", "new", "mine")
    source = fumehood.folder / "mine" / "starter"
    fumehood("run", "--task", "./mine", "--bind", f"{source}:/x")

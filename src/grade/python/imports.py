# SPDX-License-Identifier: Apache-2.0
"""Lists modules that the programs of an MLGym task import and this Python lacks.

    imports.py csv|python|model|lm EVALUATOR [SUBMISSION]

The Python that will run the programs runs this, in a sandbox with the task's workspace. It parses
programs without running them. {"evaluator": [...], "starter": [...]} goes to descriptor 3.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

RESULT = 3
WORKSPACE = Path("/home/agent/workspace")
CONDA = Path("/home/agent/miniconda3/envs/mlgym_generic/bin")
FILES_MOST = 500
FILE_BYTES = 1 << 20
NAMES_MOST = 50
GUARDS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
PACKAGES = {"PIL": "pillow", "cv2": "opencv-python", "sklearn": "scikit-learn", "yaml": "pyyaml"}


def is_guarded(tree: ast.Try) -> bool:
    """True if the program goes on when an import in this `try` statement fails."""
    for handler in tree.handlers:
        caught = ast.walk(handler.type) if handler.type else []
        names = {n.id for n in caught if isinstance(n, ast.Name)}
        if not handler.type or names & GUARDS:
            return True
    return False


def is_main(test: ast.expr) -> bool:
    """True if the condition of an `if` compares `__name__`."""
    return any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(test))


def runs_too(node: ast.stmt) -> bool:
    """True if the statements inside of this statement run whenever the program runs."""
    if isinstance(node, ast.If):
        return is_main(node.test)
    return isinstance(node, ast.With) or (isinstance(node, ast.Try) and not is_guarded(node))


def imports_of(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yields the imports that always run. Imports in functions and branches may not run."""
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif runs_too(node):
            yield from imports_of(node.body)


def parsed(path: Path) -> list[ast.stmt]:
    """Returns a file's statements; none if it can't be parsed, since running it shows the error."""
    try:
        with path.open("rb") as file:
            return ast.parse(file.read(FILE_BYTES)).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []


def modules_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Returns the modules that an import may load: `from a import b` may load a and a.b."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    inside = [f"{node.module}.{name.name}" for name in node.names] if node.module else []
    return [node.module, *inside] if node.module else [name.name for name in node.names]


def local_files(folder: Path, module: str) -> list[Path]:
    """Returns the files of the workspace that an import of the module runs."""
    found, path = [], folder
    for part in module.split("."):
        path = path / part
        found += [p for p in (path / "__init__.py", path.with_suffix(".py")) if p.is_file()]
    return found


def is_lacking(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is None
    except (ImportError, ValueError, AttributeError):
        return False


class Search:
    """Collects missing modules of programs, and of modules that they import from the workspace."""

    def __init__(self, left_out: set[Path]) -> None:
        self.seen = set(left_out)
        self.lacking: dict[str, None] = {}

    def add(self, path: Path, home: Path) -> None:
        """`home` is the running program's folder, where absolute imports start."""
        if path in self.seen or len(self.seen) > FILES_MOST:
            return
        self.seen.add(path)
        for node in imports_of(parsed(path)):
            level = node.level if isinstance(node, ast.ImportFrom) else 0
            folder = path.parents[level - 1] if 0 < level <= len(path.parents) else home
            for module in modules_of(node):
                self.add_module(folder, module, home, is_relative=level > 0)

    def add_module(self, folder: Path, module: str, home: Path, *, is_relative: bool) -> None:
        files = local_files(folder, module)
        for file in files:
            self.add(file, home)
        top = module.split(".")[0]
        if not files and not is_relative and not (folder / top).is_dir() and is_lacking(top):
            self.lacking[top] = None


def shown(names: list[str]) -> list[str]:
    return [f"{n} (of {PACKAGES[n]})" if n in PACKAGES else n for n in names[:NAMES_MOST]]


def main() -> None:
    kind, evaluator = sys.argv[1], Path(sys.argv[2])
    submission = {Path(name) for name in sys.argv[3:4]}
    del sys.path[0]  # this file's folder
    sys.path.insert(0, str(WORKSPACE))
    of_evaluator = Search(submission)
    of_evaluator.add(evaluator, evaluator.parent)
    if kind == "lm" and not (CONDA / "torchrun").exists() and not shutil.which("torchrun"):
        of_evaluator.lacking["torchrun"] = None
    of_starter = Search({evaluator})
    for path in sorted(WORKSPACE.rglob("*.py")):
        if path.relative_to(WORKSPACE).parts[0] != "data":
            of_starter.add(path, path.parent)
    result = {
        "evaluator": shown(list(of_evaluator.lacking)),
        "starter": shown([n for n in of_starter.lacking if n not in of_evaluator.lacking]),
    }
    with open(RESULT, "w") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main()

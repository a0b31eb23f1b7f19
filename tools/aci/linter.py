# SPDX-License-Identifier: Apache-2.0
"""Runs flake8 on Python texts for `edit` and `insert`: starts once in a sandbox, and stays warm.

Descriptor 3 is a listening socket; argv[1] is its path, argv[2] its inode. A connection is a
request: texts, each as 4 bytes of length (big endian) and its bytes. The reply has each text's
errors, a line each ("LINE:COLUMN: CODE TEXT"), and an empty line.

The linter ends after ten minutes without a request; after two minutes if there never was any. It
ends, too, when its socket is gone from its path. A text that takes too much time, memory or stack
ends it. The next edit then starts another linter.
"""

import ast
import collections
import hashlib
import linecache
import os
import resource
import signal
import socket
import struct
import sys
import tokenize

SELECT = "F821,F822,F831,E111,E112,E113,E999,E902"
IDLE_S = 600
UNASKED_S = 120  # until the first request: many files are only opened to read them
LOOK_S = 10  # between checks that the socket is still at its path
ASKER_S = 10  # limit for a silent connection; an edit waits 15 s in all
CPU_S = 5  # limit of CPU time per text
MEMORY_BYTES = 1 << 30
SOCKET_FD = 3
TEXT_BYTES_MAX = 16 << 20
KEPT = 8
SAMPLE = b"def f(x):\n    return unknown\n"  # checked at the start: the first check is slow


def only_what_is_selected() -> None:
    """Turns off pycodestyle's checks for errors outside of SELECT, which take most of the time."""
    import flake8.plugins.pycodestyle as plugin
    import pycodestyle
    from flake8.checker import FileChecker

    if not hasattr(plugin, "pycodestyle_logical") or not hasattr(pycodestyle, "indentation"):
        return

    def logical(
        logical_line,
        previous_logical,
        indent_char,
        indent_level,
        previous_indent_level,
        indent_size,
    ):
        yield from pycodestyle.indentation(
            logical_line,
            previous_logical,
            indent_char,
            indent_level,
            previous_indent_level,
            indent_size,
        )

    def physical(physical_line):
        return iter(())

    plugin.pycodestyle_logical = logical
    plugin.pycodestyle_physical = physical
    FileChecker.check_physical_eol = lambda self, token, prev_physical: None


def tokens_where_a_tree_tells_less() -> None:
    """Skips tokens of a plain text that parses: they matter for E111 and type comments alone.

    A text with E112 or E113 does not parse.
    """
    from flake8.checker import FileChecker
    from flake8.processor import FileProcessor

    patched = ("build_ast", "keyword_arguments_for")
    if not hasattr(FileChecker, "process_tokens") or not all(
        hasattr(FileProcessor, name) for name in patched
    ):
        return
    build, arguments_for = FileProcessor.build_ast, FileProcessor.keyword_arguments_for
    process = FileChecker.process_tokens

    def build_and_keep(self):
        self.tree, self.text = build(self), "".join(self.lines)
        self.is_plain = is_plain(self.text)
        return self.tree

    def arguments_without_tokens(self, parameters, arguments):
        if "file_tokens" not in parameters or not self.is_plain or "type:" in self.text:
            return arguments_for(self, parameters, arguments)
        others = {name: needed for name, needed in parameters.items() if name != "file_tokens"}
        return {**arguments_for(self, others, arguments), "file_tokens": ()}

    def process_unless_right(self):
        p = self.processor
        if not p.is_plain or not is_well_indented(p.tree, p.lines):
            process(self)

    FileProcessor.build_ast = build_and_keep
    FileProcessor.keyword_arguments_for = arguments_without_tokens
    FileChecker.process_tokens = process_unless_right


def is_plain(text: str) -> bool:
    """True if a text has no continued lines and no control characters."""
    return "\\\n" not in text and text.replace("\n", "").isprintable()


def is_well_indented(tree: ast.Module, lines: list[str]) -> bool:
    """True if all statements that begin a line are indented by multiples of four spaces."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        column = getattr(node, "col_offset", 0)
        if column % 4 and not lines[node.lineno - 1][:column].strip():
            return False
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            nodes += getattr(node, block, ())
    return True


def tokens_only_once() -> None:
    """Reuses the tokens of pyflakes for pycodestyle."""
    from flake8.processor import FileProcessor

    if not hasattr(FileProcessor, "file_tokens"):
        return

    def generate_tokens(self):
        for token in self.file_tokens:
            if token.start[0] > self.total_lines:
                break
            while self.line_number < token.end[0]:
                self.next_line()
            self.tokens.append(token)
            yield token

    FileProcessor.generate_tokens = generate_tokens


def type_comments_where_there_are_any() -> None:
    """Saves pyflakes a visit of the tree of a text without type comments."""
    from pyflakes import checker

    collect = getattr(checker, "_collect_type_comments", None)
    if collect is None:
        return

    def collect_if_any(tree, tokens):
        if any("type:" in token.string for token in tokens if token.type == tokenize.COMMENT):
            return collect(tree, tokens)
        return collections.defaultdict(list)

    checker._collect_type_comments = collect_if_any


class Collector:
    """Collects errors in place of flake8's formatter."""

    def __init__(self):
        self.errors = []

    def start(self):
        pass

    stop = start

    def beginning(self, filename):
        pass

    finished = beginning

    def handle(self, error):
        self.errors.append((error.line_number, error.column_number, error.code, error.text))


class Linter:
    def __init__(self, folder: str):
        only_what_is_selected()
        tokens_where_a_tree_tells_less()
        tokens_only_once()
        type_comments_where_there_are_any()
        from flake8.main.application import Application

        self.file = os.path.join(folder, "text.py")
        self.kept = {}
        self.app = Application()
        self.app.initialize(["--isolated", "--jobs=1", f"--select={SELECT}", self.file])

    def errors(self, text: bytes) -> str:
        key = hashlib.sha256(text).digest()
        if key not in self.kept:
            if len(self.kept) >= KEPT:
                del self.kept[next(iter(self.kept))]
            signal.setitimer(signal.ITIMER_PROF, CPU_S)  # SIGPROF ends the linter
            self.kept[key] = self.check(text)
            signal.setitimer(signal.ITIMER_PROF, 0)
        return self.kept[key]

    def check(self, text: bytes) -> str:
        with open(self.file, "wb") as out:
            out.write(text)
        linecache.clearcache()  # flake8 searches this cache for "noqa"
        app = self.app
        app.formatter = Collector()
        app.make_guide()
        app.make_file_checker_manager()
        app.run_checks()
        app.file_checker_manager.report()
        os.unlink(self.file)
        lines = [
            f"{line}:{column}: {code} {problem}\n"
            for line, column, code, problem in app.formatter.errors
        ]
        return "".join(lines)


def receive(connection: socket.socket, n: int) -> bytes:
    data = bytearray()
    while len(data) < n:
        part = connection.recv(min(n - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def answer(linter: Linter, connection: socket.socket) -> None:
    while True:
        try:
            (n,) = struct.unpack(">I", receive(connection, 4))
        except EOFError:
            return
        if n > TEXT_BYTES_MAX:
            return
        text = receive(connection, n)
        connection.sendall((linter.errors(text) + "\n").encode("utf-8", "backslashreplace"))


def is_there(path: str, inode: int) -> bool:
    try:
        return os.lstat(path).st_ino == inode
    except OSError:
        return False


def next_asker(server: socket.socket, path: str, inode: int, idle_s: int) -> socket.socket | None:
    """Returns the next connection; None: idle too long, or the socket is gone."""
    server.settimeout(LOOK_S)
    for _ in range(idle_s // LOOK_S):
        try:
            return server.accept()[0]
        except TimeoutError:
            if not is_there(path, inode):
                return None
    return None


def main() -> None:
    path, inode = sys.argv[1], int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    server = socket.socket(fileno=SOCKET_FD)
    linter = Linter(os.path.dirname(path))
    linter.check(SAMPLE)
    idle_s = UNASKED_S
    while connection := next_asker(server, path, inode, idle_s):
        idle_s = IDLE_S
        with connection:
            connection.settimeout(ASKER_S)
            try:
                answer(linter, connection)
            except (OSError, EOFError):
                continue
    if is_there(path, inode):  # so that the next open of a file starts a linter
        os.unlink(path)


if __name__ == "__main__":
    main()

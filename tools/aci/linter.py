# SPDX-License-Identifier: Apache-2.0
"""What flake8 says of Python text, for `edit` and `insert`: started once in a sandbox, then warm.

Descriptor 3 is a socket that listens already: argv[1] is its path, argv[2] its inode. A connection is one request:
texts, each as 4 bytes of length (big endian) and its bytes. For each the reply has its errors, a line each
("LINE:COLUMN: CODE TEXT"), and an empty line.

Ends when nobody has asked for ten minutes (for two, if nobody did at all), or can any more (its socket is not where it was put), and by a text that
takes too long, too much memory or too deep a stack: whoever asks next starts another.
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
UNASKED_S = 120  # nor did anybody ask before: the file was opened to be read
LOOK_S = 10  # between two looks for the socket: it is away while somebody asks
ASKER_S = 10  # for who has connected and says nothing: others wait for 15
CPU_S = 5  # for a text
MEMORY_BYTES = 1 << 30
SOCKET_FD = 3
TEXT_BYTES_MAX = 16 << 20
KEPT = 8
SAMPLE = b"def f(x):\n    return unknown\n"  # a first text takes some ms more than others


def only_what_is_selected() -> None:
    """pycodestyle's other checks take most of the time, and their errors are not selected."""
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
    """Of a plain text that parses, they are needed for E111 and type comments alone. E112 and E113 are no Python."""
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
    """Whether lines are what they seem to be."""
    return "\\\n" not in text and text.replace("\n", "").isprintable()


def is_well_indented(tree: ast.Module, lines: list[str]) -> bool:
    """Whether all statements that begin a line stand behind fours of spaces."""
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
    """Each text is taken apart for pyflakes, and again for pycodestyle."""
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
    """Else pyflakes visits each text's tree once more for nothing."""
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
    """Stands where flake8 has the formatter that prints."""

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
            signal.setitimer(signal.ITIMER_PROF, CPU_S)  # nobody catches it
            self.kept[key] = self.check(text)
            signal.setitimer(signal.ITIMER_PROF, 0)
        return self.kept[key]

    def check(self, text: bytes) -> str:
        with open(self.file, "wb") as out:
            out.write(text)
        linecache.clearcache()  # where flake8 looks for "noqa"
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
    """None: there will be none."""
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
    if is_there(path, inode):  # else the next file that is opened would have no linter start
        os.unlink(path)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What flake8 says of Python text, for `edit` and `insert`: started once in a sandbox, then warm.

Listens at argv[1], and says so by a byte to descriptor 3. A connection is one request: texts, each as 4 bytes of
length (big endian) and its bytes. For each the reply has its errors, a line each ("LINE:COLUMN: CODE TEXT"), and an
empty line.

Ends when nobody has asked for ten minutes, or can any more (its socket is not where it was put), and by a text that
takes too long, too much memory or too deep a stack: whoever asks next starts another.
"""

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
LOOK_S = 10  # between two looks for the socket: it is away while somebody asks
ASKER_S = 10  # for who has connected and says nothing: others wait for 15
CPU_S = 5  # for a text
MEMORY_BYTES = 1 << 30
READY_FD = 3
TEXT_BYTES_MAX = 16 << 20
KEPT = 8


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


def is_there(path: str, own: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), own)
    except OSError:
        return False


def next_asker(server: socket.socket, path: str, own: os.stat_result) -> socket.socket | None:
    """None: there will be none."""
    server.settimeout(LOOK_S)
    for _ in range(IDLE_S // LOOK_S):
        try:
            return server.accept()[0]
        except TimeoutError:
            if not is_there(path, own):
                return None
    return None


def main() -> None:
    path = sys.argv[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    linter = Linter(os.path.dirname(path))
    new = f"{path}.{os.getpid()}"
    server.bind(new)
    server.listen(16)
    own = os.stat(new)
    os.rename(new, path)
    os.write(READY_FD, b"\n")
    os.close(READY_FD)
    while connection := next_asker(server, path, own):
        with connection:
            connection.settimeout(ASKER_S)
            try:
                answer(linter, connection)
            except (OSError, EOFError):
                continue


if __name__ == "__main__":
    main()

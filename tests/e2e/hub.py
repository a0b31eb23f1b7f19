# SPDX-License-Identifier: Apache-2.0
"""A server that answers like Hugging Face's, and misbehaves where a test asks for it."""

from __future__ import annotations

import hashlib
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "c0ffee" + "0" * 33 + "1"


@dataclass
class File:
    """A file of the server. `cuts`: bytes after which each answer in turn loses its connection."""

    data: bytes
    large: bool = True  # redirect requests to another host, as Hugging Face does for large files
    commit: str = COMMIT
    status: int = 0  # answer with this status
    statuses: list[int] = field(default_factory=list)  # answer with these statuses first
    cuts: list[int] = field(default_factory=list)
    claims: int = 0  # number to add to the lengths in headers
    sha256: str = ""  # wrong hash to send in headers
    after_cut: bytes = b""  # data to send instead, once a connection was cut
    ranges: bool = True
    etag: bool = True
    heads: bool = True
    pieces: threading.Event | None = None  # wait for this event in the middle of the file
    headers: dict[str, str] = field(default_factory=dict)

    def hash(self) -> str:
        return self.sha256 or hashlib.sha256(self.data).hexdigest()


class Hub:
    """The server. It has `files` by path, and lists requests in `asked`."""

    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        self.moved: dict[str, str] = {}
        self.raw: dict[str, bytes] = {}  # bytes to send instead of an HTTP answer
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_HEAD(self) -> None:
                hub.answer(self, False)

            def do_GET(self) -> None:
                hub.answer(self, True)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # ignore errors of clients that leave early
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.elsewhere = f"http://localhost:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def add(self, repository: str, path: str, data: bytes, **kwargs) -> File:
        file = self.files[f"{repository}/{path}"] = File(data, **kwargs)
        return file

    def plain(self, path: str, data: bytes, **kwargs) -> File:
        file = self.files[f"/{path}"] = File(data, **kwargs)
        return file

    def gets(self) -> list[dict[str, str]]:
        """Headers of all requests for content."""
        return [headers for method, path, headers in self.asked if method == "GET"]

    # --- answering requests -----------------------------------------------------------------------

    def answer(self, request: BaseHTTPRequestHandler, body: bool) -> None:
        path = unquote(urlsplit(request.path).path)
        method = "GET" if body else "HEAD"
        headers = {k.lower(): v for k, v in request.headers.items()}
        self.asked.append((method, request.path, headers))
        if path in self.raw:
            request.wfile.write(self.raw[path])
            request.close_connection = True
            return
        if path in self.moved:
            self.send(request, 302, {"Location": self.moved[path]})
            return
        named = re.fullmatch(r"/(.+)/resolve/([^/]+)/(.+)", path)
        stored = re.fullmatch(r"/store/(.+)", path)
        file = self.files.get(f"{named[1]}/{named[3]}" if named else stored[1] if stored else path)
        if not file or (named and named[2] not in ("main", file.commit)):
            self.send(request, 404, {"X-Error-Message": "Entry not found"})
        elif file.status or file.statuses:
            self.send(request, file.statuses.pop(0) if file.statuses else file.status, {})
        elif not body and not file.heads:
            self.send(request, 405, {})
        elif named and file.large:
            # Redirect HEAD to `localhost`. Clients take it for another host than 127.0.0.1, and
            # don't follow.
            where = {"Location": f"{self.elsewhere}/store/{named[1]}/{named[3]}?signed=1"}
            linked = {"X-Linked-ETag": f'"{file.hash()}"', "X-Repo-Commit": file.commit}
            size = {"X-Linked-Size": str(len(file.data) + file.claims)}
            self.send(request, 302, {**where, **linked, **size})
        elif stored and not body:
            self.send(request, 403, {})
        else:
            commit = {"X-Repo-Commit": file.commit} if named else {}
            self.send_file(request, file, body, commit)

    def send(self, request: BaseHTTPRequestHandler, status: int, headers: dict[str, str]) -> None:
        request.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            request.send_header(name, value)
        request.end_headers()

    def send_file(self, request, file: File, body: bool, headers: dict[str, str]) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
        start = int(wanted[1]) if wanted and file.ranges else 0
        data = file.data
        if start and start >= len(data):
            self.send(request, 416, {"Content-Range": f"bytes */{len(data)}"})
            return
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        request.send_header("Content-Length", str(len(data) - start + file.claims))
        if file.etag:
            request.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
        for name, value in {**file.headers, **headers}.items():
            request.send_header(name, value)
        request.end_headers()
        if body:
            self.send_body(request, file, data[start:])

    def send_body(self, request, file: File, data: bytes) -> None:
        if file.pieces:
            request.wfile.write(data[: len(data) // 2])
            request.wfile.flush()
            file.pieces.wait(60)
            data = data[len(data) // 2 :]
        if file.cuts:
            request.wfile.write(data[: file.cuts.pop(0)])
            request.close_connection = True
            file.data = file.after_cut or file.data
        else:
            request.wfile.write(data)
            request.close_connection = request.close_connection or file.claims > 0

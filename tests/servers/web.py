#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A place in the web: Semantic Scholar's search, PDFs, and what goes wrong with both.

    web.py [--log FILE]

It prints its port, and serves until its standard input ends.
It writes each request into the log as a line of JSON.
"""

import argparse
import json
import os
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

TEXT = "What is attention"
SLOW_S = 100  # seconds until /slow answers


def pdf(text: str) -> bytes:
    """A PDF of a single page and line (ISO 32000-1, 7.5)."""
    drawn = f"BT /F 12 Tf 20 100 Td ({text}) Tj ET"
    page = "/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R{page}>>",
        f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, offsets = "%PDF-1.4\n", []
    for number, text_of in enumerate(objects, 1):
        offsets.append(f"{len(out):010d} 00000 n \n")
        out += f"{number} 0 obj{text_of}endobj\n"
    table = f"xref\n0 6\n0000000000 65535 f \n{''.join(offsets)}trailer<</Size 6/Root 1 0 R>>"
    return f"{out}{table}startxref\n{len(out)}\n%%EOF".encode()


def papers(query: dict, key: str | None) -> bytes:
    """Gives more papers than requested, as the real server does.

    {KEY} in the search term is replaced by the request's key.
    """
    term = query["query"][0].replace("{KEY}", key or "")
    found = [
        {
            "paperId": f"{i:040x}",
            "title": f"{term} {i}",
            "abstract": None if i else "Of \u00e9verything.\nAnd more.",
            "openAccessPdf": {"url": f"https://arxiv.org/pdf/{i}", "status": None},
        }
        for i in range(0 if term == "nothing" else 30)
    ]
    return json.dumps({"total": len(found), "token": None, "data": found}).encode()


class Handler(BaseHTTPRequestHandler):
    log: Path
    seen: Counter = Counter()
    lock = threading.Lock()

    def log_message(self, *args):
        pass

    def give(self, body: bytes, status: int = 200, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        url = urlsplit(self.path)
        with self.lock:
            self.seen[url.path] += 1
            again = self.seen[url.path] > 1
            asked = {"path": self.path, "key": self.headers.get("x-api-key")}
            with self.log.open("a") as log:
                log.write(json.dumps(asked) + "\n")
        what = url.path.split("/")[1]
        if url.path == "/graph/v1/paper/search/bulk":
            self.give(papers(parse_qs(url.query), asked["key"]))
        elif what == "paper.pdf" or (what == "busy" and again):
            self.give(pdf(TEXT))
        elif what in ("busy", "tired"):
            self.give(b"", 429, Retry_After="0")
        elif what == "later":
            self.give(b"", 503, Retry_After="86400")
        elif what == "there":
            self.give(b"", 302, Location="/paper.pdf")
        elif what == "away":
            self.give(b"", 302, Location="http://localhost:1/paper.pdf")
        elif what == "round":
            self.give(b"", 302, Location="/round")
        elif what == "page":
            self.give(b"<html>")
        elif what == "broken.pdf":
            self.give(b"%PDF-1.4\n" + os.urandom(3000))
        elif what == "huge.pdf":
            self.give(b"%PDF-" + bytes(17 << 20))
        elif what == "large":
            self.give(bytes(16 << 20))
        elif what == "slow":
            time.sleep(SLOW_S)
        else:
            self.give(b"", 404)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, default=Path(os.devnull))
    Handler.log = parser.parse_args().log
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()

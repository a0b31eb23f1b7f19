# SPDX-License-Identifier: Apache-2.0
"""A server that speaks OpenAI's protocol and answers from a script."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Reply = str | dict  # the text, or members of the message
Script = list[Reply] | Callable[[list[dict]], Reply]
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.model.asked.append(asked)
        reply = self.server.model.answer(asked["messages"])
        message = {"role": "assistant", "content": None}
        message |= reply if isinstance(reply, dict) else {"content": reply}
        answer = {"id": "1", "created": 0, "model": asked["model"], "usage": USAGE}
        choice = {"index": 0, "finish_reason": "stop"}
        if asked.get("stream"):
            answer |= {
                "object": "chat.completion.chunk",
                "choices": [choice | {"delta": message}],
            }
            self._send(
                "text/event-stream", f"data: {json.dumps(answer)}\n\ndata: [DONE]\n\n".encode()
            )
        else:
            answer |= {"object": "chat.completion", "choices": [choice | {"message": message}]}
            self._send("application/json", json.dumps(answer).encode())

    def log_message(self, *_: object) -> None:
        pass


class ScriptedModel:
    """A running server. It closes at the end of a `with` block.

    script: replies, chosen by the number of replies that a conversation already has. Or it is a
    function from messages to a reply.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[dict] = []  # bodies of the requests
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.model = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, messages: list[dict]) -> Reply:
        if callable(self.script):
            return self.script(messages)
        return self.script[sum(m["role"] == "assistant" for m in messages)]

    def __enter__(self) -> "ScriptedModel":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

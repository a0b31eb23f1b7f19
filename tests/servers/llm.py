#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that speaks OpenAI's chat completions and Anthropic's messages, by a script.

    llm.py SCRIPT.json [--tls CERT KEY] [--log FILE]

It prints its port, and serves until its standard input ends. It writes each request into the log as
a line of JSON. The script maps each model's name to an object, which has one of these forms:

    {"tries": [REPLY, ...]}          the first request gets the first, and so on; the last one stays
    {"cycle": [REPLY, ...]}          the same, over and over
    {"turns": [REPLY | [REPLY, ...], ...]}
                                     chosen by the number of the assistant's messages; a list is
                                     tried as "tries" are, for that turn

A REPLY may hold

    text, thinking      what the model says
    uses                [{"id", "name", "arguments": {...} or text}]
    stop                "stop", "length", "tool_calls", "content_filter"
    usage               {"sent", "received", "cached"}, or null for none
    status, headers     another status than 200, other headers; error {...} is the body then
    body, type          this body, as it is, instead; of this type
    delay               seconds before anything is sent
    drip                seconds between two pieces of the body
    cut                 how many bytes of the body are sent before the connection breaks
    huge                that many bytes of text
    gzip                true: the body is compressed, a piece of a stream as soon as it is there

In text, thinking and arguments, {KEY} is replaced by the key of the request.
{ESCAPED} is replaced by the same key with JSON escapes.
"""

import argparse
import json
import os
import ssl
import sys
import threading
import time
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

USAGE = {"sent": 100, "received": 10, "cached": 0}


def pieces(text: str) -> list[str]:
    size = max(5, len(text) // 1000)
    return [text[i : i + size] for i in range(0, len(text), size)]


def argument_text(use: dict) -> str:
    arguments = use.get("arguments", {})
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def sse(events: list, named: bool = False) -> str:
    lines = []
    for event in events:
        if named:
            lines.append(f"event: {event['type']}\n")
        data = event if isinstance(event, str) else json.dumps(event)
        lines.append(f"data: {data}\n\n")
    return "".join(lines)


# --- the protocol of OpenAI's chat completions ----------------------------------------------------


def openai_usage(usage: dict) -> dict:
    return {
        "prompt_tokens": usage["sent"],
        "completion_tokens": usage["received"],
        "prompt_tokens_details": {"cached_tokens": usage.get("cached", 0)},
    }


def openai_stop(reply: dict) -> str:
    return reply.get("stop", "tool_calls" if reply.get("uses") else "stop")


def openai_whole(reply: dict, usage: dict | None) -> str:
    message = {"role": "assistant", "content": reply.get("text")}
    if "thinking" in reply:
        message["reasoning_content"] = reply["thinking"]
    if "uses" in reply:
        message["tool_calls"] = [
            {
                "id": use["id"],
                "type": "function",
                "function": {"name": use["name"], "arguments": argument_text(use)},
            }
            for use in reply["uses"]
        ]
    root = {"choices": [{"index": 0, "message": message, "finish_reason": openai_stop(reply)}]}
    return json.dumps(root | ({"usage": openai_usage(usage)} if usage else {}))


def openai_stream(reply: dict, usage: dict | None) -> str:
    deltas = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": piece} for piece in pieces(reply.get("thinking", ""))]
    deltas += [{"content": piece} for piece in pieces(reply.get("text", ""))]
    for i, use in enumerate(reply.get("uses", [])):
        begin = {"index": i, "id": use["id"], "type": "function"}
        begin["function"] = {"name": use["name"], "arguments": ""}
        deltas.append({"tool_calls": [begin]})
        deltas += [
            {"tool_calls": [{"index": i, "function": {"arguments": piece}}]}
            for piece in pieces(argument_text(use))
        ]
    events = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": openai_stop(reply)}]})
    if usage:
        events.append({"choices": [], "usage": openai_usage(usage)})
    return sse([*events, "[DONE]"])


# --- the protocol of Anthropic's messages ---------------------------------------------------------


def anthropic_usage(usage: dict) -> dict:
    cached = usage.get("cached", 0)
    return {
        "input_tokens": usage["sent"] - cached,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": usage["received"],
    }


def anthropic_stop(reply: dict) -> str:
    names = {"length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}
    return names.get(openai_stop(reply), "end_turn")


def anthropic_blocks(reply: dict) -> list[dict]:
    blocks = []
    if "thinking" in reply:
        blocks.append({"type": "thinking", "thinking": reply["thinking"], "signature": "signed"})
    if reply.get("text"):
        blocks.append({"type": "text", "text": reply["text"]})
    for use in reply.get("uses", []):
        block = {"type": "tool_use", "id": use["id"], "name": use["name"]}
        blocks.append(block | {"input": json.loads(argument_text(use))})
    return blocks


def anthropic_whole(reply: dict, usage: dict | None) -> str:
    root = {"type": "message", "role": "assistant", "content": anthropic_blocks(reply)}
    root["stop_reason"] = anthropic_stop(reply)
    return json.dumps(root | ({"usage": anthropic_usage(usage)} if usage else {}))


def anthropic_deltas(block: dict) -> tuple[dict, list[dict]]:
    """How a block begins, and what is added to it."""
    kind = block["type"]
    if kind == "text":
        deltas = [{"type": "text_delta", "text": p} for p in pieces(block["text"])]
        return {"type": kind, "text": ""}, deltas
    if kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
        return {"type": kind, "thinking": "", "signature": ""}, deltas
    text = json.dumps(block["input"])
    deltas = [{"type": "input_json_delta", "partial_json": p} for p in pieces(text)]
    return block | {"input": {}}, deltas


def anthropic_stream(reply: dict, usage: dict | None) -> str:
    counts = anthropic_usage(usage) if usage else {}
    output = {"output_tokens": counts.pop("output_tokens")} if usage else {}
    events: list[dict] = [{"type": "message_start", "message": {"usage": counts}}]
    events.append({"type": "ping"})
    for i, block in enumerate(anthropic_blocks(reply)):
        begin, deltas = anthropic_deltas(block)
        events.append({"type": "content_block_start", "index": i, "content_block": begin})
        events += [{"type": "content_block_delta", "index": i, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", "index": i})
    stop = {"stop_reason": anthropic_stop(reply)}
    events.append({"type": "message_delta", "delta": stop, "usage": output})
    return sse([*events, {"type": "message_stop"}], named=True)


WRITERS = {
    ("openai", False): openai_whole,
    ("openai", True): openai_stream,
    ("anthropic", False): anthropic_whole,
    ("anthropic", True): anthropic_stream,
}

# --- the HTTP server and its script ---------------------------------------------------------------


class Script:
    def __init__(self, path: str, log: str | None):
        self.models = json.loads(Path(path).read_text(encoding="utf-8"))
        self.log = log
        self.asked: Counter = Counter()
        self.lock = threading.Lock()

    def note(self, entry: dict):
        if self.log:
            with self.lock, open(self.log, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def nth(self, key: tuple, replies: list, again: bool = False) -> dict:
        with self.lock:
            n = self.asked[key]
            self.asked[key] += 1
        return replies[n % len(replies) if again else min(n, len(replies) - 1)]

    def reply(self, request: dict) -> dict:
        name = request.get("model")
        if name not in self.models:
            return {"status": 404, "error": {"message": f"there is no model '{name}'"}}
        script = self.models[name]
        if "cycle" in script:
            return self.nth((name,), script["cycle"], again=True)
        if "tries" in script:
            return self.nth((name,), script["tries"])
        said = sum(m["role"] == "assistant" for m in request["messages"])
        turn = script["turns"][min(said, len(script["turns"]) - 1)]
        return self.nth((name, said), turn) if isinstance(turn, list) else turn


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    script: Script

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = json.loads(body)
        headers = {k.lower(): v for k, v in self.headers.items()}
        self.script.note({"path": self.path, "headers": headers, "body": request})
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        script = json.dumps(self.script.reply(request)).replace("{KEY}", key)
        reply = json.loads(script.replace("{ESCAPED}", "".join(f"\\\\u{ord(c):04x}" for c in key)))
        time.sleep(reply.get("delay", 0))
        self.answer(reply, *self.render(reply, request))

    def render(self, reply: dict, request: dict) -> tuple[str, str]:
        """The body and its type."""
        kind = "anthropic" if self.path.endswith("/messages") else "openai"
        if "body" in reply:
            return reply["body"], reply.get("type", "application/json")
        if reply.get("status", 200) != 200:
            error = reply.get("error", {"message": "it is scripted to fail"})
            return json.dumps({"error": error}), reply.get("type", "application/json")
        if "huge" in reply:
            reply = reply | {"text": "x" * reply["huge"]}
        stream = bool(request.get("stream"))
        text = WRITERS[kind, stream](reply, reply.get("usage", USAGE))
        return text, reply.get("type", "text/event-stream" if stream else "application/json")

    def answer(self, reply: dict, body: str, kind: str):
        data = body.encode("utf-8", "surrogateescape")
        chunked = kind == "text/event-stream"
        pieces = self.pieces(reply, data, chunked)
        self.send_response(reply.get("status", 200))
        self.send_header("Content-Type", kind)
        if reply.get("gzip"):
            self.send_header("Content-Encoding", "gzip")
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(sum(map(len, pieces))))
        for name, value in reply.get("headers", {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.send(pieces, chunked, reply)

    def pieces(self, reply: dict, data: bytes, chunked: bool) -> list[bytes]:
        """Splits the body into the pieces that are sent separately."""
        size = 7 if reply.get("drip") else 65536
        pieces = [data[i : i + size] for i in range(0, len(data), size)]
        if reply.get("gzip"):
            packer = zlib.compressobj(9, zlib.DEFLATED, 31)
            flush = zlib.Z_SYNC_FLUSH if chunked else zlib.Z_NO_FLUSH
            pieces = [packer.compress(piece) + packer.flush(flush) for piece in pieces]
            pieces.append(packer.flush())
        return pieces

    def send(self, pieces: list[bytes], chunked: bool, reply: dict):
        left = reply.get("cut", sys.maxsize)
        for piece in pieces:
            sent = piece[:left]
            left -= len(sent)
            if sent:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(sent), sent) if chunked else sent)
            time.sleep(reply.get("drip", 0))
        if "cut" in reply:
            self.close_connection = True
        elif chunked:
            self.wfile.write(b"0\r\n\r\n")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        """A client that goes away, which is part of the game, is no news."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("script")
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--log")
    args = parser.parse_args()
    Handler.script = Script(args.script, args.log)
    server = Server(("127.0.0.1", 0), Handler)
    if args.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*args.tls)
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()

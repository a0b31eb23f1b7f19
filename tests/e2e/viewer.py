# SPDX-License-Identifier: Apache-2.0
"""A viewer's server, and records for it."""

import http.client
import json
import subprocess
import urllib.parse
import urllib.request

STEP = {
    "event": "step",
    "action": "ls\nsecond line",
    "observation": "out",
    "info": {"exit_code": 0, "outcome": "ok", "duration_s": 0.5},
}
OPEN = {
    "event": "open",
    "task": "rows",
    "variant": "",
    "metric": "rmse",
    "maximize": False,
    "baseline": {"rmse": 3.0},
    "model": "m",
}


class Viewer:
    def __init__(self, fumehood, *places):
        self.child = fumehood.start("view", *places, stdout=subprocess.PIPE, text=True)
        self.address = self.child.stdout.readline().strip()
        self.port = urllib.parse.urlsplit(self.address).port
        self.token = urllib.parse.urlsplit(self.address).path.strip("/")

    def get(self, path: str, **query):
        url = f"{self.address}{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=60) as reply:
            return json.load(reply) if path.startswith("api/") else reply.read().decode()

    def ids(self) -> dict:
        return {run["name"]: run["id"] for run in self.runs()}

    def runs(self) -> list:
        answer = self.get("api/runs")
        return [dict(zip(answer["columns"], run, strict=False)) for run in answer["runs"]]

    def listed(self, n: int) -> list:
        """All runs, which are so many, once they are indexed."""
        runs = self.runs()
        assert len(runs) == n
        return runs

    def run(self) -> dict:
        """The only run."""
        (one,) = self.ids().values()
        return self.get("api/run", run=one)

    def status(self, path: str, method="GET", body=None, **headers) -> int:
        """Status of a request whose path is sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        reply = connection.getresponse()
        reply.read()
        connection.close()
        return reply.status

    def end(self) -> int:
        self.child.terminate()
        return self.child.wait(60)


def write_events(path, *events) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(event) + "\n" for event in events))


def write_traj(path, n=3) -> str:
    steps = [
        {
            "state": '{"open_file": "n/a", "working_dir": "/w"}',
            "response": "r",
            "thought": "t",
            "action": "validate" if i else "edit 1:1\nx\nend_of_edit",
            "execution_time": 0.25,
            "observation": f"Evaluation Score: {{'rmse': {i}.5, 'other': 9}}" if i else "[File: x]",
        }
        for i in range(n)
    ]
    history = [{"role": "system", "content": '{]"}', "agent": "a"}]
    info = {"exit_status": "submitted", "score": [{"rmse": 1.5}], "model_stats": {"tokens_sent": 7}}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps(
            {"environment": "e", "trajectory": steps, "history": history, "info": info}, indent=2
        )
    )
    return path.read_text()

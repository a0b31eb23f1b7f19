# SPDX-License-Identifier: Apache-2.0
"""verifiers' own taskset `openenv`, unmodified, plays on `fumehood serve`."""

import asyncio
import json
import sys
import types

# openenv imports fastmcp for its server, which needs mcp below 2. verifiers needs mcp 2. The client
# of openenv, which the taskset uses, works without fastmcp: empty classes stand for it.
for name in ("fastmcp", "fastmcp.client", "fastmcp.client.client"):
    module = sys.modules[name] = types.ModuleType(name)
    module.Client = module.FastMCP = module.CallToolResult = object

import verifiers.v1 as vf  # noqa: E402
from scripted_model import ScriptedModel  # noqa: E402
from served import served  # noqa: E402

SIGNS = """awk -F, 'NR == 1 {print "id,sign"} NR > 1 {print $1 "," ($2 > 0)}' data.csv"""


def test_the_taskset_openenv(tmp_path):
    async def run(env, url):
        client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
        context = vf.ModelContext(model="scripted", client=client, sampling=vf.SamplingConfig())
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task, 1)]
            return await asyncio.gather(*(env.run_slot(slot, context) for slot in slots))

    script = [f"{SIGNS} >submission.csv", json.dumps({"command": "submit"})]
    with served(tmp_path) as port, ScriptedModel(script) as model:
        address = f"http://127.0.0.1:{port}"
        config = {
            "taskset": {"id": "openenv", "base_url": address, "resets": [{"seed": 3}]},
            "player": {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}},
            "interception": {"type": "server"},
        }
        env = vf.load_environment(vf.resolve_env_config(config))
        (episode,) = asyncio.run(run(env, model.url))
    assert not episode.errors
    (trace,) = episode.traces
    assert trace.ok and not trace.errors and trace.num_turns == len(model.asked) == 2
    assert trace.rewards["openenv_reward"].score == 0.5  # all rows are right; the baseline has half
    assert "submission.csv" in json.dumps(model.asked[0])

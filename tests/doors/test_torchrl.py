# SPDX-License-Identifier: Apache-2.0
"""TorchRL's own checks, batched environments, collectors and policies play our environments."""

import copy
import functools
import math
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import fumehood
import pytest
import torch
from fumehood.torchrl import MLGymEnv, repair
from fumehood.torchrl_repair import without_special
from tensordict import NonTensorData, TensorDict, lazy_stack
from tensordict.nn import TensorDictModuleBase
from torchrl.collectors import Collector
from torchrl.collectors.llm import LLMCollector
from torchrl.data.llm.history import History
from torchrl.envs import ParallelEnv, SerialEnv
from torchrl.envs.utils import check_env_specs
from torchrl.modules.llm import TransformersWrapper
from torchrl.modules.llm.policies.common import ChatHistory, Text

GAME = "battleOfSexes"
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ("I look.\n```\nls\n```", "It goes.\n```\nvalidate\n```", "no block", "```\nsubmit\n```")


@functools.cache
def byte_tokenizer():
    """A tokenizer of bytes, which needs no download."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        chat_template="{% for m in messages %}[{{ m.role }}] {{ m.content }}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}[assistant] {% endif %}",
    )


def scripted(td):
    """A policy that says a line of SCRIPT in each turn."""
    prompts, fulls = td["history"].prompt, []
    for i in range(td.batch_size[0]):
        said = sum(role == "assistant" for role in prompts[i].role)
        reply = History(role="assistant", content=SCRIPT[min(said, len(SCRIPT) - 1)])
        fulls.append(prompts[i].append(reply, inplace=False))
    return td.set("history", ChatHistory(prompt=prompts, full=lazy_stack(fulls)))


class Scripted(TensorDictModuleBase):
    """The same policy as a module, which tells a collector its keys."""

    in_keys = [("history", "prompt")]  # noqa: RUF012
    out_keys = [("history", "full")]  # noqa: RUF012

    def forward(self, td):
        return scripted(td)


def make(**options):
    return MLGymEnv(GAME, **{"batch_size": 1} | options)


def last_message(data, i=0):
    return data["next", "history"].prompt[i, -1].content[-1]


@pytest.mark.parametrize("mode", ["history", "text"])
def test_check_env_specs(mode):
    env = make(
        batch_size=2, input_mode=mode, tokenizer=byte_tokenizer() if mode == "text" else None
    )
    check_env_specs(env, seed=1)
    data = env.rollout(3)
    assert data.shape == (2, 3) and not data["next", "retry"].any()
    assert re.search(r"strategy.py|/home/agent/workspace", last_message(data))
    env.close()


def test_an_episode():
    env = make(batch_size=2, reward_wrong_format=-0.5, seed=3)
    data = env.rollout(8, scripted)
    rewards, scores = data["next", "reward"][0, :, 0], data["next", "score"][0, :, 0]
    assert data.shape == (2, 4) and data["next", "terminated"][:, -1].all()
    assert rewards.dtype == torch.float32 and scores.dtype == torch.float64
    assert rewards[0] == 0 and rewards[1] != 0 and rewards[2] == -0.5
    assert math.isnan(scores[0]) and scores[1] > 0.5 and scores[3] > 0.5
    assert data["next", "retry"][0, :, 0].tolist() == [False, False, True, False]
    roles = data["next", "history"].prompt[0, -1].role
    assert roles == ["system", "user"] + ["assistant", "user"] * 4
    assert "Exited (submit)" in last_message(data)  # the result of the step, not of the one before
    prompts = data["history"].prompt[0]
    assert prompts[1].content[:2] == prompts[0].content  # prompts only grow
    assert '"working_dir": "/home/agent/workspace"' in data["state"][0][0]
    env.close()


@pytest.mark.parametrize("text", ["?", "```\necho \0\n```", "```\necho \ud800\n```"])
def test_three_wrong_replies_end_the_episode(text):
    env = make()
    data = env.reset()
    for _ in range(3):
        full = (
            data["history"].prompt[0].append(History(role="assistant", content=text), inplace=False)
        )
        data["history"].full = lazy_stack([full])
        result = env.step(data)
        data = result["next"].clone()
    assert data["terminated"].all() and "Exited (exit_format)" in data["message"][0]
    env.close()


def test_rollouts_go_on_after_an_end():
    env = make(batch_size=2)
    data = env.rollout(10, scripted, break_when_any_done=False)
    assert data.shape == (2, 10) and data["next", "done"][..., 0].sum(-1).tolist() == [2, 2]
    env.close()


def test_equal_seeds_draw_equal_episodes():
    env = make(batch_size=2)
    command = "```\necho $RANDOM\n```"
    printed = []
    for seed in (5, 5, 6):
        env.set_seed(seed)
        data = env.reset()
        data["history"].full = History.from_chats([[{"role": "assistant", "content": command}]] * 2)
        printed.append(list(env.step(data)["next", "message"]))
    assert printed[0] == printed[1] != printed[2] and printed[0][0] != printed[0][1]
    env.close()
    with pytest.raises(fumehood.ClosedError):
        env.reset()


def test_tasks():
    env = MLGymEnv([GAME, "titanicSurvival:micro"], seed=0)
    drawn = {env.reset()["task"][0] for _ in range(12)}
    assert drawn == {GAME, "titanicSurvival:micro"}
    wanted = TensorDict(task=["titanicSurvival:micro"], batch_size=(1,))
    data = env.reset(wanted)
    assert data["task"][0] == "titanicSurvival:micro"
    assert "titanic" in data["history"].prompt[0].content[-1].lower()
    env.close()


def test_wrong_arguments():
    with pytest.raises(fumehood.MissingError):
        MLGymEnv("nothing")
    with pytest.raises(ValueError, match="task is"):
        MLGymEnv([])
    with pytest.raises(ValueError, match="no chat_template_name 'nope'"):
        make(tokenizer=byte_tokenizer(), chat_template_name="nope")
    with pytest.raises(ValueError, match="need a tokenizer"):
        make(chat_template_name="chatml_format")
    for batch_size in (0, (2, 3)):
        with pytest.raises(ValueError, match="batch_size"):
            make(batch_size=batch_size)
    with pytest.raises(TypeError, match="no option 'yyy', 'zzz'"):
        make(zzz=1, max_steps=2, yyy=1)


def test_text_mode():
    env = make(input_mode="text", tokenizer=byte_tokenizer(), reward_wrong_format=-1.0)
    data = env.reset()
    prompt = data["text"].prompt[0]
    for reply in ("Hi.\n```\necho $((6*7))\n```", "no block"):
        assert prompt.endswith("[assistant] ")
        data["text"] = Text(prompt=[prompt], full=[f"{prompt}{reply}<|im_end|>"], batch_size=(1,))
        result = env.step(data)["next"]
        before, prompt = prompt, result["text"].prompt[0]
        assert prompt.startswith(f"{before}{reply}<|im_end|>[user] ")
        data = result.clone()
    assert "42" in prompt and result["reward"].item() == -1
    env.close()


def test_template_options():
    chatml = make(tokenizer=byte_tokenizer(), chat_template_name="chatml_format")
    assert chatml.reset()["text"].prompt[0].startswith("<|im_start|>system\n")
    env = MLGymEnv(
        [GAME, "titanicSurvival:micro"],
        batch_size=2,
        tokenizer=byte_tokenizer(),
        tokenize=True,
        padding=True,
    )
    tasks = TensorDict(task=[GAME, "titanicSurvival:micro"], batch_size=(2,))
    data = env.reset(tasks)
    ids = data["tokens"].prompt
    texts = byte_tokenizer().batch_decode(ids, skip_special_tokens=False)
    assert ids.shape[0] == 2 and [t.replace("<|endoftext|>", "") for t in texts] == list(
        data["text"].prompt
    )
    env.close()
    chatml.close()


def test_truncation():
    tokenizer = copy.copy(byte_tokenizer())
    tokenizer.model_max_length = 64
    for truncation, lengths in ((True, {64}), (False, range(65, 100_000))):
        env = make(tokenizer=tokenizer, tokenize=True, truncation=truncation)
        assert len(env.reset()["tokens"].prompt[0]) in lengths
        env.close()


def test_random_ends_of_replies():
    """Special tokens go, however many and in any order. Quadratic time would be minutes."""
    tokenizer = byte_tokenizer()
    ends = [*tokenizer.all_special_tokens, "\n"]
    pieces = [*ends, "<|", "|>", "```\nls\n```", " ", "\0", "\ud800", ""]
    draw = random.Random(21)
    for _ in range(2000):
        body = "".join(draw.choices(pieces, k=4))
        while body.endswith(tuple(ends)):
            body = body[:-1]
        reply = body + "".join(draw.choices(ends, k=draw.randrange(4)))
        assert without_special(reply, tokenizer) == body
        assert without_special(reply + "<|x|>", tokenizer, "<|x|>", "") == body
    assert without_special("a\n", None) == "a"
    start = time.process_time()
    assert without_special("a" + "".join(draw.choices(ends, k=300_000)), tokenizer) == "a"
    assert time.process_time() - start < 30


def test_a_model_plays():
    """A tiny model of random weights, in TorchRL's own wrapper."""
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = byte_tokenizer()
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=16384, n_embd=8, n_layer=1, n_head=1)
    policy = TransformersWrapper(
        GPT2LMHeadModel(config),
        tokenizer=tokenizer,
        input_mode="history",
        generate=True,
        generate_kwargs={"max_new_tokens": 4, "do_sample": True},
    )
    env = make(batch_size=2, reward_wrong_format=-1.0)
    data = env.rollout(2, policy)
    assert data.shape == (2, 2) and data["next", "retry"].all()
    assert data["next", "reward"].unique().tolist() == [-1]
    assert data["log_probs"] is not None
    env.close()


def test_serial():
    env = SerialEnv(2, make)
    check_env_specs(env)
    assert env.rollout(4, None).shape == (2, 1, 4)
    env.close()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_parallel(method):
    env = ParallelEnv(2, make, mp_start_method=method, consolidate=False)
    try:
        assert env.rollout(3, None).shape == (2, 1, 3)
        check_env_specs(env)
    finally:
        env.close()


def test_collectors():
    collector = LLMCollector(
        make, policy=Scripted(), dialog_turns_per_batch=6, total_dialog_turns=12
    )
    batches = list(collector)
    assert [batch.numel() for batch in batches] == [6, 6]
    assert sum(batch["next", "done"].sum().item() for batch in batches) == 3
    collector.shutdown()
    collector = Collector(make, Scripted(), frames_per_batch=3, total_frames=6)
    assert [batch.numel() for batch in collector] == [3, 3]
    collector.shutdown()


# --- make_mlgym() of TorchRL, over the module mlgym of python/mlgym -------------------------------


def make_mlgym(**options):
    """Calls TorchRL's function after its repair. It runs in other processes, too."""
    sys.path.insert(0, str(ROOT / "python/mlgym"))
    repair()
    from torchrl.envs.llm.libs.mlgym import make_mlgym

    options = {"task": GAME, "tokenizer": byte_tokenizer(), "reward_wrong_format": -1.0} | options
    return make_mlgym(**options)


def say(env, td, reply):
    td["text_response"] = NonTensorData(reply)
    return env.step(td)["next"]


def test_make_mlgym():
    env = make_mlgym()
    td, said = env.reset(), []
    assert td["text"].startswith("[system] ") and td["text"].endswith("[assistant] ")
    rewards = []
    for reply in SCRIPT:
        td = say(env, td, f"{reply}<|im_end|>")
        rewards.append(td["reward"].item())
        said.append(td["history"][-1].content)
    assert "strategy.py" in said[0] and "Evaluation Score" in said[1]
    assert "Nothing was run" in said[2] and "Exited (submit)" in said[3]
    score, baseline = (
        float(re.search(rf"{name} Score: {{'Score': (.*)}}", said[1])[1])
        for name in ("Evaluation", "Baseline")
    )
    assert rewards[:3] == [0, pytest.approx(score - baseline, abs=1e-6), -1] and rewards[3]
    assert td["done"].all()
    assert td["history"].role == ["system", "user"] + ["assistant", "user"] * 4
    assert td["history"][2].content == SCRIPT[0] in td["text"]
    env.close()


def test_make_mlgym_of_any_metric():
    env = make_mlgym(task="titanicSurvival-micro")
    td = say(env, env.reset(), "```\npython3 baseline.py && validate\n```")
    assert "{'accuracy': " in td["history"][-1].content
    td = say(
        env,
        td,
        "```\nawk -F, -v OFS=, 'NR > 1 { $2 = 1 - $2 } 1' submission.csv > s; mv s submission.csv\nvalidate\n```",
    )
    scores = dict(re.findall(r"(\w+) Score: {'accuracy': (.*?)}", td["history"][-1].content))
    expected = float(scores["Evaluation"]) - float(scores["Baseline"])
    assert expected != 0 and td["reward"].item() == pytest.approx(expected, abs=1e-6)
    env.close()


def test_make_mlgym_of_many_tasks():
    tasks = [GAME, "prisonersDilemma"]
    env = make_mlgym(task=None, tasks=tasks)
    drawn = {env.reset()["task"] for _ in range(12)}
    assert drawn == set(tasks)
    env.close()


def test_make_mlgym_passes_check_env_specs():
    env = make_mlgym()
    check_env_specs(env)
    env.close()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_make_mlgym_in_parallel(method):
    env = ParallelEnv(2, make_mlgym, mp_start_method=method, consolidate=False)
    assert env.rollout(2, None).shape == (2, 2)
    env.close()


def test_templates_by_name():
    """The keyword of TemplateTransform, whose module TorchRL renamed."""
    env = make_mlgym()
    (transform,) = (t for t in env.transform if hasattr(t, "chat_template_name"))
    transform.chat_template_name = "chatml_format"
    td = say(env, env.reset(), SCRIPT[0])
    assert td["text"].startswith("<|im_start|>system\n") and SCRIPT[0] in td["text"]
    env.close()


def test_command_files_and_states_of_mlgym():
    env = make_mlgym().base_env._env
    env.reset_container()
    env.add_commands(
        [
            {"name": "greet", "contents": "#!/bin/sh\necho hi", "type": "script"},
            {"name": "part.sh", "contents": "leave() { echo bye; }", "type": "source_file"},
        ]
    )
    env.reset()
    observation, reward, done, _, info = env.step("greet; leave; pwd")
    assert observation == "hi\nbye\n/home/agent/workspace\n" and not reward and not done
    assert env.communicate("false") == "" and env.returncode == 1
    assert '"working_dir": "/home/agent/workspace"' in env.communicate("state")
    assert env.current_step == 1 and env.max_steps == 10 and info["score"] is None
    other = make_mlgym().base_env._env
    assert len({env.container_obj.id, other.container_obj.id}) == 2  # air-agent looks for them
    env.close()
    other.close()


def test_the_folder_stays():
    before = os.getcwd()
    env = make()
    env.rollout(2)
    env.close()
    assert os.getcwd() == before


def test_the_example(tmp_path):
    """The first program of docs/torchrl.md."""
    code = re.search(r"```python\n(.*?)\n```\n", (ROOT / "docs/torchrl.md").read_text(), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code[1]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "reward" in done.stdout

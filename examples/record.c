/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An episode that a trainer plays and records. A canned policy stands for the model. The record has
 * the conversation, the policy's training step, and the trainer's own numbers. With an installed
 * Fumehood:
 *
 *   cc record.c $(pkg-config --cflags --libs fumehood) -o record && ./record [TASK [OUT]]
 */
#include <fumehood/agent.h>
#include <fumehood/record.h>

#include <stdio.h>
#include <stdlib.h>

#define SEED 7

static struct fh_error err = FH_ERROR_INIT;

static void check(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "record: %s\n", err.message);
	exit(1);
}

static const char *const policy[] = { "I look.\n```\nls\n```", "```\nvalidate\n```",
	"Enough.\n```\nsubmit\n```" };

/* Plays a turn: a message, a reply, a step, and the record of the step. */
static double turn(struct fh_env *env, struct fh_chat *chat, struct fh_recorder *recorder,
		struct fh_step *step)
{
	const char *text = policy[step->step < 2 ? step->step : 2];
	struct fh_decision decision;
	struct fh_action action = FH_ACTION();
	struct fh_turn made = FH_TURN();
	char numbers[64];

	check(fh_chat_observe(chat, step, &err));
	check(fh_chat_reply(chat, &FH_REPLY(.content = text), &decision, &err));
	action.text = made.action = decision.action;
	action.beside_bytes = decision.beside_bytes;
	check(fh_env_step(env, &action, step, &err));
	snprintf(numbers, sizeof(numbers), "{\"value\": %.2f, \"logprob\": -1.25}",
			0.5 / step->step);
	made.thought = decision.thought;
	made.response = decision.response;
	made.numbers = numbers;
	check(fh_recorder_step(recorder, &made, step, &err));
	return step->reward;
}

static void play(struct fh_env *env, struct fh_agent *agent, const char *out)
{
	struct fh_recorder *recorder;
	struct fh_chat *chat;
	struct fh_step step;
	char numbers[64];
	double sum = 0;

	check(fh_recorder_open(&FH_RECORDER_OPTIONS(.env = env, .seed = SEED, .out = out,
					       .model = "canned", .agent = agent,
					       .has_policy_step = true, .policy_step = 12),
			&recorder, &err));
	check(fh_env_reset(env, &FH_RESET(.seed = SEED), &step, &err));
	check(fh_recorder_reset(recorder, &step, &err));
	check(fh_chat_open(agent, &FH_CHAT_OPTIONS(.env = env, .recorder = recorder), &chat, &err));
	while (!step.terminated && !step.truncated)
		sum += turn(env, chat, recorder, &step);
	snprintf(numbers, sizeof(numbers), "{\"return\": %g}", sum);
	check(fh_recorder_end(
			recorder, &FH_RECORD_END(.numbers = numbers, .calls = step.step), &err));
	puts(fh_recorder_traj(recorder));
	fh_chat_close(chat);
	fh_recorder_close(recorder);
}

int main(int argc, char **argv)
{
	const struct fh_env_options options =
			FH_ENV_OPTIONS(.task = argc > 1 ? argv[1] : "titanicSurvival:micro",
					.max_text_bytes = FH_RECORD_TEXT_BYTES);
	struct fh_agent *agent;
	struct fh_gym *gym;
	struct fh_env *env;

	check(fh_gym_open(NULL, &gym, &err));
	check(fh_env_open(gym, &options, &env, &err));
	check(fh_agent_open(NULL, &agent, &err));
	check(fh_agent_set_up(agent, env, &err));
	play(env, agent, argc > 2 ? argv[2] : NULL);
	fh_agent_close(agent);
	fh_env_close(env);
	fh_gym_close(gym);
	return 0;
}

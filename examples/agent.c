/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An episode whose model this program asks by itself, as a trainer does. Replies are the lines of a
 * file, in which "\\n" stands for a new line. Without a file they are canned. At the end the
 * conversation is printed as JSON. With an installed Fumehood:
 *
 *   cc agent.c $(pkg-config --cflags --libs fumehood) -o agent && ./agent [TASK [AGENT [REPLIES]]]
 */
#include <fumehood/agent.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 4096

static struct fh_error err = FH_ERROR_INIT;

static void check(int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "agent: %s\n", err.message);
	exit(1);
}

/* Stands for the language model: a trainer would send fh_chat_json() to it. */
static const char *ask_model(FILE *replies, const char *messages)
{
	static const char *const canned[] = { "I look at the files.\n```\nls\n```",
		"I forgot the command.", "Now with a command.\n```\npython3 baseline.py\n```",
		"Done.\n```\nsubmit\n```" };
	static char line[LINE_MAX_BYTES];
	static size_t asked;
	size_t n = 0;

	fprintf(stderr, "a request of %zu bytes\n", strlen(messages));
	if (!replies)
		return asked < sizeof(canned) / sizeof(canned[0]) ? canned[asked++]
								  : "```\nsubmit\n```";
	if (!fgets(line, sizeof(line), replies))
		return "```\nsubmit\n```";
	for (const char *s = line; *s && *s != '\n'; s++) {
		bool is_break = s[0] == '\\' && s[1] == 'n';

		line[n++] = is_break ? '\n' : *s;
		s += is_break;
	}
	line[n] = '\0';
	return line;
}

static void play(struct fh_env *env, struct fh_chat *chat, FILE *replies)
{
	struct fh_decision decision;
	struct fh_step step;

	check(fh_env_reset(env, NULL, &step, &err));
	while (!step.terminated && !step.truncated) {
		check(fh_chat_observe(chat, &step, &err));
		do {
			const char *text = ask_model(replies, fh_chat_json(chat));

			check(fh_chat_reply(chat, &FH_REPLY(.content = text), &decision, &err));
		} while (decision.kind == FH_DECISION_ASK_AGAIN);
		check(fh_env_step(env, &FH_ACTION(.text = decision.action), &step, &err));
	}
	fprintf(stderr, "%s, reward %g\n", step.exit_status, step.reward);
	puts(fh_chat_history_json(chat));
}

int main(int argc, char **argv)
{
	const char *task = argc > 1 ? argv[1] : "titanicSurvival:micro";
	const char *config = argc > 2 ? argv[2] : NULL;
	FILE *replies = argc > 3 ? fopen(argv[3], "r") : NULL;
	struct fh_agent *agent;
	struct fh_chat *chat;
	struct fh_gym *gym;
	struct fh_env *env;

	check(fh_gym_open(NULL, &gym, &err));
	check(fh_env_open(gym, &FH_ENV_OPTIONS(.task = task), &env, &err));
	check(fh_agent_open(&FH_AGENT_OPTIONS(.config = config), &agent, &err));
	check(fh_agent_set_up(agent, env, &err));
	check(fh_chat_open(agent, &FH_CHAT_OPTIONS(.env = env), &chat, &err));
	play(env, chat, replies);
	fh_chat_close(chat);
	fh_agent_close(agent);
	fh_env_close(env);
	fh_gym_close(gym);
	if (replies)
		fclose(replies);
	return 0;
}

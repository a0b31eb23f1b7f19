/* SPDX-License-Identifier: Apache-2.0 */
#include "env/action.h"

#include "base/scope.h"
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define TIMEOUT_MS_MAX (30LL * 24 * 3600 * 1000)

static const struct {
	const char *word;
	enum action_kind kind;
} words[] = {
	{ "skip", ACTION_SKIP },
	{ "exit_forfeit", ACTION_FORFEIT },
	{ "exit_context", ACTION_EXIT },
	{ "exit_cost", ACTION_EXIT },
	{ "exit_error", ACTION_EXIT },
	{ "exit_format", ACTION_EXIT },
	{ "exit_api", ACTION_EXIT },
};

/*
 * Programs that train models. action_trains() searches the whole text for them, since `cd x &&
 * nohup python3 train.py` trains too. "python" covers python3.
 */
static const char *const trainers[] = { "python", "torchrun", "accelerate", "deepspeed" };

static bool action_is_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(text, word, n) != 0)
		return false;
	text += n;
	return !text[strspn(text, " \t\r\n")];
}

/* Returns true if the text begins with an edit command, as "edit 12:30". */
static bool action_starts_edit(const char *text)
{
	if (!str_starts(text, "edit"))
		return false;
	text += strlen("edit");
	if (!isblank((unsigned char)*text))
		return false;
	text += strspn(text, " \t");
	if (!isdigit((unsigned char)*text))
		return false;
	text += strspn(text, "0123456789");
	return text[0] == ':' && isdigit((unsigned char)text[1]);
}

enum action_kind action_kind(const char *text, const char **out_word)
{
	text += strspn(text, " \t\r\n");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (action_is_word(text, words[i].word)) {
			*out_word = words[i].word;
			return words[i].kind;
		}
	}
	if (action_starts_edit(text) && !strstr(text, "end_of_edit") &&
			!memmem(text, strcspn(text, "\n"), "<<", 2))
		return ACTION_MALFORMED_EDIT;
	return ACTION_COMMAND;
}

bool action_trains(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(trainers); i++)
		if (strstr(text, trainers[i]))
			return true;
	return false;
}

int action_check(const struct fh_action *action, struct fh_error *err)
{
	if (!action->text)
		return error_say(err, EINVAL, "an action needs a text");
	if (strnlen(action->text, FH_ACTION_BYTES_MAX + 1) > FH_ACTION_BYTES_MAX)
		return error_say(err, E2BIG, "the action is longer than %d bytes",
				FH_ACTION_BYTES_MAX);
	if (action->timeout_s != 0 &&
			(!(action->timeout_s >= FH_TIMEOUT_S_MIN) || isinf(action->timeout_s)))
		return error_say(err, EINVAL,
				"the timeout must be a number of seconds, %g or more, or 0 for the task's own",
				FH_TIMEOUT_S_MIN);
	if (action->beside_bytes < 0)
		return error_say(err, EINVAL, "beside_bytes should be 0 or more");
	return 0;
}

int64_t action_timeout_ms(const struct fh_action *action, int64_t otherwise)
{
	if (action->timeout_s <= 0)
		return otherwise;
	return action->timeout_s < TIMEOUT_MS_MAX / 1e3 ? (int64_t)ceil(action->timeout_s * 1000)
							: TIMEOUT_MS_MAX;
}

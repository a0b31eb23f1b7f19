/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/hide.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/setup.h"
#include "env/words.h"
#include "inside/places.h"
#include "web/papers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/*
 * What an agent reads. Clients find some things in it by regular expressions, which hold the
 * sentences with "valid submission artefact at PATH.", "Baseline Score: {...}", "Evaluation Score:
 * {...}" and "Exited (...)" in place.
 */
static void start_line(struct buf *b)
{
	if (b->len && b->data[b->len - 1] != '\n')
		buf_add_char(b, '\n');
}

void observe_note(struct fh_env *env, const char *format, ...)
{
	va_list ap;

	start_line(&env->observation);
	va_start(ap, format);
	buf_vprintf(&env->observation, format, ap);
	va_end(ap);
	buf_add_char(&env->observation, '\n');
}

/* --- the first one ---------------------------------------------------------------------------- */

static void add_score_line(struct buf *b, const char *label, const struct score *score)
{
	buf_add_str(b, label);
	score_add_repr(b, score);
	buf_add_char(b, '\n');
}

/* How an episode works, in the order in which an agent asks itself. */
static void add_rules(struct buf *b, const struct fh_env *env)
{
	const struct task *task = env->task->task;

	buf_printf(b, "You are the user agent in a sandbox of your own, in the folder %s.\n",
			GUEST_WORKSPACE);
	buf_printf(b, "- It holds the files to start from%s.\n",
			task->n_data ? ", and the data in data/" : "");
	buf_add_str(b,
			"- Each action is a shell command, or several lines of them. The shell "
			"stays the same from step to step.\n");
	buf_printf(b, "- There are %d steps.\n", env->max_steps);
	buf_printf(b,
			"- A command may take %g s; one that runs python, torchrun, accelerate or "
			"deepspeed may take %g s. What runs longer is ended.\n",
			(double)task->short_timeout_ms / 1e3,
			(double)task->training_timeout_ms / 1e3);
	if (task->wall_ms)
		buf_printf(b, "- The whole episode may take %g s, with the time between steps.\n",
				(double)task->wall_ms / 1e3);
	if (task->network == NETWORK_NONE)
		buf_add_str(b, "- There is no network.\n");
	buf_printf(b,
			"- `validate` scores %s as it is then. `submit` scores it and ends the "
			"episode; so does the last step. Scoring happens elsewhere, on a copy.\n",
			*task->grader.submission ? task->grader.submission : "the workspace");
	if (task->grader.validations)
		buf_printf(b, "- You can `validate` %d times.\n", task->grader.validations);
	buf_printf(b, "- What counts is %s: %s is better.\n", task->metric,
			task->maximize ? "more" : "less");
}

char *observe_welcome(const struct fh_env *env)
{
	auto_buf struct buf b = BUF_INIT(1 << 20);

	buf_add_str(&b, env->task->task->description);
	start_line(&b);
	buf_add_char(&b, '\n');
	add_rules(&b, env);
	if (env->baseline.n)
		add_score_line(&b, WORDS_BASELINE, &env->baseline);
	return buf_take(&b);
}

/* --- after a command -------------------------------------------------------------------------- */

static void note_restart(struct fh_env *env, const struct session_result *result)
{
	int status = result->shell_status;
	char how[64];

	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "by signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "with status %d", WEXITSTATUS(status));
	observe_note(env,
			"(The shell ended %s, and a new one was started: files are as they were; "
			"variables, functions and the folder are not.)",
			how);
}

static void note_outcome(struct fh_env *env, const struct session_result *result)
{
	const struct task *task = env->task->task;

	switch (result->outcome) {
	case SESSION_OK:
	case SESSION_RESTARTED:
	case SESSION_GONE:
		break;
	case SESSION_TIMEOUT:
		observe_note(env, WORDS_TIMEOUT "%g s and was ended.)",
				(double)env->timeout_ms / 1e3);
		break;
	case SESSION_OUTPUT_LIMIT:
		observe_note(env, "(There was more output; only the first %d KiB are kept.)",
				(int)(task->output_bytes >> 10));
		break;
	case SESSION_MEMORY_LIMIT:
		observe_note(env,
				"(The memory ran out, and a process was ended: this sandbox may "
				"use %.3g GiB.)",
				(double)task->limits.memory_bytes / (1 << 30));
		break;
	case SESSION_SYNTAX:
		observe_note(env, WORDS_NO_COMMAND " as a shell command.)");
		break;
	}
	if (env->cancelled)
		observe_note(env, "(The command was interrupted.)");
	if (result->restarted)
		note_restart(env, result);
}

void observe_command(struct fh_env *env, const struct session_result *result)
{
	const struct buf *output = result->output;

	buf_clear(&env->folded);
	if (env->task->task->mlgym)
		observe_mlgym_output(&env->folded, buf_str(output), output->len);
	else
		str_add_folded(&env->folded, buf_str(output), output->len);
	str_add_utf8(&env->observation, buf_str(&env->folded), env->folded.len);
	if (env->step.outcome == FH_OUTCOME_OK &&
			(env->folded.truncated || env->observation.truncated)) {
		env->step.outcome = FH_OUTCOME_OUTPUT_LIMIT;
		observe_note(env, "(There was more output, for which no memory was left.)");
	}
	note_outcome(env, result);
}

/* --- after scoring ---------------------------------------------------------------------------- */

void observe_grade(struct fh_env *env, const struct grade_result *result)
{
	switch (result->verdict) {
	case GRADE_SCORED:
		observe_note(env, WORDS_SCORED "%s.", env->submission);
		if (env->baseline.n)
			add_score_line(&env->observation, WORDS_BASELINE, &env->baseline);
		add_score_line(&env->observation, WORDS_EVALUATION, result->score);
		break;
	case GRADE_NO_SUBMISSION:
		observe_note(env, WORDS_NOT_SCORED "%s", result->text);
		break;
	case GRADE_REJECTED:
		observe_note(env, WORDS_NOT_SCORED "%s", result->text);
		break;
	case GRADE_BROKEN:
		/* The details may be about hidden files: they are for people. */
		observe_note(env, WORDS_NOT_SCORED "the grader itself failed.");
		break;
	}
}

/* --- what it must not tell -------------------------------------------------------------------- */

void env_hide(struct fh_env *env, const char *secret)
{
	if (env->hidden)
		explicit_bzero(env->hidden, strlen(env->hidden));
	free(env->hidden);
	env->hidden = secret ? xstrdup(secret) : NULL;
}

void observe_hide(struct fh_env *env)
{
	char *const texts[] = { env->state, env->open_file, env->working_dir };
	const char *const secrets[] = { env->hidden, env->web_hosts ? papers_key() : NULL };

	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++) {
		hide_secret(&env->observation, secrets[i]);
		for (size_t j = 0; j < ARRAY_SIZE(texts); j++)
			hide_in_text(texts[j], secrets[i]);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "env/baseline.h"

#include "base/cancel.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "env/put.h"
#include "task/requirements.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/*
 * A baseline is played like any episode: its command is the only action, and it is scored the same
 * way. The seed is always the same. The score is kept in <state>/baselines. The file's name has the
 * task's hash and the machine's fingerprint. The file gets its name when it is complete.
 */

#define SEED 0
#define KEPT_BYTES_MAX 65536
#define KEY_DIGITS 16 /* digits of each of the two hashes in the name of a baseline's file */
#define BASELINE_MISSING_BYTES_MAX 512
#define BASELINE_SHOWN_BYTES 600 /* most output of a failed command to show in the error */

static char *baseline_path(const struct env_spec *spec, const char *suffix)
{
	return xasprintf("%s/baselines/%s-%.*s-%.*s%s", spec->gym->state_dir, spec->task->task->id,
			KEY_DIGITS, spec->task->hash, KEY_DIGITS, spec->fingerprint, suffix);
}

/* A kept baseline that can't be read is played again. */
bool baseline_find(const struct env_spec *spec, struct score *out)
{
	const struct task *task = spec->task->task;
	auto_free char *path = baseline_path(spec, ".json");
	auto_buf struct buf text = BUF_INIT(KEPT_BYTES_MAX);
	struct score_reading reading;

	if (!task->baseline_command || task->baseline_is_published) {
		score_copy(out, task->published, task->n_published);
		return true;
	}
	if (fd_read_file(path, &text, NULL) < 0)
		return false;
	if (score_read(buf_str(&text), text.len, &reading, NULL) < 0)
		return false;
	free(reading.rejection);
	score_release(out);
	*out = reading.score;
	return score_find(out, task->metric) != NULL;
}

/* Returns the end of a text, which mostly holds the reason of a failure. */
static const char *baseline_tail(const char *text)
{
	size_t n = strlen(text);

	if (n <= BASELINE_SHOWN_BYTES)
		return text;
	text += n - BASELINE_SHOWN_BYTES;
	while ((*text & 0xc0) == 0x80)
		text++;
	return text;
}

int baseline_say_failed(const struct baseline_failure *failure, struct fh_error *err)
{
	static const char lacks[] = "ModuleNotFoundError: No module named '";
	const char *command = failure->command;
	const struct fh_step *step = failure->step;
	const char *module = strstr(step->observation, lacks);
	const char *tail = baseline_tail(step->observation);
	int n_tail = (int)strlen(tail);

	while (n_tail && tail[n_tail - 1] == '\n')
		n_tail--;
	if (module)
		return error_say_kind(err, FH_ERROR_INTERNAL, EIO,
				"`%.200s` needs the Python module '%.*s': install it, or give an "
				"environment that has it (--python ENV)",
				command, (int)strcspn(module + strlen(lacks), "'\n"),
				module + strlen(lacks));
	if (*failure->missing)
		return error_say_kind(err, FH_ERROR_INTERNAL, EIO,
				"`%.200s` failed, and its Python lacks %s (--python ENV gives it "
				"another): %.*s",
				command, failure->missing, n_tail, tail);
	if (step->outcome == FH_OUTCOME_OK)
		return error_say_kind(err, FH_ERROR_INTERNAL, EIO,
				"`%.200s` ended with status %d: %.*s", command, step->exit_code,
				n_tail, tail);
	return error_say_kind(err, FH_ERROR_INTERNAL, EIO, "`%.200s` ended with %s: %.*s", command,
			fh_outcome_name(step->outcome), n_tail, tail);
}

static int baseline_failed(
		const struct env_spec *spec, const struct fh_step *step, struct fh_error *err)
{
	const struct task *task = spec->task->task;
	auto_buf struct buf missing = BUF_INIT(BASELINE_MISSING_BYTES_MAX);
	struct baseline_failure failure = { task->baseline_command, step, "" };

	if (requirements_missing(task, spec->python, &missing, NULL) == 0)
		failure.missing = buf_str(&missing);
	return baseline_say_failed(&failure, err);
}

static int baseline_play(struct fh_env *env, const struct env_spec *spec, struct score *out,
		struct fh_error *err)
{
	const struct task *task = spec->task->task;
	const struct fh_action action = FH_ACTION(.text = task->baseline_command,
			.timeout_s = (double)task->training_timeout_ms / 1e3);
	struct fh_step step;
	int r = fh_env_reset(env, &FH_RESET(.seed = SEED), &step, err);

	if (r < 0)
		return r;
	r = env_put_files(env, task->baseline_files, task->n_baseline_files, err);
	if (r < 0)
		return r;
	r = fh_env_step(env, &action, &step, err);
	if (r < 0)
		return r;
	if (step.outcome != FH_OUTCOME_OK || step.exit_code != 0)
		return baseline_failed(spec, &step, err);
	if (!step.exit_status) {
		r = fh_env_submit(env, &step, err);
		if (r < 0)
			return r;
	}
	if (!step.score)
		return error_say_kind(err, FH_ERROR_INTERNAL, EIO,
				"the result of `%s` can't be scored: %s", action.text,
				step.grade_error ? step.grade_error : "it was not submitted");
	score_copy(out, step.best, step.n_best);
	return 0;
}

/* Plays the baseline under the lock of a file. A process that waited for the lock finds the
 * baseline kept. */
static int baseline_play_once(struct fh_env *env, const struct env_spec *spec, struct score *out,
		struct fh_error *err)
{
	auto_free char *path = baseline_path(spec, ".json");
	auto_free char *lock_path = baseline_path(spec, ".lock");
	auto_free char *dir = path_dirname(path);
	auto_buf struct buf text = BUF_INIT(KEPT_BYTES_MAX);
	auto_close int lock = -1;
	int r = path_mkdirs(dir, 0755, err);

	if (r < 0)
		return r;
	lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0)
		return error_set(err, errno, "open '%s'", lock_path);
	r = cancel_lock_file(spec->cancel, lock, lock_path, err);
	if (r < 0)
		return r;
	if (baseline_find(spec, out))
		return 0;
	r = baseline_play(env, spec, out, err);
	if (r < 0)
		return r;
	score_add_json(&text, out);
	buf_add_char(&text, '\n');
	return fd_write_file(path, text.data, text.len, 0644, err);
}

int baseline_get(struct fh_env *env, const struct env_spec *spec, struct score *out,
		struct fh_error *err)
{
	if (!baseline_find(spec, out) && baseline_play_once(env, spec, out, err) < 0)
		return error_wrap(err, "the baseline of %s", spec->task->task->id);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "env/env.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

/*
 * A task's baseline is played like any episode, with its command as the only action, and scored the
 * same way; its seed is always the same. It is kept in <state>/baselines, in a file whose name says
 * of which files and which machine it is. Whoever plays it holds a lock, so that the others wait
 * and then read; the file appears whole.
 */
#define SEED 0
#define JUDGE_SALT 1 /* the same on each machine that shares the secret */
#define KEPT_BYTES_MAX 65536
#define KEY_DIGITS 16   /* of each hash, in the file's name */
#define SHOWN_BYTES 600 /* of the output of a command that failed */

static char *kept_path(const struct fh_env *env, const char *suffix)
{
	return xasprintf("%s/baselines/%s-%.*s-%.*s%s", env->gym->state_dir, env->task->task->id,
			KEY_DIGITS, env->task->hash, KEY_DIGITS, env->fingerprint, suffix);
}

/* False when there is none, or none that can be read: then it is played again. */
static bool read_kept(struct fh_env *env, const char *path)
{
	auto_buf struct buf text = BUF_INIT(KEPT_BYTES_MAX);
	struct score_reading reading;

	if (fd_read_file(path, &text, NULL) < 0)
		return false;
	if (score_read(buf_str(&text), text.len, &reading, NULL) < 0)
		return false;
	free(reading.rejection);
	score_release(&env->baseline);
	env->baseline = reading.score;
	return score_find(&env->baseline, env->task->task->metric) != NULL;
}

static int keep(const struct fh_env *env, const char *path, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(KEPT_BYTES_MAX);

	score_add_json(&text, &env->baseline);
	buf_add_char(&text, '\n');
	return fd_write_file(path, text.data, text.len, 0644, err);
}

/* The end of a text, which is where programs say what went wrong. */
static const char *tail(const char *text)
{
	size_t n = strlen(text);

	if (n <= SHOWN_BYTES)
		return text;
	text += n - SHOWN_BYTES;
	while ((*text & 0xc0) == 0x80)
		text++;
	return text;
}

static int play_command(struct fh_env *env, struct fh_step *step, struct fh_error *err)
{
	const struct task *task = env->task->task;
	struct fh_action action = {
		.text = task->baseline_command,
		.timeout_s = (double)task->training_timeout_ms / 1e3,
	};
	int r = fh_env_step(env, &action, step, err);

	if (r < 0)
		return r;
	if (step->outcome != FH_OUTCOME_OK || step->exit_code != 0)
		return error_say(err, EIO, "`%s` ended with %s, status %d: %s",
				task->baseline_command, fh_outcome_name(step->outcome),
				step->exit_code, tail(step->observation));
	return 0;
}

static int play(struct fh_env *env, struct fh_error *err)
{
	struct fh_step step;
	int r;

	/* One for the command, one to submit, and the last is never reached. */
	env->max_steps = 3;
	env->judge_salt = JUDGE_SALT;
	r = fh_env_reset(env, SEED, &step, err);
	if (r == 0)
		r = play_command(env, &step, err);
	if (r == 0 && !step.exit_status)
		r = fh_env_submit(env, &step, err);
	if (r == 0 && !step.score)
		r = error_say(err, EIO, "what `%s` left can't be scored: %s",
				env->task->task->baseline_command,
				step.grade_error ? step.grade_error : "it was not submitted");
	if (r == 0)
		score_copy(&env->baseline, &env->best);
	reset_drop(env);
	return r;
}

static int open_lock(const struct fh_env *env, int *out_fd, struct fh_error *err)
{
	auto_free char *path = kept_path(env, ".lock");
	auto_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return error_set(err, errno, "open '%s'", path);
	do {
		r = flock(fd, LOCK_EX);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return error_set(err, errno, "lock '%s'", path);
	*out_fd = take_fd(&fd);
	return 0;
}

static int play_once(struct fh_env *env, const char *path, struct fh_error *err)
{
	auto_free char *dir = path_dirname(path);
	auto_close int lock = -1;
	int r;

	r = path_mkdirs(dir, 0755, err);
	if (r == 0)
		r = open_lock(env, &lock, err);
	if (r < 0)
		return r;
	if (read_kept(env, path))
		return 0;
	r = play(env, err);
	return r < 0 ? r : keep(env, path, err);
}

int baseline_load(struct fh_env *env, struct fh_error *err)
{
	const struct task *task = env->task->task;
	const struct score published = {
		.metrics = (struct fh_metric *)task->published,
		.n = task->n_published,
	};
	auto_free char *path = NULL;

	if (!task->baseline_command || task->baseline_is_published) {
		score_copy(&env->baseline, &published);
		return 0;
	}
	path = kept_path(env, ".json");
	if (read_kept(env, path))
		return 0;
	if (play_once(env, path, err) < 0)
		return error_wrap(err, "the baseline of %s", task->id);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "env/aside.h"

#include "base/fd.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/action.h"
#include "env/state.h"
#include "inside/places.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MODE_DEFAULT 0644

/* Keeps requests of the agent's background jobs for the next step. */
static void aside_finish(struct fh_env *env)
{
	env->episode.late_requests |= env->turn.requests &
			(REQUEST_VALIDATE | REQUEST_SUBMIT | REQUEST_STATE);
	/* Ignore a failure: if the sandbox is gone, the next step reports it. */
	if (env->turn.requests)
		(void)sandbox_clear_requests(env->episode.sb, NULL);
	turn_finish(env);
}

/* --- commands --------------------------------------------------------------------------------- */

int aside_begin(struct fh_env *env, const struct fh_action *action, struct fh_error *err)
{
	auto_free char *quoted = NULL;
	int r = turn_check_reset(env, err);

	if (r < 0)
		return r;
	r = action_check(action, err);
	if (r < 0)
		return r;
	turn_begin(env, TURN_ASIDE);
	if (turn_was_interrupted(env)) {
		turn_finish(env);
		return 0;
	}
	env->turn.timeout_ms = action_timeout_ms(action, env->spec.task->task->short_timeout_ms);
	quoted = setup_quote(&env->setup, action->text);
	env->turn.work = WORK_COMMAND;
	/* The text's length was checked, so a failure means that the sandbox is gone. */
	if (session_begin_aside(env->episode.session, quoted ? quoted : action->text,
			    env->turn.timeout_ms, NULL) < 0) {
		env->result.step.outcome = FH_OUTCOME_SANDBOX_GONE;
		turn_finish(env);
	}
	return 0;
}

/* Handles a result `r` of turn_set_up(). The next step reports that the sandbox is gone. */
static void aside_after_setup(struct fh_env *env, int r)
{
	if (r <= 0)
		aside_finish(env);
}

static void aside_command_over(struct fh_env *env)
{
	const struct session_result *result = session_result(env->episode.session);

	calls_drop(&env->calls, env->episode.sb);
	env_result_take_outcome(&env->result, result, env->turn.cancelled);
	str_add_utf8(&env->result.observation, buf_str(result->output), result->output->len);
	if (env->result.observation.truncated && env->result.step.outcome == FH_OUTCOME_OK)
		env->result.step.outcome = FH_OUTCOME_OUTPUT_LIMIT;
	turn_note_shell(env, result);
	env->turn.requests |= result->requests;
	/* A new shell needs the tools' setup again. */
	if (result->restarted)
		aside_after_setup(env, turn_set_up(env, true, NULL));
	else
		aside_finish(env);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Folders beneath which files may be put and got. */
static const char *const aside_folders[] = { GUEST_HOME, "/tmp" };

/* Splits a path into a folder of the sandbox and the rest, beneath the folder. */
static int aside_split(
		const char *path, const char **folder, const char **rest, struct fh_error *err)
{
	if (!path || !*path)
		return error_say(err, EINVAL, "a file needs a path");
	*folder = GUEST_WORKSPACE;
	*rest = path;
	if (*path != '/')
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(aside_folders); i++) {
		size_t n = strlen(aside_folders[i]);

		if (!str_starts(path, aside_folders[i]) || path[n] != '/')
			continue;
		*folder = aside_folders[i];
		*rest = path + n + strspn(path + n, "/");
		return 0;
	}
	return error_say(err, EINVAL, "'%s' is neither in " GUEST_HOME " nor in /tmp", path);
}

int aside_begin_put(struct fh_env *env, const struct fh_file *file, struct fh_error *err)
{
	const char *folder, *rest;
	int r = turn_check_reset(env, err);

	if (r < 0)
		return r;
	r = aside_split(file->path, &folder, &rest, err);
	if (r < 0)
		return r;
	if (!file->data && file->n_bytes > 0)
		return error_say(err, EINVAL, "'%s' has %zu bytes, but no data", file->path,
				file->n_bytes);
	if (file->n_bytes > FH_FILE_BYTES_MAX)
		return error_say(err, EFBIG, "'%s' has more than %d bytes", file->path,
				FH_FILE_BYTES_MAX);
	if (file->mode & ~0777)
		return error_say(err, EINVAL,
				"the mode of '%s' should have only permission bits (0777)",
				file->path);
	turn_begin(env, TURN_ASIDE);
	env->file.comes = false;
	if (turn_take_interrupt(env))
		return cancel_refuse(err);
	r = sandbox_put_text_begin(env->episode.sb, folder, rest, file->data, file->n_bytes,
			(mode_t)(file->mode ? file->mode : MODE_DEFAULT), &env->file.request, err);
	if (r < 0)
		return r;
	env->turn.work = WORK_FILE;
	return 0;
}

int aside_begin_get(struct fh_env *env, const char *path, size_t max_bytes, struct fh_error *err)
{
	const char *folder, *rest;
	int r = turn_check_reset(env, err);

	if (r < 0)
		return r;
	r = aside_split(path, &folder, &rest, err);
	if (r < 0)
		return r;
	if (max_bytes == 0 || max_bytes > FH_FILE_BYTES_MAX)
		max_bytes = FH_FILE_BYTES_MAX;
	turn_begin(env, TURN_ASIDE);
	env->file.comes = true;
	if (turn_take_interrupt(env))
		return cancel_refuse(err);
	r = sandbox_get_begin(
			env->episode.sb, folder, rest, (int64_t)max_bytes, &env->file.request, err);
	if (r < 0)
		return r;
	env->turn.work = WORK_FILE;
	return 0;
}

/* Takes the result of a put or a get. Maps the sealed copy that the porter made for a get. */
static int aside_take_file(struct fh_env *env, struct fh_error *err)
{
	static char empty[1]; /* an empty file can't be mapped */
	struct sandbox_answer answer = { .fd = -1 };
	auto_close int fd = -1;
	void *data = empty;
	struct stat st;
	int r = sandbox_take(env->episode.sb, &answer, err);

	fd = answer.fd;
	if (r < 0) {
		/* These errors tell of the path, which the caller chose. */
		if (r == -EXDEV || r == -ENXIO)
			err->kind = FH_ERROR_INPUT;
		return r;
	}
	if (!env->file.comes)
		return 0;
	if (fstat(fd, &st) < 0)
		return error_set(err, errno, "read the copy of a file");
	if (st.st_size)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return error_set(err, errno, "read the copy of a file");
	env->file.data = data;
	env->file.n = (size_t)st.st_size;
	return 0;
}

static void aside_file_over(struct fh_env *env)
{
	struct fh_error err = FH_ERROR_INIT;
	int r = aside_take_file(env, &err);

	if (r < 0) {
		env->turn.failure = err;
		env->turn.work = WORK_DONE;
	} else {
		aside_finish(env);
	}
}

/* --- advancing -------------------------------------------------------------------------------- */

void aside_advance(struct fh_env *env)
{
	if (env->turn.work == WORK_COMMAND && session_advance(env->episode.session))
		aside_command_over(env);
	else if (env->turn.work == WORK_COMMAND)
		calls_advance(&env->calls, env->episode.sb,
				session_take_request(env->episode.session, REQUEST_CALL));
	else if (env->turn.work == WORK_SETUP)
		aside_after_setup(env, turn_set_up_advance(env, NULL));
	else if (env->turn.work == WORK_FILE &&
			sandbox_answered(env->episode.sb, env->file.request))
		aside_file_over(env);
}

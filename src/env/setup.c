/* SPDX-License-Identifier: Apache-2.0 */
#include "env/setup.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "env/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Both the script and the state command are run in the agent's own shell, where functions of the same
 * names may be anything: they have little time, what they print is parsed and nothing more, and a shell
 * that ends by them is set up again once in a step, not for ever.
 */
#define SCRIPT_BYTES_MAX (1 << 20)
#define SCRIPT_TIMEOUT_MS 15000
#define STATE_TIMEOUT_MS 5000
#define STATE_HANGS_MAX 3 /* in a row; then it is not asked any more, until there is a new shell */
#define SHOWN_BYTES 600

/* Of tools/aci. */
static const struct multiline own_multiline[] = {
	{ "edit", "end_of_edit" },
	{ "insert", "end_of_insert" },
};

/* --- what there is ---------------------------------------------------------------------------- */

static int check(const struct env_setup *setup, struct fh_error *err)
{
	if (setup->n_files > SETUP_FILES_MAX)
		return error_say(err, E2BIG, "more than %d files of commands", SETUP_FILES_MAX);
	for (size_t i = 0; i < setup->n_files; i++) {
		const struct env_setup_file *file = &setup->files[i];

		if (!*file->name || *file->name == '.' || strchr(file->name, '/'))
			return error_say(err, EINVAL, "'%s' can't be the name of a command's file",
					file->name);
		if (file->n > SETUP_FILE_BYTES_MAX)
			return error_say(err, E2BIG, "'%s' has more than %d bytes", file->name,
					SETUP_FILE_BYTES_MAX);
	}
	if ((setup->script && strlen(setup->script) > SCRIPT_BYTES_MAX) ||
			(setup->state && strlen(setup->state) > SETUP_STATE_BYTES_MAX))
		return error_say(err, E2BIG, "the script that sets commands up is too long");
	return 0;
}

static const struct multiline *copy_multiline(struct arena *a, const struct env_setup *setup)
{
	struct multiline *all = arena_array(
			a, setup->n_multiline + ARRAY_SIZE(own_multiline), sizeof(*all));

	memcpy(all, own_multiline, sizeof(own_multiline));
	for (size_t i = 0; i < setup->n_multiline; i++)
		all[ARRAY_SIZE(own_multiline) + i] =
				(struct multiline){ arena_strdup(a, setup->multiline[i].name),
					arena_strdup(a, setup->multiline[i].end) };
	return all;
}

int env_set_setup(struct fh_env *env, const struct env_setup *setup, struct fh_error *err)
{
	struct arena *a = &env->setup_arena;
	struct env_setup_file *files;
	int r = setup ? check(setup, err) : 0;

	if (r < 0)
		return r;
	if (env->work != WORK_NONE)
		return error_say(err, EBUSY, "a reset or step of this environment is under way");
	arena_release(a);
	env->setup = (struct env_setup){ 0 };
	if (!setup)
		return 0;
	files = arena_array(a, setup->n_files, sizeof(*files));
	for (size_t i = 0; i < setup->n_files; i++) {
		files[i] = setup->files[i];
		files[i].name = arena_strdup(a, files[i].name);
		files[i].data = arena_strndup(a, files[i].data, files[i].n);
	}
	env->setup = *setup;
	env->setup.files = files;
	env->setup.script = setup->script ? arena_strdup(a, setup->script) : NULL;
	env->setup.state = setup->state ? arena_strdup(a, setup->state) : NULL;
	env->setup.multiline = copy_multiline(a, setup);
	env->setup.n_multiline = setup->n_multiline + ARRAY_SIZE(own_multiline);
	return 0;
}

static const struct multiline *multiline_of(const struct fh_env *env, size_t *out_n)
{
	bool set = env->setup.multiline;

	*out_n = set ? env->setup.n_multiline : ARRAY_SIZE(own_multiline);
	return set ? env->setup.multiline : own_multiline;
}

char *setup_quote(const struct fh_env *env, const char *text)
{
	size_t n;
	const struct multiline *commands = multiline_of(env, &n);

	return multiline_quote(text, commands, n);
}

const char *env_multiline_end(const struct fh_env *env, const char *line)
{
	size_t n;
	const struct multiline *commands = multiline_of(env, &n);

	return multiline_end(line, commands, n);
}

const char *env_state(const struct fh_env *env)
{
	return env->state;
}

/* --- the script ------------------------------------------------------------------------------- */

static void begin(struct fh_env *env, enum work work, const char *text, int64_t timeout_ms)
{
	struct fh_error err;

	if (session_begin_aside(env->session, text, timeout_ms, &err) < 0)
		env->settled(env, false);
	else
		env->work = work;
}

static void begin_script(struct fh_env *env)
{
	const char *path = env->setup.n_files ? "export PATH=\"" SETUP_DIR ":$PATH\"\n" : "";
	auto_free char *text = xasprintf("%s%s", path, env->setup.script);

	env->n_scripts++;
	begin(env, WORK_SCRIPT, text, SCRIPT_TIMEOUT_MS);
}

/* A reset can't do without it; later it may be the agent's own doing that it fails. */
static void script_over(struct fh_env *env, const struct session_result *result)
{
	bool done = result->outcome == SESSION_OK && result->exit_code == 0;
	size_t skip = result->output->len > SHOWN_BYTES ? result->output->len - SHOWN_BYTES : 0;
	auto_buf struct buf text = BUF_INIT(4 * SHOWN_BYTES);

	if (done || env->n_steps) {
		setup_begin(env, false);
		return;
	}
	str_add_utf8(&text, buf_str(result->output) + skip, result->output->len - skip);
	error_say(&env->failure, EINVAL, "the agent's commands can't be set up (status %d): %s",
			result->exit_code, buf_str(&text));
	env->settled(env, false);
}

/* --- the state -------------------------------------------------------------------------------- */

/* Complaints are no part of it: a machine may lack a program that the command asks. */
static void begin_state(struct fh_env *env)
{
	auto_free char *text = xasprintf("{ %s\n} 2>/dev/null", env->setup.state);

	begin(env, WORK_STATE, text, STATE_TIMEOUT_MS);
}

static void take_state(struct fh_env *env, const struct buf *output)
{
	auto_json json_t *object = NULL;
	auto_buf struct buf text = BUF_INIT(4 * SETUP_STATE_BYTES_MAX);
	const char *open_file = NULL;

	setup_drop_state(env);
	if (output->len > SETUP_STATE_BYTES_MAX)
		return;
	str_add_utf8(&text, buf_str(output), output->len);
	if (json_parse("state", buf_str(&text), text.len, &object, NULL) < 0 ||
			!json_is_object(object))
		return;
	if (json_get_str(object, "open_file", JSON_OPTIONAL, &open_file, NULL) == 0 && open_file)
		env->open_file = xstrdup(open_file);
	env->state = buf_take(&text);
}

/* Seconds of each step went where nobody looked for them. */
static void note_hang(struct fh_env *env, bool hung)
{
	if (!hung) {
		env->n_state_hangs = 0;
		return;
	}
	env->n_state_hangs++;
	if (env->n_state_hangs == 1)
		env->step.state_error = "the agent's state_command did not end within 5 s";
	if (env->n_state_hangs == STATE_HANGS_MAX)
		env->step.state_error = "the agent's state_command did not end within 5 s, for the "
					"third time in a row: it is not asked any more, until the "
					"shell is a new one";
}

/* --- what the environment drives -------------------------------------------------------------- */

void setup_drop_state(struct fh_env *env)
{
	free(take_ptr(env->state));
	free(take_ptr(env->open_file));
}

static void go_on(struct fh_env *env, bool new_shell)
{
	if (new_shell && env->setup.script && env->n_scripts < 2)
		begin_script(env);
	else if (env->setup.state && env->n_state_hangs < STATE_HANGS_MAX)
		begin_state(env);
	else
		env->settled(env, true);
}

void setup_begin(struct fh_env *env, bool new_shell)
{
	if (new_shell)
		env->n_state_hangs = 0;
	if (env->n_state_hangs == STATE_HANGS_MAX)
		setup_drop_state(env);
	go_on(env, new_shell);
}

void setup_advance(struct fh_env *env)
{
	enum work work = env->work;
	const struct session_result *result;

	if (!session_advance(env->session))
		return;
	result = session_result(env->session);
	env->requests |= result->requests;
	step_note_shell(env, result);
	if (work == WORK_STATE)
		note_hang(env, result->outcome == SESSION_TIMEOUT && !env->cancelled);
	if (result->outcome == SESSION_GONE) {
		env->settled(env, false);
	} else if (result->restarted && env->n_scripts < 2 && env->n_steps) {
		go_on(env, true);
	} else if (work == WORK_SCRIPT) {
		script_over(env, result);
	} else {
		take_state(env, result->output);
		env->settled(env, true);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "env/setup.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "python/pyjson.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The agent's own shell runs the script and the state command, so the agent's functions may replace
 * commands in them. Both have a short timeout, and their output is only parsed. If they end the
 * shell, a new shell is set up, SHELLS_MAX times at most.
 */

#define SETUP_SCRIPT_BYTES_MAX (1 << 20)
#define SCRIPT_TIMEOUT_MS 15000
#define STATE_TIMEOUT_MS 5000
/* After this many hangs in a row the state command is not run again until a new shell starts. */
#define STATE_HANGS_MAX 3
#define SHELLS_MAX 2 /* most shells to set up in a reset or step */
#define SETUP_SHOWN_BYTES 600

/* Commands of tools/aci that take a text from the next lines. */
static const struct multiline own_multiline[] = {
	{ "edit", "end_of_edit" },
	{ "insert", "end_of_insert" },
};

/* --- what is given ---------------------------------------------------------------------------- */

static int setup_check(const struct env_setup *given, struct fh_error *err)
{
	if (given->n_files > SETUP_FILES_MAX)
		return error_say(err, E2BIG, "more than %d files of commands", SETUP_FILES_MAX);
	for (size_t i = 0; i < given->n_files; i++) {
		const struct env_setup_file *file = &given->files[i];

		if (!*file->name || *file->name == '.' || strchr(file->name, '/'))
			return error_say(err, EINVAL, "'%s' can't be the name of a command's file",
					file->name);
		if (file->n > SETUP_FILE_BYTES_MAX)
			return error_say(err, E2BIG, "'%s' has more than %d bytes", file->name,
					SETUP_FILE_BYTES_MAX);
	}
	if ((given->script && strlen(given->script) > SETUP_SCRIPT_BYTES_MAX) ||
			(given->state && strlen(given->state) > SETUP_STATE_BYTES_MAX))
		return error_say(err, E2BIG, "the script that sets commands up is too long");
	return 0;
}

static const struct multiline *setup_copy_multiline(struct arena *a, const struct env_setup *given)
{
	struct multiline *all = arena_array(
			a, given->n_multiline + ARRAY_SIZE(own_multiline), sizeof(*all));

	memcpy(all, own_multiline, sizeof(own_multiline));
	for (size_t i = 0; i < given->n_multiline; i++)
		all[ARRAY_SIZE(own_multiline) + i] =
				(struct multiline){ arena_strdup(a, given->multiline[i].name),
					arena_strdup(a, given->multiline[i].end) };
	return all;
}

int setup_set(struct setup *s, const struct env_setup *given, struct fh_error *err)
{
	struct env_setup_file *files;
	struct arena *a = &s->arena;
	int r = given ? setup_check(given, err) : 0;

	if (r < 0)
		return r;
	arena_release(a);
	s->given = (struct env_setup){ 0 };
	if (!given)
		return 0;
	files = arena_array(a, given->n_files, sizeof(*files));
	for (size_t i = 0; i < given->n_files; i++) {
		files[i] = given->files[i];
		files[i].name = arena_strdup(a, files[i].name);
		files[i].data = arena_strndup(a, files[i].data, files[i].n);
	}
	s->given = (struct env_setup){
		.files = files,
		.n_files = given->n_files,
		.script = given->script ? arena_strdup(a, given->script) : NULL,
		.state = given->state ? arena_strdup(a, given->state) : NULL,
		.multiline = setup_copy_multiline(a, given),
		.n_multiline = given->n_multiline + ARRAY_SIZE(own_multiline),
	};
	return 0;
}

void setup_release(struct setup *s)
{
	arena_release(&s->arena);
	setup_drop_state(s);
}

char *setup_quote(const struct setup *s, const char *text)
{
	if (s->given.multiline)
		return multiline_quote(text, s->given.multiline, s->given.n_multiline);
	return multiline_quote(text, own_multiline, ARRAY_SIZE(own_multiline));
}

const char *setup_multiline_end(const struct setup *s, const char *line)
{
	if (s->given.multiline)
		return multiline_end(line, s->given.multiline, s->given.n_multiline);
	return multiline_end(line, own_multiline, ARRAY_SIZE(own_multiline));
}

/* --- commands for the agent's shell ----------------------------------------------------------- */

void setup_drop_state(struct setup *s)
{
	free(take_ptr(s->state));
	free(take_ptr(s->open_file));
}

void setup_begin_turn(struct setup *s, bool is_reset)
{
	s->is_reset = is_reset;
	s->n_shells = 0;
	s->state_error = NULL;
}

static int setup_gone(struct fh_error *err)
{
	return error_say(err, EIO, "it ended when the agent's commands were set up");
}

static int setup_go_on(
		struct setup *s, struct session *session, bool new_shell, struct fh_error *err)
{
	auto_free char *text = NULL;

	s->in_script = new_shell && s->given.script && s->n_shells < SHELLS_MAX;
	s->n_shells += new_shell;
	if (s->in_script)
		text = xasprintf("%s%s",
				s->given.n_files ? "export PATH=\"" SETUP_DIR ":$PATH\"\n" : "",
				s->given.script);
	else if (s->given.state && s->n_state_hangs < STATE_HANGS_MAX)
		/* Drop error output of the state command: a machine may lack a program that it
		 * calls. */
		text = xasprintf("{ %s\n} 2>/dev/null", s->given.state);
	else
		return 0;
	if (session_begin_aside(session, text, s->in_script ? SCRIPT_TIMEOUT_MS : STATE_TIMEOUT_MS,
			    NULL) < 0)
		return setup_gone(err);
	return 1;
}

int setup_begin(struct setup *s, struct session *session, bool new_shell, struct fh_error *err)
{
	if (new_shell)
		s->n_state_hangs = 0;
	if (s->n_state_hangs == STATE_HANGS_MAX)
		setup_drop_state(s);
	return setup_go_on(s, session, new_shell, err);
}

static void setup_take_state(struct setup *s, const struct buf *output)
{
	auto_arena struct arena arena = ARENA_INIT;
	auto_buf struct buf text = BUF_INIT(4 * SETUP_STATE_BYTES_MAX);
	struct pyjson_source source = { .name = "state" };
	const struct pyjson *object;
	const char *open_file;

	setup_drop_state(s);
	if (output->len > SETUP_STATE_BYTES_MAX)
		return;
	str_add_utf8(&text, buf_str(output), output->len);
	source.data = buf_str(&text);
	source.n = text.len;
	if (pyjson_read(&arena, &source, &object, NULL) < 0 || object->kind != PYJSON_OBJECT)
		return;
	open_file = pyjson_string(pyjson_get(object, "open_file"));
	if (open_file)
		s->open_file = xstrdup(open_file);
	s->state = buf_take(&text);
}

/* Counts the state command's hangs in a row, because each costs seconds of a step. Reports the
 * first. After the last one, the command is not asked again. */
static void setup_note_hang(struct setup *s, bool hung)
{
	s->n_state_hangs = hung ? s->n_state_hangs + 1 : 0;
	if (s->n_state_hangs == 1)
		s->state_error = "the agent's state_command did not end within 5 s";
	if (s->n_state_hangs == STATE_HANGS_MAX)
		s->state_error =
				"the agent's state_command did not end within 5 s, for the third "
				"time in a row: it is not asked any more, until the shell is a new one";
}

int setup_take(struct setup *s, struct session *session, bool cancelled, struct fh_error *err)
{
	const struct session_result *result = session_result(session);
	const struct buf *output = result->output;
	size_t skip = output->len > SETUP_SHOWN_BYTES ? output->len - SETUP_SHOWN_BYTES : 0;
	auto_buf struct buf text = BUF_INIT(4 * SETUP_SHOWN_BYTES);

	if (!s->in_script)
		setup_note_hang(s, result->outcome == SESSION_TIMEOUT && !cancelled);
	if (result->outcome == SESSION_GONE)
		return setup_gone(err);
	if (result->restarted && s->n_shells < SHELLS_MAX && !s->is_reset)
		return setup_go_on(s, session, true, err);
	if (!s->in_script) {
		setup_take_state(s, output);
		return 0;
	}
	/* Ignore a failed setup script in a step: the agent itself may make it fail. */
	if (!s->is_reset || (result->outcome == SESSION_OK && result->exit_code == 0))
		return setup_go_on(s, session, false, err);
	str_add_utf8(&text, buf_str(output) + skip, output->len - skip);
	return error_say(err, EINVAL, "the agent's commands can't be set up (status %d): %s",
			result->exit_code, buf_str(&text));
}

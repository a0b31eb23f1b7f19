/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_FIXTURE_H
#define SANDBOX_FIXTURE_H

#include "fixture.h"

#include "base/fd.h"
#include "base/scope.h"
#include "native/native.h"
#include "sandbox/sandbox.h"
#include "shell/session.h"

#include <fcntl.h>
#include <sys/wait.h>

/*
 * Starts real sandboxes for tests. The owner has its own state folder and is open from open_owner()
 * to close_owner(). The layer "empty" is a workspace with nothing in it. If something fails to
 * start, the test fails with its error.
 */

static struct owner *owner;
static char scratch[FOLDER_MAX]; /* folder for the test's files, and for the owner's state */
static struct fh_error error;

static inline int open_owner(void **state)
{
	static const struct layer_item workspace = { .target = "workspace" };

	assert_int_equal(folder_make(scratch), 0);
	assert_int_equal(chmod(scratch, 0755), 0);
	assert_int_equal(setenv("FUMEHOOD_STATE", scratch, 1), 0);
	assert_done(owner_open(&(struct owner_options){ .label = "test" }, &owner, &error));
	assert_done(owner_add_layer(owner, "empty", &workspace, 1, &error));
	return 0;
}

static inline int close_owner(void **state)
{
	owner_close(owner);
	owner = NULL;
	return folder_remove(scratch);
}

/* Path of a file in the test's folder. It is valid until the fourth call after it. */
static inline const char *scratch_path(const char *name)
{
	static char paths[4][sizeof(scratch) + 128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

static inline const char *scratch_file(const char *name, const char *text)
{
	const char *path = scratch_path(name);

	assert_done(fd_write_file(path, text, strlen(text), 0644, &error));
	return path;
}

/* --- sandboxes -------------------------------------------------------------------------------- */

static inline struct sandbox *begin_sandbox(const struct sandbox_options *options)
{
	struct sandbox *sb = NULL;

	assert_done(sandbox_start(owner, options, &sb, &error));
	return sb;
}

static inline struct sandbox *start_sandbox(const struct sandbox_options *options)
{
	struct sandbox *sb = begin_sandbox(options);
	struct sandbox_event event;

	sandbox_wait_event(sb, 60000, &event);
	if (event.kind != SANDBOX_READY)
		fail_msg("the sandbox is not ready (%d): %s", event.kind, event.text);
	return sb;
}

struct usage {
	int64_t cpu_ns, written_bytes;
};

static inline struct usage usage_of(const struct sandbox *sb)
{
	return (struct usage){ .cpu_ns = sandbox_count(sb, SANDBOX_CPU_NS),
		.written_bytes = sandbox_count(sb, SANDBOX_WRITTEN_BYTES) };
}

struct ran {
	int status; /* exit status as in a shell: 128 + n for signal n; -1: the sandbox has ended */
	char output[65536];
};

static inline int wait_exit(struct sandbox *sb, uint32_t id)
{
	struct sandbox_event event;

	do {
		sandbox_wait_event(sb, 60000, &event);
		assert_int_not_equal(event.kind, SANDBOX_NONE);
		if (event.kind == SANDBOX_GONE)
			return -1;
	} while (event.kind != SANDBOX_EXITED || event.id != id);
	return WIFEXITED(event.status) ? WEXITSTATUS(event.status) : 128 + WTERMSIG(event.status);
}

/* Runs a program and waits for its end. A program whose output does not fit into a pipe would block
 * for ever. */
static inline const struct ran *program_request(
		struct sandbox *sb, const struct program_request *request)
{
	static struct ran ran;
	struct program_request with_streams = *request;
	auto_close int in = -1;
	auto_close int out = -1;
	uint32_t id;
	int pair[2];
	ssize_t n;

	assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
	out = pair[0];
	in = pair[1];
	with_streams.streams = (const int[]){ in, in, in };
	with_streams.n_streams = 3;
	assert_done(sandbox_run(sb, &with_streams, &id, &error));
	ran.status = wait_exit(sb, id);
	close_fd(&in);
	/* Don't wait for the end of the output: processes that the program left running may hold
	 * the pipe. */
	assert_int_equal(fcntl(out, F_SETFL, O_NONBLOCK), 0);
	n = read(out, ran.output, sizeof(ran.output) - 1);
	ran.output[n > 0 ? n : 0] = '\0';
	return &ran;
}

static inline const struct ran *run_script(struct sandbox *sb, const char *script)
{
	struct program_request request = { .argv = NULL };

	request.argv = (const char *const[]){ "bash", "-c", script, NULL };
	return program_request(sb, &request);
}

static inline const struct ran *run_python(struct sandbox *sb, const char *script)
{
	struct program_request request = { .argv = NULL };

	request.argv = (const char *const[]){ "python3", "-ISc", script, NULL };
	return program_request(sb, &request);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Writes a file into a sandbox, and waits until it is there. */
static inline int put_file(struct sandbox *sb, const char *folder, const char *path,
		const void *data, size_t n, mode_t mode)
{
	struct sandbox_answer answer = { .fd = -1 };
	uint32_t id;
	int r = sandbox_put_text_begin(sb, folder, path, data, n, mode, &id, &error);

	return r < 0 ? r : sandbox_await(sb, id, &answer, &error);
}

/* Copies a file out of a sandbox, and waits for the copy. */
static inline int get_file(struct sandbox *sb, const char *folder, const char *path,
		int64_t max_bytes, int *out_fd, struct fh_error *err)
{
	struct sandbox_answer answer = { .fd = *out_fd };
	uint32_t id;
	int r = sandbox_get_begin(sb, folder, path, max_bytes, &id, err);

	if (r < 0)
		return r;
	r = sandbox_await(sb, id, &answer, err);
	*out_fd = answer.fd;
	return r;
}

/* --- sessions --------------------------------------------------------------------------------- */

#define PATIENCE_MS 120000 /* milliseconds to wait for something that should end by itself */

/* A shell session in a sandbox of its own. `did` is the result of its last command. */
static struct sandbox *shell_sandbox;
static struct session *session;
static const struct session_result *did;

static inline void open_session(const struct sandbox_options *options)
{
	struct sandbox_options o = *options;

	o.shell = true;
	o.layer = "empty";
	shell_sandbox = begin_sandbox(&o);
	session = session_new(shell_sandbox, 1 << 20);
}

static inline void close_session(void)
{
	session_free(session);
	sandbox_close(shell_sandbox);
	session = NULL;
	shell_sandbox = NULL;
}

static inline const struct session_result *act_within(const char *command, int64_t timeout_ms)
{
	assert_done(session_command(session, command, timeout_ms, true, &error));
	did = session_result(session);
	return did;
}

static inline const struct session_result *act(const char *command)
{
	return act_within(command, PATIENCE_MS);
}

static inline const char *outcome_name(enum session_outcome outcome)
{
	static const char *const names[] = {
		[SESSION_OK] = "ok",
		[SESSION_TIMEOUT] = "timeout",
		[SESSION_OUTPUT_LIMIT] = "output limit",
		[SESSION_RESTARTED] = "restarted",
		[SESSION_MEMORY_LIMIT] = "memory limit",
		[SESSION_SYNTAX] = "syntax",
		[SESSION_GONE] = "gone",
	};

	return names[outcome];
}

/* A command for a session, and the expected result. Tests have tables of these. */
struct turn {
	const char *command;
	const char *output; /* the whole output; NULL: any */
	int exit_code;
	enum session_outcome outcome;
	const char *has; /* a part of the output; NULL: any */
	int64_t timeout_ms;
};

static inline void play_turn(const struct turn *t)
{
	act_within(t->command, t->timeout_ms ? t->timeout_ms : PATIENCE_MS);
	if (did->outcome != t->outcome || did->exit_code != t->exit_code)
		fail_msg("'%s': %s %d instead of %s %d; it wrote '%s'", t->command,
				outcome_name(did->outcome), did->exit_code,
				outcome_name(t->outcome), t->exit_code, buf_str(did->output));
	if (t->output && strcmp(t->output, buf_str(did->output)) != 0)
		fail_msg("'%s' wrote '%s' instead of '%s'", t->command, buf_str(did->output),
				t->output);
	if (t->has && !strstr(buf_str(did->output), t->has))
		fail_msg("'%s' wrote '%s' without '%s'", t->command, buf_str(did->output), t->has);
	if ((t->outcome == SESSION_RESTARTED) != did->restarted && t->outcome != SESSION_TIMEOUT)
		fail_msg("'%s': restarted is %d", t->command, did->restarted);
	if (did->integrity)
		fail_msg("'%s': %s", t->command, did->integrity);
}

/* Plays a table of commands in a new session, and checks the results. */
static inline void play_turns(const struct turn *turns, size_t n)
{
	open_session(&(struct sandbox_options){ .random_seed = 1 });
	for (size_t i = 0; i < n; i++)
		play_turn(&turns[i]);
	close_session();
}

#define PLAY(turns) play_turns(turns, ARRAY_SIZE(turns))

#endif

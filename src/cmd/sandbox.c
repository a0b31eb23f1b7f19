/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cmd/episode_options.h"
#include "cmd/gpu_options.h"
#include "cmd/pipe_relay.h"
#include "cmd/sandbox_ps.h"
#include "cmd/terminal_relay.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "proto/guest.h"
#include "sandbox/leftovers.h"
#include "sandbox/python.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * `sandbox exec` and `sandbox shell`: a program in a sandbox of its own, with a terminal or pipes that stand for ours.
 * One loop waits for its output, its end, a signal and the time limit.
 */
#define KILL_AFTER_MS 1000  /* TERM at the time limit, then KILL */
#define LEAVE_AFTER_MS 1000 /* of its end, once it was told to: nobody may read its output */
#define TIMED_OUT 124       /* as timeout(1) */

struct sandbox_cli {
	struct cmd_list binds, gpus;
	int network, disk_on;
	int64_t memory_bytes, disk_bytes;
	int pids;
	double cpus, timeout_s;
	const char *workdir, *python;
};

#define FIELD(f) offsetof(struct sandbox_cli, f)

static const char *const networks[] = { "none", "host", NULL };
static const char *const disks[] = { "memory", "disk", NULL };

#define COMMON_OPTIONS                                                                             \
	{ "bind", 'b', OPTION_REPEAT, FIELD(binds), "SRC[:DST]",                                   \
		"show a file or folder of this machine, read-only" },                              \
			PYTHON_OPTION(FIELD(python)),                                              \
			{ "gpus", 0, OPTION_LIST, FIELD(gpus), "N,...",                            \
				"NVIDIA's GPUs that it has, 2 for /dev/nvidia2, and no run "       \
				"meanwhile" },                                                     \
			{ "network", 0, OPTION_CHOICE, FIELD(network), "none|host",                \
				"which network it has", .preset = "none", .choices = networks },   \
			{ "memory", 'm', OPTION_BYTES, FIELD(memory_bytes), "SIZE",                \
				"most memory: 512M, 2G" },                                         \
			{ "disk", 0, OPTION_BYTES, FIELD(disk_bytes), "SIZE",                      \
				"most space for the files it writes" },                            \
			{ "disk-on", 0, OPTION_CHOICE, FIELD(disk_on), "memory|disk",              \
				"where those files lie", .preset = "memory", .choices = disks },   \
			{ "pids", 0, OPTION_INT, FIELD(pids), "N", "most processes", .min = 1,     \
				.max = 1 << 22 },                                                  \
			{ "cpus", 0, OPTION_NUMBER, FIELD(cpus), "N",                              \
				"most cores' worth of time" },                                     \
	{                                                                                          \
		"workdir", 'w', OPTION_TEXT, FIELD(workdir), "DIR", "folder inside to start in"    \
	}

static const struct cmd_option exec_options[] = {
	COMMON_OPTIONS,
	{ "timeout", 't', OPTION_SECONDS, FIELD(timeout_s), "TIME",
			"end it after this time: 10, 5m; 0: never" },
	{},
};

static const struct cmd_option shell_options[] = { COMMON_OPTIONS, {} };

/* --- the sandbox ----------------------------------------------------------------------------- */

static int read_binds(const struct sandbox_cli *cli, const struct python_env *python,
		struct arena *arena, const struct sandbox_bind **out, size_t *out_n,
		struct fh_error *err)
{
	struct sandbox_bind *binds =
			arena_array(arena, cli->binds.n + PYTHON_BINDS_MAX, sizeof(*binds));
	const struct fh_bind *read;
	int r = episode_binds(&cli->binds, arena, &read, err);

	for (size_t i = 0; i < python->n_binds; i++)
		binds[cli->binds.n + i] = python->binds[i];
	*out_n = cli->binds.n + python->n_binds;

	for (size_t i = 0; i < cli->binds.n && r == 0; i++)
		binds[i] = (struct sandbox_bind){ read[i].source,
			read[i].target ? read[i].target : read[i].source };
	*out = binds;
	return r;
}

static int wait_ready(struct sandbox *sb, struct fh_error *err)
{
	struct sandbox_event e;

	sandbox_wait_event(sb, -1, &e);
	if (e.kind == SANDBOX_READY)
		return 0;
	return error_say(err, e.status ? e.status : EPIPE, "%s",
			e.kind == SANDBOX_FAILED ? e.text : "the sandbox is gone");
}

static int start(struct owner *owner, const struct sandbox_cli *cli,
		const struct python_env *python, const int *gpus, struct sandbox **out,
		struct fh_error *err)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct sandbox_options options = { .gpus = gpus,
		.n_gpus = cli->gpus.n,
		.writable = python->writable,
		.network = cli->network ? NETWORK_HOST : NETWORK_NONE,
		.limits = { .memory_bytes = cli->memory_bytes,
				.disk_bytes = cli->disk_bytes,
				.pids = cli->pids,
				.cpus = cli->cpus,
				.disk_on = cli->disk_on ? DISK_DISK : DISK_MEMORY } };
	struct sandbox *sb = NULL;
	int r = read_binds(cli, python, &arena, &options.binds, &options.n_binds, err);

	if (r == 0 && python->writable)
		r = owner_add_folders(owner, python->writable, err);
	if (r == 0)
		r = sandbox_start(owner, &options, &sb, err);
	if (r == 0)
		r = wait_ready(sb, err);
	if (r < 0)
		sandbox_close(sb);
	else
		*out = sb;
	return r;
}

/* --- waiting for its end --------------------------------------------------------------------- */

struct job {
	struct sandbox *sb;
	uint32_t id;
	int signals;
	struct terminal_relay *relay; /* NULL: none of its ends is a terminal */
	struct pipe_relay *pipes;
	int64_t deadline_ns;
	bool told, timed_out; /* to end: by a signal, by the deadline */
	bool ended, drained;  /* the program; and its pipes */
	bool leave;           /* what they held is not waited for */
	int status;
	uint32_t drain;
};

/* What becomes 0, 1 and 2 of the program. */
struct ends {
	int fds[3];
	int side, nothing; /* of a relay, /dev/null; -1: not open */
};

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void pass_signals(struct job *job)
{
	struct signalfd_siginfo info;

	while (read(job->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH) {
			terminal_relay_resize(job->relay);
		} else {
			sandbox_signal(job->sb, job->id, (int)info.ssi_signo, NULL);
			job->told = true;
			job->leave = job->ended;
		}
	}
}

static void on_deadline(struct job *job)
{
	sandbox_signal(job->sb, job->id, job->timed_out ? SIGKILL : SIGTERM, NULL);
	job->deadline_ns = clock_now_ns() + KILL_AFTER_MS * NS_PER_MS;
	job->timed_out = job->timed_out || !job->told || !job->ended;
	job->leave = job->ended;
}

/* The porter sends what is left in the pipes before SANDBOX_DONE. */
static void on_end(struct job *job, int status)
{
	job->ended = true;
	job->status = status;
	if (job->told || job->timed_out)
		job->deadline_ns = clock_now_ns() + LEAVE_AFTER_MS * NS_PER_MS;
	job->drained = sandbox_drain_begin(job->sb, &job->drain, NULL) < 0;
}

static void on_gone(struct job *job)
{
	if (!job->ended)
		job->status = SIGKILL;
	job->ended = job->drained = true;
}

static void take_events(struct job *job)
{
	struct sandbox_event e = { .kind = SANDBOX_HUNGRY };

	while (e.kind != SANDBOX_NONE && !job->drained) {
		sandbox_next_event(job->sb, &e);
		if (e.kind == SANDBOX_EXITED && e.id == job->id)
			on_end(job, e.status);
		else if (e.kind == SANDBOX_DONE && job->ended && e.id == job->drain)
			job->drained = true;
		else if (e.kind == SANDBOX_HUNGRY)
			pipe_relay_hungry(job->pipes);
		else if (e.kind == SANDBOX_GONE)
			on_gone(job);
	}
}

static bool is_over(const struct job *job)
{
	return job->leave || (job->drained && !pipe_relay_pending(job->pipes));
}

static void wait_once(struct job *job)
{
	struct waits w = WAITS_INIT;

	if (!job->drained)
		sandbox_waits(job->sb, &w);
	waits_add(&w, job->signals, POLLIN);
	terminal_relay_waits(job->relay, &w);
	pipe_relay_waits(job->pipes, &w);
	waits_until(&w, job->deadline_ns);
	waits_poll(&w);
}

static int wait_for(struct job *job)
{
	while (take_events(job), !is_over(job)) {
		wait_once(job);
		pass_signals(job);
		terminal_relay_advance(job->relay);
		pipe_relay_advance(job->pipes);
		if (clock_now_ns() >= job->deadline_ns)
			on_deadline(job);
	}
	terminal_relay_drain(job->relay);
	if (job->timed_out)
		return TIMED_OUT;
	return WIFEXITED(job->status) ? WEXITSTATUS(job->status) : 128 + WTERMSIG(job->status);
}

/* Whoever reads or sets a terminal in the background is stopped. */
static bool in_foreground(void)
{
	pid_t group = tcgetpgrp(0);

	return group < 0 || group == getpgrp();
}

/*
 * Ours, but for terminals: another stands for them. What is typed reaches the program where it prints on a terminal,
 * too; else others may read there, as `less` does, and it has no input.
 */
static int open_ends(struct job *job, struct ends *ends, struct fh_error *err)
{
	bool out = isatty(1), said = isatty(2), typed = isatty(0);
	bool input = typed && out && in_foreground();
	int r = 0;

	if (out || said)
		r = terminal_relay_open(&job->relay, out ? 1 : 2, input, &ends->side, err);
	if (r == 0 && typed && !input) {
		ends->nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (ends->nothing < 0)
			r = error_set(err, errno, "open /dev/null");
	}
	ends->fds[0] = input ? ends->side : typed ? ends->nothing : 0;
	ends->fds[1] = out ? ends->side : 1;
	ends->fds[2] = said ? ends->side : 2;
	return r;
}

/* The program has it now, and may hold its lock: nothing of ours touches it from here on. */
static void forget_files(const struct ends *ends)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++) {
		struct stat st;

		if (ends->fds[i] == i && fstat(i, &st) == 0 && S_ISREG(st.st_mode))
			dup2(nothing, i);
	}
	close_fd(&nothing);
}

/* It begins once our copies of what it has are closed. */
static int begin(struct job *job, struct run_request *request, struct ends *ends,
		struct fh_error *err)
{
	int r = sandbox_run(job->sb, request, &job->id, err);

	close_fd(&ends->side);
	close_fd(&ends->nothing);
	if (r < 0)
		return r;
	pipe_relay_begin(job->pipes, job->id);
	forget_files(ends);
	return sandbox_go(job->sb, job->id, err);
}

static int run_in(struct sandbox *sb, const struct sandbox_cli *cli, const char *const *argv)
{
	struct run_request request = RUN_REQUEST_INIT;
	struct job job = { .sb = sb, .deadline_ns = INT64_MAX, .signals = -1 };
	struct ends ends = { .side = -1, .nothing = -1 };
	struct fh_error err = FH_ERROR_INIT;
	int r = open_ends(&job, &ends, &err);

	job.pipes = pipe_relay_new(sb, ends.fds);
	request.argv = argv;
	request.cwd = cli->workdir ? cli->workdir : GUEST_HOME;
	request.user = USER_AGENT;
	request.fds = ends.fds;
	request.n_fds = 3;
	request.held = true;
	job.signals = open_signals();
	if (r == 0)
		r = begin(&job, &request, &ends, &err);
	if (cli->timeout_s > 0)
		job.deadline_ns = clock_now_ns() + (int64_t)(cli->timeout_s * 1e9);
	r = r < 0 ? cmd_fail(&err) : wait_for(&job);
	terminal_relay_close(job.relay);
	pipe_relay_free(job.pipes);
	close_fd(&job.signals);
	return r;
}

/* With the environment's programs first, if there is one. */
static const char *const *with_python(struct arena *a, const char *python, const char *const *argv)
{
	size_t n = 0;
	const char **all;

	while (argv[n])
		n++;
	all = arena_array(a, n + 3, sizeof(*all));
	all[0] = "/usr/bin/env";
	all[1] = python ? python_env_path(a, python, AGENT_PATH) : NULL;
	memcpy(all + 2, argv, n * sizeof(*argv));
	return python ? all : argv;
}

static int run_program(const struct sandbox_cli *cli, const char *const *argv)
{
	auto_arena struct arena arena = ARENA_INIT;
	struct owner_options options = {
		.label = "exec",
		.gpus = { .wanted = cli->gpus.n, .n_numbers = cli->gpus.n },
	};
	struct fh_error err = FH_ERROR_INIT;
	struct owner *owner;
	struct sandbox *sb;
	struct python_env python = { .dir = NULL };
	int status;

	if (cli->python && python_env_find(&arena, cli->python, &python, &err) < 0)
		return cmd_refuse(&err);
	if (gpu_options_read(&cli->gpus, &arena, &options.gpus.numbers, &err) < 0)
		return cmd_refuse(&err);
	if (owner_open(&options, &owner, &err) < 0)
		return cmd_fail(&err);
	if (start(owner, cli, &python, options.gpus.numbers, &sb, &err) < 0) {
		owner_close(owner);
		return cmd_fail(&err);
	}
	if (owner_warning(owner))
		cmd_warn("%s", owner_warning(owner));
	status = run_in(sb, cli, with_python(&arena, python.dir, argv));
	sandbox_close(sb);
	owner_close(owner);
	return status;
}

/* What it prints is the program's, and nothing of ours is to be between that. */
static int refuse_json(const struct command_context *ctx)
{
	return cmd_misuse(ctx,
			"--json: output and exit status are the program's, so there is nothing "
			"to print as JSON");
}

static int run_exec(struct command_context *ctx)
{
	auto_free const char **argv = xcalloc(ctx->n_args + 1, sizeof(*argv));

	if (ctx->json)
		return refuse_json(ctx);
	for (size_t i = 0; i < ctx->n_args; i++)
		argv[i] = ctx->args[i];
	return run_program(ctx->options, argv);
}

static int run_shell(struct command_context *ctx)
{
	static const char *const argv[] = { "env", "TERM=xterm-256color",
		"PS1=\\u@fumehood:\\w\\$ ", "bash", "--norc", NULL };

	if (ctx->json)
		return refuse_json(ctx);
	return run_program(ctx->options, argv);
}

static int run_gc(struct command_context *ctx)
{
	size_t left, ended = leftovers_end(&left); /* first: their groups are empty then */
	int count = owner_collect();

	if (ctx->json)
		printf("{\"ended\": %zu, \"left\": %zu, \"removed\": %d}\n", ended, left, count);
	else
		printf("ended %zu sandbox%s without an owner, removed %d left behind by processes that "
		       "were killed\n",
				ended, ended == 1 ? "" : "es", count);
	if (left)
		fprintf(stderr, "fumehood: %zu sandbox%s can't be ended: see `fumehood sandbox ps`\n",
				left, left == 1 ? "" : "es");
	return left ? CMD_FAILED : CMD_OK;
}

static const struct command command_exec = {
	.name = "exec",
	.summary = "run a program in a sandbox of its own",
	.arguments = "-- COMMAND...",
	.min_args = 1,
	.max_args = 1000,
	.args_end_options = true,
	.about = "Output and exit status are the program's: 128+N after signal N, 124 after the time "
		 "limit, 127 when there is no such program, 126 when it can't be run. So --json is refused.\n"
		 "On a terminal it has one of the sandbox's own. What is typed reaches it if its output is on a terminal, too.\n"
		 "Pipes and sockets are relayed, files are handed over. Input is read ahead: give it /dev/null where others read the same pipe.",
	.examples = "fumehood sandbox exec -- python3 -c 'print(6 * 7)'\n"
		    "fumehood sandbox exec --memory 512M --timeout 10 --bind /data -- ./train.sh",
	.options = exec_options,
	.options_size = sizeof(struct sandbox_cli),
	.run = run_exec,
};

static const struct command command_shell = {
	.name = "shell",
	.summary = "an interactive shell in a sandbox of its own",
	.about = "What an agent would see. Everything is gone when the shell ends.",
	.options = shell_options,
	.options_size = sizeof(struct sandbox_cli),
	.run = run_shell,
};

static const struct command command_gc = {
	.name = "gc",
	.summary = "end and remove what killed processes left behind",
	.about = "Sandboxes end with their owner. If one does not, this ends it: your own, or everyone's as root. "
		 "Empty control groups and folders can stay as well; each start of fumehood removes those too.",
	.run = run_gc,
};

static const struct command *const commands[] = { &command_shell, &command_exec,
	&command_sandbox_ps, &command_gc, NULL };

const struct command command_sandbox = {
	.name = "sandbox",
	.summary = "sandboxes by themselves: shell, exec, ps, gc",
	.commands = commands,
};

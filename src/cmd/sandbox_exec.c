/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sandbox_exec.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "cmd/episode_options.h"
#include "attach/attach.h"
#include "inside/environment.h"
#include "inside/places.h"
#include "sandbox/python.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* fumehood sandbox exec and shell: run a program in a sandbox of its own. */

#define EXEC_FAILED 125 /* exit status if the program did not start, as of docker and env(1) */
#define EXEC_NOT_FOUND 127

struct sandbox_cli {
	struct texts binds, gpus, env;
	int network, disk_on;
	int64_t memory_bytes, disk_bytes;
	int pids;
	double cpus, timeout_s;
	const char *workdir, *folder, *python;
};

#define FIELD(f) offsetof(struct sandbox_cli, f)

static const char *const networks[] = { "none", "host", NULL };
static const char *const disks[] = { "memory", "disk", NULL };

/* `sandbox shell` has all but the first. */
static const struct cmd_option exec_options[] = {
	{ "timeout", 't', OPTION_SECONDS, FIELD(timeout_s), "TIME",
			"end the program after this time: 10, 5m; 0: never" },
	{ "bind", 'b', OPTION_REPEAT, FIELD(binds), "SRC[:DST[:rw]]",
			"show a file or folder of this machine, read-only. With :rw the sandbox can write "
			"to a folder; the changes end with the sandbox. Only one folder can be :rw" },
	{ "env", 'e', OPTION_REPEAT, FIELD(env), "K=V", "set an environment variable" },
	PYTHON_OPTION(FIELD(python)),
	{ "gpus", 0, OPTION_LIST, FIELD(gpus), "N,...",
			"NVIDIA GPUs of the sandbox, 2 for /dev/nvidia2, which no run has meanwhile" },
	{ "network", 0, OPTION_CHOICE, FIELD(network), "none|host", "network of the sandbox",
			.preset = "none", .choices = networks },
	{ "memory", 'm', OPTION_BYTES, FIELD(memory_bytes), "SIZE", "most memory: 512M, 2G",
			.min = 1 << 20 },
	{ "disk", 0, OPTION_BYTES, FIELD(disk_bytes), "SIZE", "most space for written files",
			.min = 4096 },
	{ "disk-on", 0, OPTION_CHOICE, FIELD(disk_on), "memory|disk", "place of written files",
			.preset = "memory", .choices = disks },
	{ "pids", 0, OPTION_INT, FIELD(pids), "N", "most processes", .min = 1, .max = 1 << 22 },
	{ "cpus", 0, OPTION_NUMBER, FIELD(cpus), "N", "most CPU time, in cores; 0: no limit",
			.max = 4096,
			.least = 0.01 /* the kernel can limit to 1 ms of each 100 ms */ },
	{ "workdir", 'w', OPTION_PATH, FIELD(workdir), "DIR", "folder in the sandbox to start in" },
	{ "folder", 'C', OPTION_PATH, FIELD(folder), "DIR",
			"show this folder of this machine, read-only, and start in it; "
			"`here` is the current one" },
	{ "json", .kind = OPTION_REFUSED,
			.why = "would print nothing: output and exit status are the program's" },
	{},
};

/* --- options ---------------------------------------------------------------------------------- */

struct exec_plan {
	struct arena arena;
	struct python_env python;
	struct sandbox_bind *binds;
	size_t n_binds;
	const char *writable; /* path on this machine of the writable bind; NULL: none */
	const int *gpus;
	struct attach_request program;
};

static int exec_add_bind(struct exec_plan *plan, const char *text, struct fh_error *err)
{
	struct fh_bind bind = { .source = NULL };
	bool writable;
	int r = episode_read_bind(text, &plan->arena, &bind, &writable, err);

	if (r < 0)
		return r;
	if (writable && !path_is_dir(bind.source))
		return error_say(err, ENOTDIR, "--bind '%s': only a folder can be rw", text);
	if (writable && plan->writable && !str_eq(plan->writable, bind.source))
		return error_say(err, EINVAL, "'%s' and '%s': only one folder can be rw",
				plan->writable, bind.source);
	if (writable)
		plan->writable = bind.source;
	plan->binds[plan->n_binds] = (struct sandbox_bind){ bind.source,
		bind.target ? bind.target : bind.source };
	return sandbox_bind_check(&plan->binds[plan->n_binds++], err);
}

static int exec_read_binds(
		const struct sandbox_cli *cli, struct exec_plan *plan, struct fh_error *err)
{
	plan->binds = arena_array(
			&plan->arena, cli->binds.n + 1 + PYTHON_BINDS_MAX, sizeof(*plan->binds));
	plan->writable = plan->python.writable;
	for (size_t i = 0; i < cli->binds.n; i++) {
		int r = exec_add_bind(plan, cli->binds.items[i], err);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < plan->python.n_binds; i++)
		plan->binds[plan->n_binds++] = plan->python.binds[i];
	return 0;
}

/* Binds the folder of the option -C at the same path in the sandbox. */
static int exec_read_folder(
		const struct sandbox_cli *cli, struct exec_plan *plan, struct fh_error *err)
{
	auto_free char *real = NULL;

	plan->program.cwd = cli->workdir ? cli->workdir : GUEST_HOME;
	if (!cli->folder)
		return 0;
	if (cli->workdir)
		return error_say(err, EINVAL, "--workdir and -C both say where to start");
	real = realpath(str_eq(cli->folder, "here") ? "." : cli->folder, NULL);
	if (!real)
		return error_set(err, errno, "-C '%s'", cli->folder);
	if (!path_is_dir(real))
		return error_say(err, ENOTDIR, "-C '%s': it is not a folder", cli->folder);
	plan->program.cwd = arena_strdup(&plan->arena, real);
	plan->binds[plan->n_binds] = (struct sandbox_bind){ plan->program.cwd, plan->program.cwd };
	if (sandbox_bind_check(&plan->binds[plan->n_binds++], err) < 0)
		return error_say(err, EINVAL,
				"-C '%s': the sandbox has files of its own there; --workdir "
				"starts in them",
				cli->folder);
	return 0;
}

static bool exec_is_variable(const char *text)
{
	size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	return n && text[n] == '=' && !(*text >= '0' && *text <= '9');
}

static int exec_read_env(
		const struct sandbox_cli *cli, struct exec_plan *plan, struct fh_error *err)
{
	const char **env = arena_array(&plan->arena, cli->env.n + 1, sizeof(*env));

	if (plan->python.dir)
		env[plan->program.n_env++] =
				python_env_path(&plan->arena, plan->python.dir, AGENT_PATH);
	for (size_t i = 0; i < cli->env.n; i++) {
		if (!exec_is_variable(cli->env.items[i]))
			return error_say(err, EINVAL, "--env wants K=V, not '%s'",
					cli->env.items[i]);
		env[plan->program.n_env++] = cli->env.items[i];
	}
	plan->program.env = env;
	return 0;
}

static int exec_read(const struct sandbox_cli *cli, struct exec_plan *plan, struct fh_error *err)
{
	int r = cli->python ? python_env_find(&plan->arena, cli->python, &plan->python, err) : 0;

	if (r < 0)
		return r;
	r = episode_gpus(&cli->gpus, &plan->arena, &plan->gpus, err);
	if (r < 0)
		return r;
	r = exec_read_binds(cli, plan, err);
	if (r < 0)
		return r;
	r = exec_read_folder(cli, plan, err);
	if (r < 0)
		return r;
	plan->program.timeout_s = cli->timeout_s;
	return exec_read_env(cli, plan, err);
}

/* --- the sandbox ----------------------------------------------------------------------------- */

/* Files that leave less space than this have reached their limit. */
#define DISK_FULL_BYTES 4096

static void exec_tell_size(const char *what, int64_t bytes)
{
	bool large = bytes >= 1LL << 30;

	cmd_warn("%s %.4g %s", what, (double)bytes / (1 << (large ? 30 : 20)),
			large ? "GiB" : "MiB");
}

/* Tells which limits the program has reached. */
static void exec_tell_limits(const struct sandbox *sb, const struct sandbox_cli *cli,
		const struct attach_end *end)
{
	int64_t left = sandbox_count(sb, SANDBOX_LEFT_BYTES);

	if (end->timed_out)
		cmd_warn("the program was ended: --timeout is %g s", cli->timeout_s);
	if (cli->memory_bytes && sandbox_count(sb, SANDBOX_OOM_KILLS) > 0)
		exec_tell_size("the memory ran out, and a process was ended: --memory is",
				cli->memory_bytes);
	if (cli->pids && sandbox_count(sb, SANDBOX_PROCESSES_REFUSED) > 0)
		cmd_warn("a process could not be started: --pids is %d", cli->pids);
	if ((cli->disk_bytes || cli->memory_bytes) && left >= 0 && left < DISK_FULL_BYTES)
		exec_tell_size(cli->disk_bytes ? "there is no space left for files: --disk is"
					       : "there is no space left for files: --memory leaves "
						 "them",
				sandbox_count(sb, SANDBOX_WRITTEN_BYTES) + left);
}

/* Tells how to show a program that is on this machine, but not in the sandbox. */
static void exec_tell_hidden(const char *program, const struct attach_end *end)
{
	if (end->status == EXEC_NOT_FOUND && strchr(program, '/') && path_exists(program))
		cmd_warn("'%s' is not in the sandbox: -C here shows it the current folder, "
			 "-C DIR another",
				program);
}

/* Runs the program in a new sandbox, and closes the sandbox. */
static int exec_run(struct owner *owner, const struct sandbox_cli *cli,
		const struct exec_plan *plan, int *out_status, struct fh_error *err)
{
	struct sandbox_options options = { .binds = plan->binds,
		.n_binds = plan->n_binds,
		.writable = plan->writable,
		.network = cli->network ? NETWORK_HOST : NETWORK_NONE,
		.limits = { .memory_bytes = cli->memory_bytes,
				.disk_bytes = cli->disk_bytes,
				.pids = cli->pids,
				.cpus = cli->cpus,
				.disk_on = cli->disk_on ? DISK_DISK : DISK_MEMORY } };
	auto_gpu_lease struct gpu_lease *gpus = NULL;
	struct attach_end end = { .status = EXEC_FAILED };
	struct sandbox_event e;
	struct sandbox *sb;
	int r = plan->writable ? owner_add_writable(owner, plan->writable, err) : 0;

	if (r < 0)
		return r;
	r = owner_lease_gpus(owner, cli->gpus.n, &gpus, err);
	if (r < 0)
		return r;
	options.gpus = gpus;
	r = sandbox_start(owner, &options, &sb, err);
	if (r < 0)
		return r;
	sandbox_wait_event(sb, -1, &e);
	if (e.kind == SANDBOX_READY && owner_warning(owner))
		cmd_warn("%s", owner_warning(owner));
	if (e.kind == SANDBOX_READY)
		r = attach_run(sb, &plan->program, &end, err);
	else
		r = error_say(err, e.status ? e.status : EPIPE, "%s",
				e.kind == SANDBOX_FAILED ? e.text : "the sandbox is gone");
	exec_tell_limits(sb, cli, &end);
	if (!cli->folder)
		exec_tell_hidden(plan->program.argv[0], &end);
	sandbox_close(sb);
	*out_status = end.status;
	return r;
}

static int exec_open_and_run(const struct sandbox_cli *cli, struct exec_plan *plan, int *out_status,
		struct fh_error *err)
{
	struct owner_options options = { .label = "exec" };
	struct owner *owner;
	int r = exec_read(cli, plan, err);

	if (r < 0)
		return r;
	options.gpus = (struct gpus_wanted){ cli->gpus.n, plan->gpus, cli->gpus.n };
	r = owner_open(&options, &owner, err);
	if (r < 0)
		return r;
	r = exec_run(owner, cli, plan, out_status, err);
	owner_close(owner);
	return r;
}

/* Runs the program and returns its exit status. */
static int exec_program(const struct command_context *ctx, const char *const *argv)
{
	struct exec_plan plan = { .arena = ARENA_INIT, .program = { .argv = argv } };
	struct fh_error err = FH_ERROR_INIT;
	int status = EXEC_FAILED;

	if (exec_open_and_run(ctx->options, &plan, &status, &err) < 0)
		cmd_fail(&err);
	arena_release(&plan.arena);
	return status;
}

/* --- the commands ---------------------------------------------------------------------------- */

static int sandbox_exec_main(struct command_context *ctx)
{
	const char **argv = arena_array(ctx->arena, ctx->n_args + 1, sizeof(*argv));

	memcpy(argv, ctx->args, ctx->n_args * sizeof(*argv));
	return exec_program(ctx, argv);
}

static int sandbox_exec_shell_main(struct command_context *ctx)
{
	static const char *const argv[] = { "env", "PS1=\\u@fumehood:\\w\\$ ", "bash", "--norc",
		NULL };

	return exec_program(ctx, argv);
}

static const struct cmd_status exec_statuses[] = {
	{ "124", "--timeout ended the program" },
	{ "125", "bad input, or the sandbox or the program could not be started" },
	{ "126", "the program can't be executed" },
	{ "127", "there is no such program" },
	{ "128+N", "signal N ended the program" },
	{ "others", "the program's own exit status" },
	{},
};

static const struct cmd_status shell_statuses[] = {
	{ "125", "bad input, or the sandbox or the shell could not be started" },
	{ "128+N", "signal N ended the shell" },
	{ "others", "the shell's own exit status" },
	{},
};

const struct command command_sandbox_exec = {
	.name = "exec",
	.summary = "run a program in a sandbox of its own",
	.arguments = "-- COMMAND...",
	.min_args = 1,
	.max_args = 1000,
	.args_end_options = true,
	.misuse_status = EXEC_FAILED,
	.about = "Prints the program's output, and ends with its exit status.\n"
		 "On a terminal the program gets a terminal of the sandbox, with the same TERM and "
		 "size. It gets typed input only if its output is on a terminal too.\n"
		 "Pipes and sockets are relayed, and files are passed on. Input is read ahead. If other "
		 "programs read the same pipe, redirect the input from /dev/null.\n"
		 "SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on. If the program still runs a second "
		 "later, another one kills it.",
	.statuses = exec_statuses,
	.examples = "fumehood sandbox exec -- python3 -c 'print(6 * 7)'\n"
		    "fumehood sandbox exec --memory 512M --timeout 10 -C here -- ls -l\n"
		    "fumehood sandbox exec --env LR=0.1 --bind .:/work:rw -w /work -- sh -c 'echo $LR >lr; cat lr'",
	.options = exec_options,
	.options_size = sizeof(struct sandbox_cli),
	.run = sandbox_exec_main,
};

const struct command command_sandbox_shell = {
	.name = "shell",
	.summary = "an interactive shell in a sandbox of its own",
	.about = "Shows what an agent sees. When the shell ends, all files in it are deleted.",
	.statuses = shell_statuses,
	.misuse_status = EXEC_FAILED,
	.options = exec_options + 1,
	.options_size = sizeof(struct sandbox_cli),
	.run = sandbox_exec_shell_main,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include "agent/agent.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/process.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is measured of agents: their commands, and a step that a language model decides on. */

#define LINES 300
#define FEWER 10 /* times: a cold linter takes as long as a hundred commands */

static double us_since(int64_t began_ns)
{
	return (double)(clock_now_ns() - began_ns) / 1e3;
}

/* --- commands ----------------------------------------------------------------------------------------- */

/* A Python file like many, of so many lines, with a line near its middle to edit. */
static char *python_file(void)
{
	auto_buf struct buf out = BUF_INIT(1 << 20);

	buf_add_str(&out, "import math\n\n\n");
	for (int line = 4; line <= LINES; line += 6)
		buf_printf(&out,
				"def part_%d(values, factor=%d):\n    total = 0\n    for value in values:\n"
				"        total += math.sqrt(abs(value)) * factor\n\n\n",
				line, line);
	return buf_take(&out);
}

static int prepare(struct fh_env *env, struct fh_error *err)
{
	auto_free char *text = python_file();
	auto_free char *command =
			xasprintf("cat > f.py << 'END'\n%sEND\nopen f.py > /dev/null", text);
	double us;

	return bench_step(env, command, &us, err);
}

static int time_open(struct bench *b, struct fh_env *env, struct samples *out, struct fh_error *err)
{
	int r = bench_go_on(err);

	for (int i = 0; i < bench_batch(b) && r == 0; i++) {
		double us;

		r = bench_step(env, "open f.py > /dev/null", &us, err);
		if (r == 0)
			samples_add(out, us);
	}
	return r;
}

static int time_edit(struct bench *b, struct fh_env *env, struct samples *out, struct fh_error *err)
{
	static int number;
	int r = bench_go_on(err);

	for (int i = 0; i < bench_batch(b) / FEWER + 1 && r == 0; i++) {
		auto_free char *edit =
				xasprintf("edit 149:149\n    total = %d\nend_of_edit", number++);
		double us;

		r = bench_step(env, edit, &us, err);
		if (r == 0)
			samples_add(out, us);
	}
	return r;
}

/* The same file for the cold linter. */
static int write_file(char *path, struct fh_error *err)
{
	auto_free char *text = python_file();
	auto_close int fd = mkstemps(path, strlen(".py"));

	if (fd < 0)
		return error_set(err, errno, "make '%s'", path);
	return fd_write_full(fd, text, strlen(text));
}

static int command_rounds(
		struct bench *b, struct fh_env *env, const char *file, struct fh_error *err)
{
	struct figure *open_one = bench_figure(b, "us", "aci_open");
	struct figure *edit = bench_figure(b, "us", "edit_python");
	const char *exec_args[] = { places_get()->aci, NULL };
	const char *lint_args[] = { "/usr/bin/flake8", "--isolated",
		"--select=F821,F822,F831,E111,E112,E113,E999,E902", file, NULL };
	int r = prepare(env, err);

	open_one->most_ratio = 3;
	edit->most = 20000;
	for (int round = 0; round < BENCH_ROUNDS && r == 0; round++) {
		r = floor_run("exec", bench_batch(b), exec_args, &open_one->floor, err);
		if (r == 0)
			r = time_open(b, env, &open_one->ours, err);
		if (r == 0 && access(lint_args[0], X_OK) == 0)
			r = floor_run("exec", bench_batch(b) / FEWER / 2 + 1, lint_args,
					&edit->floor, err);
		if (r == 0)
			r = time_edit(b, env, &edit->ours, err);
	}
	return r;
}

int suite_tools(struct bench *b, struct fh_error *err)
{
	char file[] = "/tmp/fumehood-bench-XXXXXX.py";
	struct fh_env *env = NULL;
	struct fh_gym *gym;
	int r = fh_gym_open(NULL, &gym, err);

	if (r < 0)
		return r;
	r = write_file(file, err);
	if (r == 0)
		r = bench_start(gym, &env, err);
	if (r == 0)
		r = command_rounds(b, env, file, err);
	unlink(file);
	fh_env_close(env);
	fh_gym_close(gym);
	return r;
}

/* --- a language model ------------------------------------------------------------------------------------ */

/* bench/answer.c, while it runs. */
struct answerer {
	pid_t pid;
	char url[64];
};

static int start_answerer(struct answerer *out, struct fh_error *err)
{
	auto_free char *path = path_join(places_get()->floors, "answer");
	char *const argv[] = { path, NULL };
	posix_spawn_file_actions_t actions;
	char port[16] = "";
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	r = posix_spawn(&out->pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (r == 0 && read(ends[0], port, sizeof(port) - 1) <= 0)
		r = EIO;
	close(ends[0]);
	if (r)
		return error_set(err, r, "start '%s'", path);
	snprintf(out->url, sizeof(out->url), "http://127.0.0.1:%ld/v1", strtol(port, NULL, 10));
	return 0;
}

struct asking {
	struct bench *bench;
	struct fh_env *env;
	struct chat_service *service;
	struct agent *agent;
	struct figure *prompt, *call, *step, *whole;
};

/* Until the model has answered. */
static int await(struct asking *a, struct fh_error *err)
{
	struct chat_call *done;
	int r = 0;

	while (!agent_decided(a->agent) && r == 0) {
		struct pollfd p = { .fd = chat_service_fd(a->service), .events = POLLIN };

		poll(&p, 1, -1);
		if (chat_service_advance(a->service, &done, 1))
			r = agent_advance(a->agent, err);
	}
	return r;
}

static int ask_once(struct asking *a, struct fh_step *step, struct fh_error *err)
{
	int64_t began = clock_now_ns(), asked, answered;
	struct model_turn turn = { 0 };
	int r = agent_begin(a->agent, step, err);

	asked = clock_now_ns();
	if (r == 0)
		r = await(a, err);
	if (r == 0)
		r = agent_take(a->agent, &turn, err);
	answered = clock_now_ns();
	if (r == 0)
		r = fh_env_step(a->env, &(struct fh_action){ .text = turn.action }, step, err);
	if (r < 0)
		return r;
	samples_add(&a->prompt->ours, (double)(asked - began) / 1e3);
	samples_add(&a->call->ours, (double)(answered - asked) / 1e3);
	samples_add(&a->step->ours, us_since(answered));
	samples_add(&a->whole->ours, us_since(began));
	return step->outcome == FH_OUTCOME_OK ? bench_go_on(err)
					      : error_say(err, EIO, "'%s' failed", turn.action);
}

static int ask_all(struct asking *a, struct fh_error *err)
{
	struct fh_step step;
	int r = fh_env_reset(a->env, 0, &step, err);

	/* As long a conversation as an episode has. */
	for (int i = 0; i < a->bench->n && r == 0; i++) {
		r = ask_once(a, &step, err);
		if (r == 0 && step.step % 50 == 0)
			break;
	}
	return r;
}

static int open_asking(struct asking *a, const char *url, const struct agent_config *config,
		struct chat_model **out_model, struct fh_error *err)
{
	struct chat_options options = {
		.spec = "openai:at-once", .url = url, .key = "none", .top_p = -1
	};
	struct agent_request request = { .config = config, .max_steps = 50, .env = a->env };
	struct task *task = NULL;
	int r = chat_model_open(a->service, &options, out_model, err);

	if (r == 0)
		r = task_load(NULL, BENCH_TASK, NULL, &task, err);
	if (r < 0)
		return r;
	request.model = *out_model;
	request.task = task;
	r = agent_open(&request, &a->agent, err);
	task_free(task);
	return r;
}

static int episodes(struct asking *a, const char *url, const struct agent_config *config,
		struct fh_error *err)
{
	int r = 0;

	while ((int)a->whole->ours.n < a->bench->n && r == 0) {
		struct chat_model *model = NULL;

		r = open_asking(a, url, config, &model, err);
		if (r == 0)
			r = ask_all(a, err);
		agent_close(a->agent);
		a->agent = NULL;
		chat_model_close(model);
	}
	return r;
}

int suite_agent(struct bench *b, struct fh_error *err)
{
	struct asking a = { .bench = b,
		.prompt = bench_figure(b, "us", "agent_prompt"),
		.call = bench_figure(b, "us", "agent_call"),
		.step = bench_figure(b, "us", "agent_act"),
		.whole = bench_figure(b, "us", "agent_step") };
	struct agent_config *config = NULL;
	struct answerer answerer = { 0 };
	struct fh_gym *gym = NULL;
	int r = agent_config_load(&(struct agent_config_options){ 0 }, &config, err);

	a.whole->most = 2000;
	if (r == 0)
		r = start_answerer(&answerer, err);
	if (r == 0)
		r = fh_gym_open(NULL, &gym, err);
	if (r == 0)
		r = bench_start(gym, &a.env, err);
	if (r == 0)
		r = chat_service_open(NULL, &a.service, err);
	if (r == 0)
		r = episodes(&a, answerer.url, config, err);
	chat_service_close(a.service);
	fh_env_close(a.env);
	fh_gym_close(gym);
	agent_config_free(config);
	if (answerer.pid > 0) {
		kill(answerer.pid, SIGKILL);
		waitpid(answerer.pid, NULL, 0);
	}
	return r;
}

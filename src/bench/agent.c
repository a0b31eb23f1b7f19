/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "bench/episode.h"
#include "bench/floors.h"
#include "bench/suites.h"
#include "task/load.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Measures the agent's commands, and a step that a language model decides on. */

#define LINES 300
/* For one edit, this many samples of the other commands are taken. Edits are compared with starting
 * the linter, which takes as long as 100 commands. */
#define FEWER 10
#define AGENT_MAX_STEPS 50

/* --- commands --------------------------------------------------------------------------------- */

/* Text of a Python file, with a line near its middle to edit. */
static char *agent_tools_python_file(void)
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

/* Takes a round of samples of the commands `open` and `edit`. `edit` is compared with a start of
 * the linter on the Python file `file`. */
static int agent_tools_round(struct bench *b, struct fh_env *env, const char *file,
		struct figure *open, struct figure *edit, struct fh_error *err)
{
	const char *exec_args[] = { places_get()->aci, NULL };
	const char *lint_args[] = { "/usr/bin/flake8", "--isolated",
		"--select=F821,F822,F831,E111,E112,E113,E999,E902", file, NULL };
	static int number; /* makes each edit another one */
	int r = floor_run("floor_exec", bench_batch(b), exec_args, &open->floor, err);

	if (r < 0)
		return r;
	r = bench_steps(env, "open f.py > /dev/null", bench_batch(b), &open->ours, err);
	if (r < 0)
		return r;
	if (access(lint_args[0], X_OK) == 0) {
		r = floor_run("floor_exec", bench_batch(b) / FEWER / 2 + 1, lint_args, &edit->floor,
				err);
		if (r < 0)
			return r;
	}
	for (int i = 0; i < bench_batch(b) / FEWER + 1; i++) {
		auto_free char *command =
				xasprintf("edit 149:149\n    total = %d\nend_of_edit", number++);

		r = bench_steps(env, command, 1, &edit->ours, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int agent_tools_rounds(
		struct bench *b, const char *text, const char *file, struct fh_error *err)
{
	auto_free char *command =
			xasprintf("cat > f.py << 'END'\n%sEND\nopen f.py > /dev/null", text);
	struct figure *open = bench_figure(b, "us", "aci_open");
	struct figure *edit = bench_figure(b, "us", "edit_python");
	auto_bench_env struct bench_env e = { 0 };
	int r = bench_open(&e, err);

	if (r < 0)
		return r;
	open->most_ratio = 3;
	edit->most = 20000;
	r = bench_steps(e.env, command, 1, NULL, err);
	if (r < 0)
		return r;
	for (int round = 0; round < BENCH_ROUNDS; round++) {
		r = agent_tools_round(b, e.env, file, open, edit, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int suite_tools(struct bench *b, struct fh_error *err)
{
	char file[] = "/tmp/fumehood-bench-XXXXXX.py";
	auto_free char *text = agent_tools_python_file();
	auto_close int fd = mkstemps(file, strlen(".py"));
	int r;

	if (fd < 0)
		return error_set(err, errno, "make '%s'", file);
	r = fd_write_full(fd, text, strlen(text));
	if (r < 0)
		error_set(err, -r, "write '%s'", file);
	else
		r = agent_tools_rounds(b, text, file, err);
	unlink(file);
	return r;
}

/* --- steps of a language model ---------------------------------------------------------------- */

/* A running bench/answer.c, which answers in place of a language model. */
struct answerer {
	pid_t pid;
	char url[64];
};

static int answerer_start(struct answerer *out, struct fh_error *err)
{
	auto_free char *path = path_join(places_get()->floors, "answer");
	auto_close int from = -1;
	char port[16] = "";
	int r = floor_spawn((const char *[]){ path, NULL }, &from, &out->pid, err);

	if (r < 0)
		return r;
	if (read(from, port, sizeof(port) - 1) <= 0)
		return error_say(err, EIO, "'%s' names no port", path);
	snprintf(out->url, sizeof(out->url), "http://127.0.0.1:%ld/v1", strtol(port, NULL, 10));
	return 0;
}

static void answerer_stop(const struct answerer *a)
{
	if (a->pid <= 0)
		return;
	kill(a->pid, SIGKILL);
	waitpid(a->pid, NULL, 0);
}

struct asking {
	struct bench *bench;
	struct figure *prompt, *call, *step, *whole;
	struct answerer answerer;
	struct bench_env env;
	struct task *task;
	struct agent_config *config;
	struct chat_service *service;
	struct chat_model *model; /* decides in the running episode */
	struct agent *agent;      /* plays the running episode */
};

/* Releases the members that were opened; the others are NULL or 0. */
static void asking_release(struct asking *a)
{
	agent_close(a->agent);
	chat_model_close(a->model);
	chat_service_close(a->service);
	agent_config_free(a->config);
	task_free(a->task);
	bench_close(&a->env);
	answerer_stop(&a->answerer);
}

#define auto_asking __attribute__((cleanup(asking_release)))

static int asking_wait(struct asking *a, struct fh_error *err)
{
	struct chat_call *done;

	while (!agent_decided(a->agent)) {
		struct pollfd p = { .fd = chat_service_fd(a->service), .events = POLLIN };

		poll(&p, 1, -1);
		if (chat_service_advance(a->service, &done, 1)) {
			int r = agent_advance(a->agent, err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int asking_step(struct asking *a, struct fh_step *step, struct fh_error *err)
{
	int64_t began = clock_now_ns(), asked, answered;
	struct model_turn turn = { 0 };
	int r = agent_observe(a->agent, step, err);

	if (r < 0)
		return r;
	r = agent_begin(a->agent, err);
	if (r < 0)
		return r;
	asked = clock_now_ns();
	r = asking_wait(a, err);
	if (r < 0)
		return r;
	r = agent_take(a->agent, &turn, err);
	if (r < 0)
		return r;
	answered = clock_now_ns();
	r = fh_env_step(a->env.env, &FH_ACTION(.text = turn.action), step, err);
	if (r < 0)
		return r;
	samples_add(&a->prompt->ours, (double)(asked - began) / 1e3);
	samples_add(&a->call->ours, (double)(answered - asked) / 1e3);
	samples_add(&a->step->ours, bench_us_since(answered));
	samples_add(&a->whole->ours, bench_us_since(began));
	return step->outcome == FH_OUTCOME_OK ? bench_go_on(err)
					      : error_say(err, EIO, "'%s' failed", turn.action);
}

/* Measures the steps of a whole episode, so that conversations have the usual lengths. */
static int asking_play(struct asking *a, struct fh_error *err)
{
	struct chat_options options = {
		.spec = "openai:at-once", .url = a->answerer.url, .key = "none", .top_p = -1
	};
	struct agent_request request = {
		.conversation = { .task = a->task,
				.config = a->config,
				.max_steps = AGENT_MAX_STEPS },
		.env = a->env.env,
	};
	struct fh_step step;
	int r = chat_model_open(a->service, &options, &a->model, err);

	if (r < 0)
		return r;
	request.model = a->model;
	r = agent_open(&request, &a->agent, err);
	if (r < 0)
		return r;
	r = fh_env_reset(a->env.env, NULL, &step, err);
	if (r < 0)
		return r;
	for (int i = 0; i < a->bench->n && i < AGENT_MAX_STEPS; i++) {
		r = asking_step(a, &step, err);
		if (r < 0)
			return r;
	}
	agent_close(take_ptr(a->agent));
	chat_model_close(take_ptr(a->model));
	return 0;
}

int suite_agent(struct bench *b, struct fh_error *err)
{
	auto_asking struct asking a = { .bench = b,
		.prompt = bench_figure(b, "us", "agent_prompt"),
		.call = bench_figure(b, "us", "agent_call"),
		.step = bench_figure(b, "us", "agent_act"),
		.whole = bench_figure(b, "us", "agent_step") };
	int r = answerer_start(&a.answerer, err);

	if (r < 0)
		return r;
	a.whole->most = 2000;
	r = bench_open(&a.env, err);
	if (r < 0)
		return r;
	r = task_load(NULL, BENCH_TASK, NULL, &a.task, err);
	if (r < 0)
		return r;
	r = agent_config_load(&(struct agent_config_options){ 0 }, &a.config, err);
	if (r < 0)
		return r;
	r = chat_service_open(NULL, &a.service, err);
	if (r < 0)
		return r;
	while ((int)a.whole->ours.n < b->n) {
		r = asking_play(&a, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "grade/kinds.h"
#include "grade/plan.h"

#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * duel: a judge asks the agent's code for moves over two pipes. The agent's code runs in the
 * player's sandbox. The judge's sandbox has the rules, the random numbers and the score. With two
 * players the agent's code runs twice, in two sandboxes, and the second starts when the first is
 * gone. docs/graders.md has the protocol of the pipes.
 */
#define JUDGE_MEMORY_BYTES (2LL << 30)
#define JUDGE_PIDS 64

/* cap of a buffer for a line of the player's log, which keeps at most 4000 bytes */
#define LOG_LINE_MAX (256 * 1024)

enum { JUDGE, FIRST_PLAYER };

/* Pipes between the judge and each player: the judge sends questions, a player sends answers. */
struct duel_pipes {
	/* ends of the pipes that the judge holds */
	int ask[GRADER_PLAYERS_MAX], answers[GRADER_PLAYERS_MAX];
	/* ends of the pipes that the players hold */
	int questions[GRADER_PLAYERS_MAX], answer[GRADER_PLAYERS_MAX];
};

#define DUEL_PIPES_INIT                                                                            \
	{                                                                                          \
		{ -1, -1 }, { -1, -1 }, { -1, -1 },                                                \
		{                                                                                  \
			-1, -1                                                                     \
		}                                                                                  \
	}

static void duel_close_pipes(struct duel_pipes *pipes)
{
	for (int i = 0; i < GRADER_PLAYERS_MAX; i++) {
		close_fd(&pipes->ask[i]);
		close_fd(&pipes->answers[i]);
		close_fd(&pipes->questions[i]);
		close_fd(&pipes->answer[i]);
	}
}

static int duel_open_pipe(int *out_read, int *out_write, struct fh_error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(err, errno, "make a pipe");
	*out_read = ends[0];
	*out_write = ends[1];
	return 0;
}

static void duel_bind_library(struct grade *g, struct grade_binds *b, const char *name)
{
	grade_bind(g, b, arena_printf(&g->arena, "%s/%s", places_get()->graders, name), GRADER_DIR,
			name);
}

static int duel_start_judge(struct grade *g, struct duel_pipes *pipes, struct fh_error *err)
{
	struct grade_binds b = grade_binds_new(g);
	const char *program = grade_bind_hidden(g, &b);
	struct program_plan plan;

	duel_bind_library(g, &b, "duel.py");
	duel_bind_library(g, &b, "sat.py");
	grade_bind(g, &b, places_get()->sat, GRADER_DIR, "fh-sat.so");
	/* Make the episode's binds visible to the judge: a Python environment that the user chose
	 * is among them. */
	grade_bind_episode(g, &b);
	plan = (struct program_plan){
		.sandbox = {
			.role = SANDBOX_GRADER,
			.binds = b.binds,
			.n_binds = b.n,
			.limits = { .memory_bytes = JUDGE_MEMORY_BYTES, .pids = JUDGE_PIDS },
		},
		.argv = grade_python(g, program, NULL, g->request.task->grader.args),
		.env = grade_env(g, g->judge_key),
		.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG, PROGRAM_RESULT },
		.n_streams = 4,
	};
	for (int i = 0; i < g->request.task->grader.players; i++) {
		plan.streams[plan.n_streams++] = take_fd(&pipes->ask[i]);
		plan.streams[plan.n_streams++] = take_fd(&pipes->answers[i]);
	}
	return grade_add(g, &plan, err);
}

/* Starts the player with number `i`. It runs only once the sandbox of the player before it is
 * closed. Players that ran at the same time could signal each other. */
static int duel_start_player(struct grade *g, struct duel_pipes *pipes, int i, struct fh_error *err)
{
	const struct task *task = g->request.task;
	struct grade_binds b = grade_binds_new(g);
	const char *own = task->grader.player;
	const char *player = own ? path_basename(own) : "player.py";

	if (own)
		grade_bind(g, &b, own, GRADER_DIR, player);
	/* If the task has a player program of its own, bind the built-in player.py too, which it
	 * may import. Skip that if both have the same name. */
	if (!own || !str_eq(player, "player.py"))
		duel_bind_library(g, &b, "player.py");
	grade_bind_episode(g, &b);
	return grade_add(g, &(struct program_plan){
		.sandbox = {
			.role = SANDBOX_PLAYER,
			.layer = g->request.layer,
			.binds = b.binds,
			.n_binds = b.n,
			.gpus = g->request.gpus,
			.n_gpus = g->request.n_gpus,
			.limits = task->limits,
		},
		.argv = grade_python(g, arena_printf(&g->arena, GRADER_DIR "/%s", player),
				g->submission, task->grader.functions),
		.env = grade_env(g, NULL),
		.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG,
			     take_fd(&pipes->questions[i]), take_fd(&pipes->answer[i]) },
		.n_streams = 5,
		.put_path = task->grader.submission,
		.put_fd = g->submission_fd,
		.peer = &g->programs[JUDGE],
		.after = i ? &g->programs[FIRST_PLAYER + i - 1] : NULL,
	}, err);
}

static int duel_start_all(struct grade *g, struct duel_pipes *pipes, struct fh_error *err)
{
	int players = g->request.task->grader.players;
	int r = 0;

	for (int i = 0; i < players && r == 0; i++) {
		r = duel_open_pipe(&pipes->questions[i], &pipes->ask[i], err);
		if (r == 0)
			r = duel_open_pipe(&pipes->answers[i], &pipes->answer[i], err);
	}
	if (r == 0)
		r = duel_start_judge(g, pipes, err);
	for (int i = 0; i < players && r == 0; i++)
		r = duel_start_player(g, pipes, i, err);
	return r;
}

static int duel_start(struct grade *g, struct fh_error *err)
{
	struct duel_pipes pipes = DUEL_PIPES_INIT;
	int r = duel_start_all(g, &pipes, err);

	duel_close_pipes(&pipes);
	return r;
}

/* Adds to the message how a player's process ended, unless its exit status is 0. */
static void duel_add_end(const struct grade *g, const struct program *player, struct buf *text)
{
	if (player->state != PROGRAM_ENDED)
		return;
	if (player->out_of_memory)
		buf_printf(text, "\nThe player was ended for using more than %.3g GiB of memory.",
				(double)g->request.task->limits.memory_bytes / (1 << 30));
	else if (WIFSIGNALED(player->status))
		buf_printf(text, "\nThe player was ended by signal %d (%s).",
				WTERMSIG(player->status), strsignal(WTERMSIG(player->status)));
	else if (WEXITSTATUS(player->status))
		buf_printf(text, "\nThe player exited with status %d.",
				WEXITSTATUS(player->status));
}

/* Puts a bar before each line of the player's output, so that none can pass for a message of
 * Fumehood. */
static void duel_add_quoted(struct buf *text, const char *log, size_t n)
{
	while (n) {
		const char *end = memchr(log, '\n', n);
		size_t line = end ? (size_t)(end - log) : n;
		auto_buf struct buf shown = BUF_INIT(LOG_LINE_MAX);

		str_add_utf8(&shown, log, line);
		buf_add_str(text, "| ");
		str_add_printable(text, buf_str(&shown));
		buf_add_char(text, '\n');
		line += end != NULL;
		log += line;
		n -= line;
	}
}

static void duel_explain(struct grade *g, struct buf *text)
{
	const struct program *player = &g->programs[FIRST_PLAYER];
	size_t n = player->log.len;

	for (size_t i = FIRST_PLAYER; i < g->n_programs; i++)
		duel_add_end(g, &g->programs[i], text);
	/* Leave out the output of two players: they were asked about hidden texts, which the output
	 * could reveal. */
	if (g->request.task->grader.players > 1)
		return;
	while (n && player->log.data[n - 1] == '\n')
		n--;
	if (!n)
		return;
	buf_add_str(text, "\nThe last that it printed:\n");
	duel_add_quoted(text, player->log.data, n);
}

const struct grade_kind grade_duel = {
	.start = duel_start,
	.gpus = true,
	.explain = duel_explain,
};

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
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * duel: a judge asks the agent's code for moves over two pipes. The agent's code runs in the
 * player's sandbox. The judge's sandbox has the rules, the random numbers and the score. With two
 * players the agent's code runs twice, in two sandboxes, and the second starts when the first is
 * gone. A task may ask for memory that the judge shares with each player, for large answers.
 * docs/graders.md has the protocol of the pipes and of the memory.
 */

#define JUDGE_MEMORY_BYTES (2LL << 30)
#define JUDGE_PIDS 64

/* most bytes of a line of the player's log to buffer; the log keeps at most 4000 bytes in all */
#define LOG_LINE_MAX (256 * 1024)

enum { JUDGE, FIRST_PLAYER };

/* Pipes and shared memory between the judge and a player: the ends of both. */
enum { DUEL_QUESTIONS, DUEL_ANSWERS, DUEL_MEMORY, DUEL_LINKS };
struct duel_ends {
	int judge[DUEL_LINKS], player[DUEL_LINKS];
};

static void duel_close_ends(struct duel_ends *ends)
{
	for (int i = 0; i < DUEL_LINKS; i++) {
		close_fd(&ends->judge[i]);
		close_fd(&ends->player[i]);
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

/*
 * Makes memory for a judge and a player. Seals keep the size, because a read beyond the end would
 * kill the judge. A player can hold the kernel's lock of the inode, for which read(), write() and
 * close() may wait. So the judge only loads and stores, and this process closes the memory before
 * both begin.
 */
static int duel_open_memory(int64_t bytes, int *out_judge, int *out_player, struct fh_error *err)
{
	auto_close int fd = memfd_create("duel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int other;

	if (fd < 0)
		return error_set(err, errno, "make the memory of a duel");
	if (ftruncate(fd, bytes) < 0 ||
			fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return error_set(err, errno, "size the memory of a duel");
	other = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (other < 0)
		return error_set(err, errno, "share the memory of a duel");
	*out_judge = take_fd(&fd);
	*out_player = other;
	return 0;
}

static int duel_open_ends(
		const struct task_grader *grader, struct duel_ends *ends, struct fh_error *err)
{
	int r = duel_open_pipe(&ends->player[DUEL_QUESTIONS], &ends->judge[DUEL_QUESTIONS], err);

	if (r < 0)
		return r;
	r = duel_open_pipe(&ends->judge[DUEL_ANSWERS], &ends->player[DUEL_ANSWERS], err);
	if (r < 0 || !grader->shared_bytes)
		return r;
	return duel_open_memory(grader->shared_bytes, &ends->judge[DUEL_MEMORY],
			&ends->player[DUEL_MEMORY], err);
}

/* Moves a descriptor that links judge and player (pipe or memory) into a program's plan. Does
 * nothing if there is none. */
static void duel_give(struct program_plan *plan, int *fd)
{
	if (*fd >= 0)
		plan->streams[plan->n_streams++] = take_fd(fd);
}

static void duel_bind_library(struct grade *g, struct grade_binds *b, const char *name)
{
	grade_bind(g, b, arena_printf(&g->arena, "%s/%s", places_get()->graders, name), GRADER_DIR,
			name);
}

static int duel_start_judge(struct grade *g, struct duel_ends *ends, struct fh_error *err)
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
	for (int i = 0; i < GRADER_PLAYERS_MAX; i++) {
		duel_give(&plan, &ends[i].judge[DUEL_QUESTIONS]);
		duel_give(&plan, &ends[i].judge[DUEL_ANSWERS]);
	}
	for (int i = 0; i < GRADER_PLAYERS_MAX; i++)
		duel_give(&plan, &ends[i].judge[DUEL_MEMORY]);
	return grade_add(g, &plan, err);
}

/* Starts the player with number `i`. It waits until the sandbox of the player before it is closed,
 * and until that player's file pages are dropped. Otherwise players could signal each other. */
static int duel_start_player(struct grade *g, struct duel_ends *ends, int i, struct fh_error *err)
{
	const struct task *task = g->request.task;
	struct grade_binds b = grade_binds_new(g);
	const char *own = task->grader.player;
	const char *player = own ? path_basename(own) : "player.py";
	struct program_plan plan;

	if (own)
		grade_bind(g, &b, own, GRADER_DIR, player);
	/* If the task has a player program of its own, bind the built-in player.py too, which it
	 * may import. Skip that if both have the same name. */
	if (!own || !str_eq(player, "player.py"))
		duel_bind_library(g, &b, "player.py");
	grade_bind_episode(g, &b);
	plan = (struct program_plan){
		.sandbox = {
			.role = SANDBOX_JUDGED,
			.layer = g->request.layer,
			.binds = b.binds,
			.n_binds = b.n,
			.gpus = g->request.gpus,
			.limits = task->limits,
		},
		.argv = grade_python(g, arena_printf(&g->arena, GRADER_DIR "/%s", player),
				g->submission, task->grader.functions),
		.env = grade_env(g, NULL),
		.streams = { PROGRAM_NOTHING, PROGRAM_LOG, PROGRAM_LOG },
		.n_streams = 3,
		.put_path = task->grader.submission,
		.put_fd = g->submission_fd,
		.peer = &g->programs[JUDGE],
		.after = i ? &g->programs[FIRST_PLAYER + i - 1] : NULL,
		.traceless = task->grader.players > 1,
	};
	for (int link = 0; link < DUEL_LINKS; link++)
		duel_give(&plan, &ends->player[link]);
	return grade_add(g, &plan, err);
}

static int duel_start_all(struct grade *g, struct duel_ends *ends, struct fh_error *err)
{
	const struct task_grader *grader = &g->request.task->grader;
	int r;

	for (int i = 0; i < grader->players; i++) {
		r = duel_open_ends(grader, &ends[i], err);
		if (r < 0)
			return r;
	}
	r = duel_start_judge(g, ends, err);
	if (r < 0)
		return r;
	for (int i = 0; i < grader->players; i++) {
		r = duel_start_player(g, &ends[i], i, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int duel_start(struct grade *g, struct fh_error *err)
{
	struct duel_ends ends[GRADER_PLAYERS_MAX];
	int r;

	memset(ends, -1, sizeof(ends));
	r = duel_start_all(g, ends, err);
	for (int i = 0; i < GRADER_PLAYERS_MAX; i++)
		duel_close_ends(&ends[i]);
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

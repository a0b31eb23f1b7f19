/* SPDX-License-Identifier: Apache-2.0 */
#include "play.h"

#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"
#include "fault.h"
#include "machine.h"
#include "papers.h"
#include "trajectory/export.h"
#include "trajectory/run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STEP_TIMEOUT_S 20
#define WORKER_S 30       /* seconds after which a forked worker is killed */
#define LONG_BYTES 100000 /* more than a shell's socket takes at once */

static char home[64]; /* folder of state_dir and out_dir */
static char *state_dir, *out_dir, *tasks_dir;
static char web_host[32];
static char long_command[LONG_BYTES + 64];

/* Makes owners load the plugin that injects faults into their sandboxes' processes. */
const struct places *__real_places_get(void);
const struct places *__wrap_places_get(void);
const struct places *__wrap_places_get(void)
{
	static struct places p;

	p = *__real_places_get();
	p.guest_plugin = FAULT_PLUGIN;
	return &p;
}

void play_set_up(void)
{
	/* Put the files into memory if possible: a disk would take most of the test's time. */
	snprintf(home, sizeof(home), "%s/fumehood-fault-XXXXXX",
			access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	if (!mkdtemp(home))
		abort();
	state_dir = path_join(home, "state");
	out_dir = path_join(home, "out");
	tasks_dir = path_join(places_get()->share_dir, "tests/fault/tasks");
	setenv("FUMEHOOD_STATE", state_dir, 1);
	path_mkdirs(out_dir, 0755, NULL);
	snprintf(web_host, sizeof(web_host), "http://127.0.0.1:%d", papers_serve());
	setenv("SEMANTIC_SCHOLAR_API_URL", web_host, 1);
	memset(long_command, 'x', LONG_BYTES);
	memcpy(long_command, ": '", 3);
	memcpy(long_command + LONG_BYTES, "'; echo long", sizeof("'; echo long"));
}

void play_tear_down(void)
{
	machine_remove_in(home);
	remove(home);
	free(state_dir);
	free(out_dir);
	free(tasks_dir);
}

/* --- the record ------------------------------------------------------------------------------- */

static void drop_record(struct play *p)
{
	recorder_close(p->recorder);
	p->recorder = NULL;
}

static void note_given(struct play *p, int steps)
{
	atomic_store(&fault_page->given[p->run % FAULT_RUNS_MAX], steps);
}

static int begin_record(struct play *p)
{
	struct run_name name = RUN_NAME_INIT;
	struct fh_env_info info;
	auto_free char *dir = NULL;
	int r;

	drop_record(p);
	name.model = "play";
	name.task = p->task;
	fh_env_info(p->env, &info);
	r = run_dir_make(out_dir, &name, &dir, &p->run, &p->err);
	if (r == 0)
		r = recorder_open(
				&(struct recorder_options){
						.dir = dir,
						.env = &info,
						.model = "play",
						.run = p->run,
						.reward = "delta",
				},
				&p->recorder, &p->err);
	if (r == 0)
		r = recorder_reset(p->recorder, 0, &p->step, &p->err);
	if (r == 0)
		note_given(p, 0);
	else
		drop_record(p);
	return r;
}

static int record_step(struct play *p, const char *action)
{
	bool over = p->step.terminated || p->step.truncated;
	int r = recorder_step(p->recorder, &(struct recorder_turn){ .action = action }, &p->step,
			&p->err);

	if (r == 0 && over)
		r = recorder_end(p->recorder, &(struct recorder_end){ 0 }, &p->err);
	if (r == 0)
		note_given(p, p->step.step);
	if (r < 0 || over)
		drop_record(p);
	return r;
}

/* --- acts ------------------------------------------------------------------------------------- */

struct act {
	const char *name;
	const char *command; /* shell command of a step; NULL: call `run` */
	int (*run)(struct play *p);
	double timeout_s; /* 0: STEP_TIMEOUT_S */
	enum fh_outcome outcome;
	const char *has; /* text that the observation begins with */
	bool scored;
};

static int open_gym(struct play *p)
{
	return fh_gym_open(&FH_GYM_OPTIONS(.tasks_dir = tasks_dir, .state_dir = state_dir), &p->gym,
			&p->err);
}

static int open_env(struct play *p)
{
	return fh_env_open(p->gym, &FH_ENV_OPTIONS(.task = p->task, .web_hosts = web_host), &p->env,
			&p->err);
}

static int reset_alone(struct play *p)
{
	return fh_env_reset(p->env, NULL, &p->step, &p->err);
}

static int reset(struct play *p)
{
	int r = reset_alone(p);

	return r < 0 ? r : begin_record(p);
}

/* Runs in a forked worker: a reset of the parent's episode must be refused. Then closes the
 * parent's gym. */
static bool let_go(struct play *p)
{
	bool refused = fh_env_reset(p->env, NULL, &p->step, &p->err) < 0;

	fh_env_close(p->env);
	fh_gym_close(p->gym);
	return refused;
}

static void end_worker(struct play *p)
{
	if (p->worker)
		close(p->worker);
	p->worker = 0;
}

/*
 * Forks as a worker of Python's multiprocessing does. The fork lives until the other end of its
 * socket is closed. No record may be open: the thread that flushes it could hold a lock of the
 * sanitizer during the fork. Unlike the C library, the sanitizer does not release its locks there.
 */
static int fork_worker(struct play *p)
{
	int pair[2];
	char good = 0;

	fault_spared = true;
	end_worker(p);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(&p->err, errno, "make a socket");
	if (fork() == 0) {
		alarm(WORKER_S);
		close(pair[0]);
		good = let_go(p);
		_exit(write(pair[1], &good, 1) != 1 || read(pair[1], &good, 1) != 0);
	}
	close(pair[1]);
	p->worker = pair[0];
	if (read(pair[0], &good, 1) != 1 || !good)
		return error_say(&p->err, EPROTO, "a fork could use its parent's gym, or crashed");
	return 0;
}

static int close_all(struct play *p)
{
	end_worker(p);
	drop_record(p);
	fh_env_close(p->env);
	fh_gym_close(p->gym);
	p->env = NULL;
	p->gym = NULL;
	return 0;
}

#define SUBMISSION "cp right.csv submission.csv 2>&- ; "

static const struct act whole[] = {
	{ "the gym's opening", .run = open_gym },
	{ "the environment's opening", .run = open_env },
	{ "reset", .run = reset_alone },
	{ "a fork", .run = fork_worker },
	{ "the record's opening", .run = begin_record },
	{ "a step", "echo one; echo two >&2", .has = "one\ntwo\n" },
	{ "a long step", long_command, .has = "long\n" },
	{ "a loud step", "seq -s ' ' 30000", .has = "1 2 3 4 5 6" },
	{ "a call", "literature_search faults 1 | grep -o '" PAPERS_TITLE "'",
			.has = PAPERS_TITLE "\n" },
	{ "a step that times out", "sleep 9", .timeout_s = .02, .outcome = FH_OUTCOME_TIMEOUT },
	{ "a step that exits", "exit 3", .outcome = FH_OUTCOME_SHELL_RESTARTED },
	{ "validate", SUBMISSION "validate", .scored = true },
	{ "a second reset", .run = reset },
	{ "a step after it", "echo three", .has = "three\n" },
	{ "submit", SUBMISSION "submit", .scored = true },
	{ "the close", .run = close_all },
};

static const struct act short_one[] = {
	{ "the gym's opening", .run = open_gym },
	{ "the environment's opening", .run = open_env },
	{ "reset", .run = reset_alone },
	{ "a fork", .run = fork_worker },
	{ "the record's opening", .run = begin_record },
	{ "submit", SUBMISSION "submit", .scored = true },
	{ "the close", .run = close_all },
};

static const struct act *acts_of(enum script script, size_t *out_n)
{
	*out_n = script == SCRIPT_WHOLE ? ARRAY_SIZE(whole) : ARRAY_SIZE(short_one);
	return script == SCRIPT_WHOLE ? whole : short_one;
}

const char *play_phase_name(enum script script, unsigned phase)
{
	size_t n;
	const struct act *acts = acts_of(script, &n);

	return phase < n ? acts[phase].name : "nothing";
}

/* --- playing an act --------------------------------------------------------------------------- */

enum done {
	DONE,       /* as expected */
	NOT_DONE,   /* failed with an error */
	OTHER_DONE, /* the step ended, with an unexpected outcome or observation */
};

static bool score_is_right(const struct play *p)
{
	static const struct {
		const char *task;
		double low, high;
	} scores[] = { { "sums", 1, 1 }, { "lines", 2, 2 }, { "coins", 0.2, 0.8 } };
	double score = p->step.score[0].value;

	for (size_t i = 0; i < ARRAY_SIZE(scores); i++)
		if (str_starts(p->task, scores[i].task))
			return scores[i].low <= score && score <= scores[i].high;
	return false;
}

static bool is_expected(const struct play *p, const struct act *a)
{
	const struct fh_step *s = &p->step;

	return s->outcome == a->outcome && (!a->has || str_starts(s->observation, a->has)) &&
			(!a->scored || s->score);
}

static enum done try(struct play *p, const struct act *a)
{
	struct fh_action action = FH_ACTION(.text = a->command, .timeout_s = a->timeout_s);
	int r;

	p->err = (struct fh_error)FH_ERROR_INIT;
	if (a->run)
		return a->run(p) < 0 ? NOT_DONE : DONE;
	if (!action.timeout_s)
		action.timeout_s = STEP_TIMEOUT_S;
	r = fh_env_step(p->env, &action, &p->step, &p->err);
	if (r == 0)
		r = record_step(p, a->command);
	if (r < 0)
		return NOT_DONE;
	return is_expected(p, a) ? DONE : OTHER_DONE;
}

static enum done attempt(struct play *p, const struct act *a)
{
	enum done done;

	fault_spared = false;
	done = try(p, a);
	fault_spared = true;
	return done;
}

__attribute__((format(printf, 3, 4))) static bool complain(
		struct play *p, const struct act *a, const char *format, ...)
{
	size_t n = strlen(p->trouble);
	va_list ap;

	n += (size_t)snprintf(p->trouble + n, sizeof(p->trouble) - n, "%s: ", a->name);
	va_start(ap, format);
	if (n < sizeof(p->trouble))
		vsnprintf(p->trouble + n, sizeof(p->trouble) - n, format, ap);
	va_end(ap);
	return false;
}

/* Whether the user can tell what went wrong, by a message, an outcome or a status. */
static bool is_clear(struct play *p, const struct act *a, enum done done)
{
	const struct fh_step *s = &p->step;

	if (done == NOT_DONE)
		return (p->err.code < 0 && strlen(p->err.message) > 10) ||
				complain(p, a, "an error without a sentence (%d, '%s')",
						p->err.code, p->err.message);
	if (s->score && !score_is_right(p))
		return complain(p, a, "a wrong score, %g", s->score[0].value);
	if (a->scored && !s->score && s->grade_error && strlen(s->grade_error) > 10)
		return true;
	if (s->outcome == FH_OUTCOME_SANDBOX_GONE)
		return (s->terminated && str_eq(s->exit_status, "early_exit")) ||
				complain(p, a, "the sandbox is gone, and the episode goes on");
	if (s->outcome != FH_OUTCOME_OK || s->exit_code != 0)
		return true;
	return complain(p, a, "went otherwise without a word: '%.300s'", s->observation);
}

static bool play_act(struct play *p, const struct act *a)
{
	enum done done = attempt(p, a);
	struct fh_error first = p->err;
	char how[400] = "";

	if (done == OTHER_DONE)
		snprintf(how, sizeof(how), "%s: '%.150s', '%.150s'",
				fh_outcome_name(p->step.outcome), p->step.observation,
				p->step.grade_error ? p->step.grade_error : "");

	if (done == DONE && p->step.score && a->scored && !score_is_right(p))
		return complain(p, a, "a wrong score, %g", p->step.score[0].value);
	if (done == DONE)
		return true;
	if (!is_clear(p, a, done))
		return false;
	p->felt++;
	p->failed_resets += a->run == reset || a->run == reset_alone;
	if (a->command && reset(p) < 0)
		return complain(p, a, "'%s%s', and then no reset: %s", first.message, how,
				p->err.message);
	done = attempt(p, a);
	if (done == NOT_DONE)
		return complain(p, a, "'%s', and again '%s'", first.message, p->err.message);
	if (done == OTHER_DONE)
		return complain(p, a, "'%s%s', and then %s: '%.300s', '%s'", first.message, how,
				fh_outcome_name(p->step.outcome), p->step.observation,
				p->step.grade_error ? p->step.grade_error : "");
	return true;
}

bool play(struct play *p, const char *task, enum script script)
{
	size_t n;
	const struct act *acts = acts_of(script, &n);
	bool good = true;

	*p = (struct play){ .task = task };
	machine_remove_in(out_dir);
	for (size_t i = 0; i < FAULT_RUNS_MAX; i++)
		atomic_store(&fault_page->given[i], -1);
	for (size_t i = 0; i < n && good; i++) {
		fault_phase((unsigned)i);
		good = play_act(p, &acts[i]);
	}
	if (!good)
		close_all(p);
	return good;
}

/* --- reading the records ---------------------------------------------------------------------- */

/* Whether a run's folder has only files that belong to a record. */
static bool names_are_known(const char *dir, char *trouble, size_t n)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || str_eq(e->d_name, EXPORT_EVENTS) ||
				str_eq(e->d_name, EXPORT_RESULTS) || str_ends(e->d_name, ".traj"))
			continue;
		snprintf(trouble, n, "left behind: '%s'", e->d_name);
		closedir(d);
		return false;
	}
	if (d)
		closedir(d);
	return true;
}

static bool read_record(struct play *p, const char *dir, int given)
{
	auto_free char *events = path_join(dir, EXPORT_EVENTS);
	struct exported x;
	int steps;

	if (!names_are_known(dir, p->trouble, sizeof(p->trouble)))
		return false;
	if (given < 0 && !path_exists(events))
		return true;
	if (export_read(dir, &x, &p->err) < 0) {
		if (given < 0) /* nothing was given out: the record may be incomplete */
			return true;
		snprintf(p->trouble, sizeof(p->trouble), "%s", p->err.message);
		return false;
	}
	steps = (int)x.traj->n_steps;
	export_release(&x);
	if (steps < given || steps > given + 1) {
		snprintf(p->trouble, sizeof(p->trouble), "%d steps were given out, %d recorded",
				given, steps);
		return false;
	}
	return true;
}

bool play_read_records(struct play *p)
{
	DIR *d = opendir(out_dir);
	const struct dirent *e;
	bool good = true;

	while (d && good && (e = readdir(d))) {
		const char *number = strrchr(e->d_name, '_');
		int64_t run;

		if (e->d_name[0] == '.' || !number || !str_to_i64(number + 1, &run))
			continue;
		auto_free char *dir = path_join(out_dir, e->d_name);
		good = read_record(p, dir, atomic_load(&fault_page->given[run % FAULT_RUNS_MAX]));
	}
	if (d)
		closedir(d);
	return good;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/scope.h"
#include "base/str.h"
#include "bench/suites.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/term.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The command `bench`: runs the chosen suites, describes the machine, and prints the figures. */

#define ALIVE_MAX 100000
#define BENCH_NAME_COLUMNS 14 /* fewest columns of the figures' names */
#define QUIET_TRIES 20
/* Milliseconds to watch the CPUs. If they are idle, the kernel has removed the episodes of the last
 * suite. */
#define BENCH_QUIET_MS 200
/* milliseconds between two suites in which the use of the CPUs is measured */
#define WATCH_MS 1000
#define QUIET_SHARE 0.1 /* on a quiet machine, other processes use at most this share of one CPU */
#define ROUND_FEWEST 5  /* a round with fewer samples is not compared with other rounds */
/* the slowest round may take at most this many times as long as the fastest */
#define ROUNDS_MOST 2.0

struct bench_options {
	struct texts only, alive;
	int n;
};

struct machine {
	char cpu[128], kernel[128], date[32];
	long cores;
	double load, load_after; /* load average of one minute, at the start and end */
	double others;           /* most CPUs that other processes used in any watched interval */
};

static const struct suite {
	const char *names[3]; /* words for --only; each selects the suite */
	int (*run)(struct bench *b, struct fh_error *err);
} suites[] = {
	{ { "reset", "teardown" }, suite_reset },
	{ { "step" }, suite_step },
	{ { "validate_csv" }, suite_validate },
	{ { "tools" }, suite_tools },
	{ { "agent" }, suite_agent },
	{ { "alive" }, suite_alive },
	{ { "soak" }, suite_soak },
	{ { "tasks" }, suite_tasks },
	{ { "simulators" }, suite_simulators },
};

/* --- samples and figures ---------------------------------------------------------------------- */

static int bench_samples_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void bench_samples_sort(struct samples *s)
{
	if (s->n)
		qsort(s->values, s->n, sizeof(*s->values), bench_samples_compare);
}

/* The percentile of sorted samples: the smallest sample that `percent` % of the samples do not
 * exceed. NAN without samples. */
static double bench_samples_percentile(const struct samples *s, double percent)
{
	size_t rank = (size_t)ceil(percent / 100 * (double)s->n);

	return s->n ? s->values[rank ? rank - 1 : 0] : NAN;
}

/* --- the machine ------------------------------------------------------------------------------ */

/* CPU time that all processes have used since the machine started, in seconds. It is the user, nice
 * and system time of /proc/stat. */
static double machine_busy_s(void)
{
	auto_buf struct buf text = BUF_INIT(1 << 20);
	long long ticks = 0;
	char *at;

	if (fd_read_file("/proc/stat", &text, NULL) < 0 || !str_starts(buf_str(&text), "cpu "))
		return 0;
	at = text.data + strlen("cpu ");
	for (int i = 0; i < 3; i++)
		ticks += strtoll(at, &at, 10);
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Number of CPUs that other processes use within the next `ms` milliseconds. */
static double machine_others(int ms)
{
	int64_t began = clock_now_ns();
	double before = machine_busy_s();

	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS },
			NULL);
	return (machine_busy_s() - before) / ((double)(clock_now_ns() - began) / 1e9);
}

/* Number of CPUs that other processes use now. Waits first while the kernel removes episodes of the
 * last suite. */
static double machine_watch(void)
{
	int tries = 0;

	while (machine_others(BENCH_QUIET_MS) > QUIET_SHARE && ++tries < QUIET_TRIES)
		;
	return machine_others(WATCH_MS);
}

/* Spread of samples in the order of their taking: median of the slowest round divided by that of
 * the fastest. Changing load on the machine makes it large. */
static double machine_spread(const struct samples *taken)
{
	size_t n = taken->n / BENCH_ROUNDS;
	double fastest = INFINITY, slowest = 0;

	for (size_t i = 0; i < BENCH_ROUNDS && n >= ROUND_FEWEST; i++) {
		struct samples round = { .values = taken->values + i * n, .n = n };
		double median;

		bench_samples_sort(&round);
		median = bench_samples_percentile(&round, 50);
		fastest = fmin(fastest, median);
		slowest = fmax(slowest, median);
	}
	return n >= ROUND_FEWEST ? slowest / fastest : 1;
}

/* Sets f->doubt, the reason why a figure's samples can't be trusted. `others` is the number of CPUs
 * that other processes used while the samples were taken. */
static void machine_doubt(struct figure *f, double others)
{
	double spread = fmax(machine_spread(&f->floor), machine_spread(&f->ours));

	if (!f->ours.n)
		snprintf(f->doubt, sizeof(f->doubt), "/proc does not tell");
	else if (f->counts_own)
		return;
	else if (others > QUIET_SHARE)
		snprintf(f->doubt, sizeof(f->doubt), "busy: others used %.1f CPUs", others);
	else if (spread > ROUNDS_MOST)
		snprintf(f->doubt, sizeof(f->doubt), "unsteady: rounds differ %.1fx", spread);
}

static void machine_describe(struct machine *m)
{
	auto_buf struct buf text = BUF_INIT(4 << 20);
	const char *at;
	time_t now = time(NULL);
	struct utsname u;
	struct tm tm;

	fd_read_file("/proc/cpuinfo", &text, NULL);
	at = strstr(buf_str(&text), "model name");
	at = at ? strstr(at, ": ") : NULL;
	at = at ? at + strlen(": ") : "unknown";
	snprintf(m->cpu, sizeof(m->cpu), "%.*s", (int)strcspn(at, "\n"), at);
	m->cores = sysconf(_SC_NPROCESSORS_ONLN);
	uname(&u);
	snprintf(m->kernel, sizeof(m->kernel), "%s %s", u.sysname, u.release);
	strftime(m->date, sizeof(m->date), "%Y-%m-%d", gmtime_r(&now, &tm));
	getloadavg(&m->load, 1);
}

/* --- printing --------------------------------------------------------------------------------- */

/* Percentile of a figure's samples; NAN if they can't be trusted (f->doubt). */
static double bench_figure_percentile(const struct figure *f, double percent)
{
	return *f->doubt ? NAN : bench_samples_percentile(&f->ours, percent);
}

static double bench_figure_floor(const struct figure *f)
{
	return *f->doubt ? NAN : bench_samples_percentile(&f->floor, 50);
}

static json_t *bench_number(double v)
{
	return isnan(v) ? json_null() : json_real(round(v * 1000) / 1000);
}

static json_t *bench_figure_json(const struct figure *f)
{
	double p50 = bench_figure_percentile(f, 50), base = bench_figure_floor(f);

	return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:s?}", "name", f->name, "unit",
			f->unit, "n", (json_int_t)f->ours.n, "p50", bench_number(p50), "p95",
			bench_number(bench_figure_percentile(f, 95)), "p99",
			bench_number(bench_figure_percentile(f, 99)), "floor_p50",
			bench_number(base), "ratio", bench_number(p50 / base), "reason",
			*f->doubt ? f->doubt : NULL);
}

static void bench_print_json(const struct bench *b, const struct machine *m)
{
	auto_json json_t *report = json_object();
	json_t *results = json_array();

	for (size_t i = 0; i < b->n_figures; i++)
		json_array_append_new(results, bench_figure_json(&b->figures[i]));
	json_object_set_new(report, "machine",
			json_pack("{s:o, s:I, s:s, s:s, s:o, s:o, s:o, s:b}", "cpu",
					json_text(m->cpu), "cores", (json_int_t)m->cores, "kernel",
					m->kernel, "date", m->date, "load", bench_number(m->load),
					"load_after", bench_number(m->load_after), "others_cpus",
					bench_number(m->others), "quiet",
					m->others <= QUIET_SHARE));
	json_object_set_new(report, "results", results);
	cmd_print_json(report);
}

static void bench_figure_print_value(char *out, size_t size, double v, const char *unit)
{
	if (isnan(v))
		snprintf(out, size, "-");
	else if (str_eq(unit, "bytes"))
		snprintf(out, size, "%.0f kB", v / 1024);
	else if (!*unit)
		snprintf(out, size, "%g", v);
	else
		snprintf(out, size, "%.*f us", v < 100 ? 1 : 0, v);
}

/* Writes the goal of a figure, which is a measured quantity, into `out`. Returns +1 if the goal is
 * met, -1 if it is missed. Returns 0 if there is no goal, or a number to compare with is
 * missing. */
static int bench_figure_judge(const struct figure *f, char *out, size_t size)
{
	double p50 = bench_figure_percentile(f, 50);
	double base = f->against ? bench_figure_percentile(f->against, 50) : bench_figure_floor(f);
	char value[32];
	double most;

	bench_figure_print_value(
			value, sizeof(value), f->most > 0 ? f->most : f->most_over, f->unit);
	if (f->most > 0) {
		snprintf(out, size, "< %s", value);
		most = f->most;
	} else if (f->most_ratio > 0) {
		snprintf(out, size, "< %gx %s", f->most_ratio,
				f->against ? f->against->name : "its floor");
		most = f->most_ratio * base;
	} else if (f->most_over > 0) {
		snprintf(out, size, "its floor + %s ", value);
		most = base + f->most_over;
	} else {
		*out = '\0';
		return 0;
	}
	if (isnan(p50) || isnan(most))
		return 0;
	return p50 < most ? 1 : -1;
}

static void bench_figure_print(const struct figure *f, int name_columns)
{
	const double values[] = { bench_figure_percentile(f, 50), bench_figure_percentile(f, 95),
		bench_figure_percentile(f, 99), bench_figure_floor(f) };
	double ratio = values[0] / bench_figure_floor(f);
	bool colours = term_colours(1);
	char value[32], goal[64];
	int verdict = bench_figure_judge(f, goal, sizeof(goal));

	printf("%-*s", name_columns, f->name);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		bench_figure_print_value(value, sizeof(value), values[i], f->unit);
		printf("%11s", value);
	}
	if (isnan(ratio))
		printf("%9s", "-");
	else
		printf(ratio < 100 ? "%8.2fx" : "%8.0fx", ratio);
	if (*f->doubt)
		printf("   %s", f->doubt);
	else if (verdict)
		printf("   %-18s%s%s%s", goal,
				term_style(colours, verdict < 0 ? TERM_RED : TERM_GREEN),
				verdict > 0 ? "met" : "missed", term_style(colours, TERM_RESET));
	putchar('\n');
}

static void bench_print_table(const struct bench *b, const struct machine *m)
{
	size_t n_doubtful = 0;
	int columns = BENCH_NAME_COLUMNS;

	for (size_t i = 0; i < b->n_figures; i++) {
		int used = (int)strlen(b->figures[i].name);

		columns = used > columns ? used : columns;
		n_doubtful += b->figures[i].ours.n && *b->figures[i].doubt;
	}
	printf("%s, %ld cores, %s, %s\n", m->cpu, m->cores, m->kernel, m->date);
	if (n_doubtful)
		printf("%zu of %zu figures could not be measured, because other work went on (load %.1f "
		       "before, %.1f after).\nMeasure them again when the machine is idle.\n",
				n_doubtful, b->n_figures, m->load, m->load_after);
	printf("\n%*s%11s%11s%11s%11s%9s   %s\n", columns, "", "p50", "p95", "p99", "floor p50",
			"ratio", "goal");
	for (size_t i = 0; i < b->n_figures; i++)
		bench_figure_print(&b->figures[i], columns);
}

/* --- the command ------------------------------------------------------------------------------ */

static bool suite_is_wanted(const struct suite *suite, const struct texts *only)
{
	for (size_t i = 0; i < only->n; i++)
		if (str_index(only->items[i], suite->names) >= 0)
			return true;
	return only->n == 0;
}

/* Reads the options that are lists, such as --only. Returns CMD_OK, or the exit status for a wrong
 * list. */
static int bench_take_options(struct command_context *ctx, struct bench *b)
{
	const struct bench_options *o = ctx->options;

	if (o->alive.n > BENCH_ALIVE_MAX)
		return cmd_misuse(ctx, "--alive takes at most %d numbers", BENCH_ALIVE_MAX);
	for (size_t i = 0; i < o->alive.n; i++) {
		int64_t n;

		if (!str_to_i64(o->alive.items[i], &n) || n < 1 || n > ALIVE_MAX ||
				(i && n <= b->alive[i - 1]))
			return cmd_misuse(ctx, "--alive takes rising numbers from 1 to %d",
					ALIVE_MAX);
		b->alive[b->n_alive++] = (int)n;
	}
	b->n = o->n;
	return CMD_OK;
}

/* Runs a suite, and marks figures that can't be trusted. *others is the number of CPUs that other
 * processes used before the suite. The function replaces it by the number after the suite. */
static int bench_run_suite(struct bench *b, const struct suite *suite, double *others,
		struct machine *m, struct fh_error *err)
{
	double before = *others;
	size_t first = b->n_figures;
	int r = suite->run(b, err);

	if (r < 0)
		return r;
	*others = machine_watch();
	m->others = fmax(m->others, fmax(before, *others));
	for (size_t i = first; i < b->n_figures; i++)
		machine_doubt(&b->figures[i], fmax(before, *others));
	return 0;
}

static int bench_measure(
		struct bench *b, const struct texts *only, struct machine *m, struct fh_error *err)
{
	double others;
	int r = interrupt_setup(err);

	if (r < 0)
		return r;
	machine_describe(m);
	others = machine_watch();
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++) {
		if (!suite_is_wanted(&suites[i], only))
			continue;
		r = bench_run_suite(b, &suites[i], &others, m, err);
		/* a program of floor_run() may have ended by Ctrl-C, which is not a failure */
		if (r < 0)
			return interrupt_wanted() ? -EINTR : r;
	}
	getloadavg(&m->load_after, 1);
	for (size_t i = 0; i < b->n_figures; i++) {
		bench_samples_sort(&b->figures[i].ours);
		bench_samples_sort(&b->figures[i].floor);
	}
	return 0;
}

static int bench_main(struct command_context *ctx)
{
	const struct bench_options *o = ctx->options;
	struct bench b = { 0 };
	struct machine m = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	int r, status = bench_take_options(ctx, &b);

	if (status != CMD_OK)
		return status;
	r = bench_measure(&b, &o->only, &m, &err);
	if (r == -EINTR)
		status = interrupt_status();
	else if (r < 0)
		status = cmd_fail(&err);
	else if (ctx->json)
		bench_print_json(&b, &m);
	else
		bench_print_table(&b, &m);
	for (size_t i = 0; i < b.n_figures; i++) {
		free(b.figures[i].ours.values);
		free(b.figures[i].floor.values);
	}
	return status;
}

#define FIELD(f) offsetof(struct bench_options, f)

/* The names of `suites`, as --only takes them. */
static const char *const suite_names[] = { "reset", "step", "teardown", "validate_csv", "tools",
	"agent", "alive", "soak", "tasks", "simulators", NULL };

static const struct cmd_option bench_table[] = {
	{ "only", 0, OPTION_LIST, FIELD(only), "NAME,...",
			"figures to measure: reset, step, teardown, validate_csv, tools, agent, alive, soak, "
			"tasks, simulators",
			.choices = suite_names },
	{ "n", 'n', OPTION_INT, FIELD(n), "N", "samples of a figure", .preset = "500", .min = 1,
			.max = 100000 },
	{ "alive", 0, OPTION_LIST, FIELD(alive), "N,...",
			"numbers of episodes that are alive at once, rising",
			.preset = "1,10,100,1000" },
	{},
};

const struct command command_bench = {
	.name = "bench",
	.summary = "this machine's figures, each beside its floor",
	.about = "Measures a reset, a step, a teardown and a validate, and then with many episodes "
		 "alive, on " BENCH_TASK ". A floor is the time of the kernel and bash alone, "
		 "measured in turns by a bare program. docs/performance.md says how to read it.",
	.examples = "fumehood bench                            # everything, in a minute or two\n"
		    "fumehood bench --only reset,step --json   # two figures, for a program\n"
		    "fumehood bench --only alive --alive 1,50  # what fifty episodes cost each other",
	.options = bench_table,
	.options_size = sizeof(struct bench_options),
	.run = bench_main,
};

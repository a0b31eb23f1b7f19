/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/interrupt.h"
#include "cli/term.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* `bench`: which suites, on what machine, and telling the figures. docs/performance.md reads them. */

#define ALIVE_MAX 100000
#define QUIET_TRIES 20
#define QUIET_MS 200    /* how long the machine is watched while nothing of ours runs */
#define QUIET_SHARE 0.1 /* of one CPU that others may use */
#define ROUND_FEWEST 10 /* samples of a round that tell something */
#define ROUNDS_MOST 2.0 /* times that a floor's slowest round may take its quickest one's time */

struct bench_options {
	struct texts only, alive;
	int n;
};

struct machine {
	char cpu[128], kernel[128], date[32];
	long cores;
	double load, load_after; /* one minute's average when it began and ended */
	double others;           /* CPUs that others used, at most, when it was looked at */
};

static const struct suite {
	const char *names[3]; /* for --only */
	int (*run)(struct bench *b, struct fh_error *err);
} suites[] = {
	{ { "reset", "teardown" }, suite_reset },
	{ { "step" }, suite_step },
	{ { "validate_csv" }, suite_validate },
	{ { "tools" }, suite_tools },
	{ { "agent" }, suite_agent },
	{ { "alive" }, suite_alive },
	{ { "soak" }, suite_soak },
};

/* --- samples and figures ---------------------------------------------------------------------- */

void samples_add(struct samples *s, double value)
{
	if (s->n == s->size) {
		s->size = s->size ? s->size * 2 : 256;
		s->values = xrealloc(s->values, s->size, sizeof(*s->values));
	}
	s->values[s->n++] = value;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The smallest sample that so many per cent are not above; of sorted samples, NAN without any. */
static double percentile(const struct samples *s, double percent)
{
	size_t rank = (size_t)ceil(percent / 100 * (double)s->n);

	return s->n ? s->values[rank ? rank - 1 : 0] : NAN;
}

static void sort(struct samples *s)
{
	if (s->n)
		qsort(s->values, s->n, sizeof(*s->values), compare);
}

struct figure *bench_figure(struct bench *b, const char *unit, const char *format, ...)
{
	struct figure *f = &b->figures[b->n_figures];
	va_list ap;

	if (b->n_figures == BENCH_FIGURES_MAX)
		abort();
	b->n_figures++;
	f->unit = unit;
	va_start(ap, format);
	vsnprintf(f->name, sizeof(f->name), format, ap);
	va_end(ap);
	return f;
}

int bench_batch(const struct bench *b)
{
	return (b->n + BENCH_ROUNDS - 1) / BENCH_ROUNDS;
}

int bench_go_on(struct fh_error *err)
{
	return interrupt_wanted() ? error_say(err, EINTR, "stopped") : 0;
}

/* --- the machine ------------------------------------------------------------------------------ */

/* CPU time that all of the machine used, in seconds: user, nice and system of /proc/stat. */
static double busy_s(void)
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

/* CPUs that others use now. What the kernel still takes apart of the suite before is not theirs. */
static double watch_others(void)
{
	double share = 0;

	for (int i = 0; i < QUIET_TRIES && (i == 0 || share > QUIET_SHARE); i++) {
		int64_t began = clock_now_ns();
		double before = busy_s();

		nanosleep(&(struct timespec){ .tv_nsec = QUIET_MS * NS_PER_MS }, NULL);
		share = (busy_s() - before) / ((double)(clock_now_ns() - began) / 1e9);
	}
	return share;
}

/* The median of a floor's slowest round in those of its quickest: a load that comes and goes shows there. */
static double spread_of_rounds(const struct samples *floor)
{
	size_t n = floor->n / BENCH_ROUNDS;
	double quickest = INFINITY, slowest = 0;

	for (size_t i = 0; i < BENCH_ROUNDS && n >= ROUND_FEWEST; i++) {
		struct samples round = { .values = floor->values + i * n, .n = n };
		double median;

		sort(&round);
		median = percentile(&round, 50);
		quickest = fmin(quickest, median);
		slowest = fmax(slowest, median);
	}
	return n >= ROUND_FEWEST ? slowest / quickest : 1;
}

/* Marks a suite's figures. Call it before their samples are sorted. */
static void note_others(struct bench *b, size_t first, double others, struct machine *m)
{
	for (size_t i = first; i < b->n_figures; i++)
		b->figures[i].busy = others > QUIET_SHARE ||
				spread_of_rounds(&b->figures[i].floor) > ROUNDS_MOST;
	m->others = fmax(m->others, others);
}

static void find_cpu(char *out, size_t size)
{
	auto_buf struct buf text = BUF_INIT(4 << 20);
	const char *at;

	fd_read_file("/proc/cpuinfo", &text, NULL);
	at = strstr(buf_str(&text), "model name");
	at = at ? strchr(at, ':') : NULL;
	if (at)
		snprintf(out, size, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
	else
		snprintf(out, size, "unknown");
}

static void look_at_machine(struct machine *m)
{
	time_t now = time(NULL);
	struct utsname u;
	struct tm tm;

	find_cpu(m->cpu, sizeof(m->cpu));
	m->cores = sysconf(_SC_NPROCESSORS_ONLN);
	uname(&u);
	snprintf(m->kernel, sizeof(m->kernel), "%s %s", u.sysname, u.release);
	strftime(m->date, sizeof(m->date), "%Y-%m-%d", gmtime_r(&now, &tm));
	getloadavg(&m->load, 1);
}

/* --- telling ---------------------------------------------------------------------------------- */

static json_t *number(double v)
{
	return isnan(v) ? json_null() : json_real(round(v * 1000) / 1000);
}

static double floor_of(const struct figure *f)
{
	return percentile(&f->floor, 50);
}

static json_t *figure_json(const struct figure *f)
{
	double p50 = percentile(&f->ours, 50);

	return json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "name", f->name, "unit",
			f->unit, "n", (json_int_t)f->ours.n, "p50", number(p50), "p95",
			number(percentile(&f->ours, 95)), "p99", number(percentile(&f->ours, 99)),
			"floor_p50", number(floor_of(f)), "ratio", number(p50 / floor_of(f)));
}

static void print_json(const struct bench *b, const struct machine *m)
{
	auto_json json_t *report = json_object();
	json_t *results = json_array(), *busy = json_array();

	for (size_t i = 0; i < b->n_figures; i++) {
		json_array_append_new(results, figure_json(&b->figures[i]));
		if (b->figures[i].busy)
			json_array_append_new(busy, json_string(b->figures[i].name));
	}
	json_object_set_new(report, "machine",
			json_pack("{s:o, s:I, s:s, s:s, s:o, s:o, s:o, s:b, s:o}", "cpu",
					json_text(m->cpu), "cores", (json_int_t)m->cores, "kernel",
					m->kernel, "date", m->date, "load", number(m->load),
					"load_after", number(m->load_after), "others_cpus",
					number(m->others), "quiet", m->others <= QUIET_SHARE,
					"busy", busy));
	json_object_set_new(report, "results", results);
	cmd_print_json(report);
}

static void add_value(char *out, size_t size, double v, const char *unit)
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

/* What was asked of it, and whether it is so: +1 yes, -1 no, 0 nothing was asked. */
static int judge(const struct figure *f, char *out, size_t size)
{
	double p50 = percentile(&f->ours, 50);
	double base = percentile(f->against ? &f->against->ours : &f->floor, 50);
	char value[32];

	out[0] = '\0';
	if (f->most > 0) {
		add_value(value, sizeof(value), f->most, f->unit);
		snprintf(out, size, "< %s", value);
		return p50 < f->most ? 1 : -1;
	}
	if (f->most_ratio > 0) {
		snprintf(out, size, "< %gx %s", f->most_ratio,
				f->against ? f->against->name : "its floor");
		return p50 < f->most_ratio * base ? 1 : -1;
	}
	if (f->most_over > 0) {
		add_value(value, sizeof(value), f->most_over, f->unit);
		snprintf(out, size, "its floor + %s ", value);
		return p50 < base + f->most_over ? 1 : -1;
	}
	return 0;
}

static void print_figure(const struct figure *f)
{
	static const double percents[] = { 50, 95, 99 };
	double ratio = percentile(&f->ours, 50) / floor_of(f);
	bool colours = term_colours(1);
	char value[32], goal[64];
	int verdict = judge(f, goal, sizeof(goal));

	printf("%-14s", f->name);
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++) {
		add_value(value, sizeof(value), percentile(&f->ours, percents[i]), f->unit);
		printf("%11s", value);
	}
	add_value(value, sizeof(value), floor_of(f), f->unit);
	printf("%11s", value);
	if (isnan(ratio))
		printf("%9s", "-");
	else
		printf(ratio < 100 ? "%8.2fx" : "%8.0fx", ratio);
	if (f->busy)
		printf("   %-18sbusy", goal);
	else if (verdict)
		printf("   %-18s%s%s%s", goal,
				term_style(colours, verdict < 0 ? TERM_RED : TERM_GREEN),
				verdict > 0 ? "met" : "missed", term_style(colours, TERM_RESET));
	putchar('\n');
}

static void print_table(const struct bench *b, const struct machine *m)
{
	bool busy = false;

	for (size_t i = 0; i < b->n_figures; i++)
		busy = busy || b->figures[i].busy;
	printf("%s, %ld cores, %s, %s\n", m->cpu, m->cores, m->kernel, m->date);
	if (busy)
		printf("Others used up to %.1f CPUs meanwhile (load %.1f before, %.1f after). Lines that end "
		       "with 'busy' are not judged:\ntheir times are no times of this machine.\n",
				m->others, m->load, m->load_after);
	printf("\n%-14s%11s%11s%11s%11s%9s   %s\n", "", "p50", "p95", "p99", "floor p50", "ratio",
			"goal");
	for (size_t i = 0; i < b->n_figures; i++)
		print_figure(&b->figures[i]);
}

/* --- the command ------------------------------------------------------------------------------ */

static bool wanted(const struct suite *suite, const struct texts *only)
{
	bool any = only->n == 0;

	for (size_t i = 0; i < only->n; i++)
		for (size_t j = 0; suite->names[j]; j++)
			any = any || str_eq(only->items[i], suite->names[j]);
	return any;
}

static bool known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(suites); i++)
		for (size_t j = 0; suites[i].names[j]; j++)
			if (str_eq(name, suites[i].names[j]))
				return true;
	return false;
}

/* Reads the lists; the exit status of a wrong one. */
static int take_options(struct command_context *ctx, struct bench *b)
{
	const struct bench_options *o = ctx->options;

	for (size_t i = 0; i < o->only.n; i++)
		if (!known(o->only.items[i]))
			return cmd_misuse(ctx,
					"--only %s: it must be of reset, step, teardown, "
					"validate_csv, tools, agent, alive, soak",
					o->only.items[i]);
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

static int measure(
		struct bench *b, const struct texts *only, struct machine *m, struct fh_error *err)
{
	double before, after;
	int r = interrupt_setup(err);

	look_at_machine(m);
	before = watch_others();
	for (size_t i = 0; i < ARRAY_SIZE(suites) && r == 0; i++) {
		size_t first = b->n_figures;

		if (!wanted(&suites[i], only))
			continue;
		r = suites[i].run(b, err);
		if (r < 0)
			break;
		after = watch_others();
		note_others(b, first, fmax(before, after), m);
		before = after;
	}
	getloadavg(&m->load_after, 1);
	/* A floor that the same Ctrl-C ended is no failure. */
	return r < 0 && interrupt_wanted() ? -EINTR : r;
}

static void release(struct bench *b)
{
	for (size_t i = 0; i < b->n_figures; i++) {
		free(b->figures[i].ours.values);
		free(b->figures[i].floor.values);
	}
}

static int run_bench(struct command_context *ctx)
{
	const struct bench_options *o = ctx->options;
	struct bench b = { 0 };
	struct machine m = { 0 };
	struct fh_error err = FH_ERROR_INIT;
	int r, status = take_options(ctx, &b);

	if (status != CMD_OK)
		return status;
	r = measure(&b, &o->only, &m, &err);
	for (size_t i = 0; i < b.n_figures; i++) {
		sort(&b.figures[i].ours);
		sort(&b.figures[i].floor);
	}
	if (r == 0 && ctx->json)
		print_json(&b, &m);
	else if (r == 0)
		print_table(&b, &m);
	release(&b);
	if (r == -EINTR)
		return interrupt_status();
	return r < 0 ? cmd_fail(&err) : CMD_OK;
}

#define FIELD(f) offsetof(struct bench_options, f)

static const struct cmd_option options[] = {
	{ "only", 0, OPTION_LIST, FIELD(only), "NAME,...",
			"figures to measure: reset, step, teardown, validate_csv, tools, agent, alive, soak" },
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
	.options = options,
	.options_size = sizeof(struct bench_options),
	.run = run_bench,
};

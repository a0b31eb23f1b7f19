/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"
#include "grade/kinds.h"
#include "guest.h"

#include <math.h>
#include <string.h>

/*
 * Fuzzes grading in a hostile fake sandbox (guest.h). The input is what the grader sends to the
 * owner: output, results, broken messages, and how it ends. In a duel it is what the player sends,
 * too. The grading must reach a verdict within its timeout. A score has finite numbers and the
 * task's metric. Texts for agents are valid and capped.
 *
 * The first byte is the grader's kind. A list of acts follows: a byte picks one, then its bytes.
 */

#define WAITS_OF_A_GRADING 8

struct play {
	struct input in;
	struct grade *g;
	struct guest guests[GRADE_PROGRAMS_MAX];
};

static const struct task task = {
	.id = "fuzz",
	.metric = "accuracy",
	.limits = { .memory_bytes = 1 << 30 },
	.grader = { .submission = "submission.csv", .timeout_ms = 60000 },
};

static void check(bool ok)
{
	if (!ok)
		__builtin_trap();
}

/* Sets up a grader's program in the state in which grade_add() leaves it once it runs. */
static void open_program(struct play *p, size_t i)
{
	struct program *program = &p->g->programs[i];

	guest_open(&p->guests[i], false);
	*program = (struct program){
		.state = PROGRAM_RUNNING,
		.log = BUF_INIT(2 * PROGRAM_LOG_BYTES),
		.result = BUF_INIT(PROGRAM_RESULT_BYTES),
		.sb = p->guests[i].sb,
		.id = 1,
	};
	program_listen(program);
	p->g->n_programs++;
}

static void open_grade(struct play *p)
{
	static const struct grade_kind *const kinds[] = { &grade_csv, &grade_script, &grade_duel };
	struct grade *g = xcalloc(1, sizeof(*g));

	g->request.task = &task;
	g->kind = kinds[input_u8(&p->in) % ARRAY_SIZE(kinds)];
	g->submission_fd = -1;
	g->submission = "/home/agent/workspace/submission.csv";
	g->deadline_ns = clock_now_ns() + task.grader.timeout_ms * NS_PER_MS;
	buf_init(&g->text, GRADE_TEXT_BYTES);
	buf_init(&g->grader_log, GRADE_TEXT_BYTES);
	p->g = g;
	open_program(p, 0);
	if (g->kind == &grade_duel)
		open_program(p, 1);
}

static size_t pick(struct play *p)
{
	return input_u8(&p->in) % GRADE_PROGRAMS_MAX;
}

static void print(struct play *p)
{
	struct guest *guest = &p->guests[pick(p)];
	size_t n;
	const uint8_t *bytes = input_bytes(&p->in, &n);

	guest_print(guest, STREAM_OF(1, PROGRAM_LOG), bytes, n);
}

static void give(struct play *p)
{
	struct guest *guest = &p->guests[pick(p)];
	size_t times = 1u << (input_u8(&p->in) & 15);
	size_t n;
	const uint8_t *bytes = input_bytes(&p->in, &n);

	while (times--)
		guest_print(guest, STREAM_OF(1, PROGRAM_RESULT), bytes, n);
}

static void say(struct play *p)
{
	struct guest *guest = &p->guests[pick(p)];
	size_t n;
	const uint8_t *bytes = input_bytes(&p->in, &n);

	guest_say(input_u8(&p->in) & 1 ? guest->porter : guest->control, bytes, n);
}

static void end(struct play *p)
{
	struct guest *guest = &p->guests[pick(p)];
	const uint32_t words[] = { 1, input_u8(&p->in) };
	uint8_t message[1 + sizeof(words)] = { INIT_EXITED };

	memcpy(message + 1, words, sizeof(words));
	guest_say(guest->control, message, sizeof(message));
}

static void advance(struct play *p)
{
	grade_advance(p->g);
}

static void sleep_on(struct play *p)
{
	guest_sleep_ns(NS_PER_MS << (input_u8(&p->in) & 15));
}

static void hang_up(struct play *p)
{
	size_t i = pick(p);

	guest_close(&p->guests[i]);
}

static void listen(struct play *p)
{
	guest_listen(&p->guests[pick(p)]);
}

static void (*const acts[])(struct play *p) = {
	print,
	give,
	say,
	end,
	advance,
	sleep_on,
	hang_up,
	listen,
};

static void check_text(const char *text)
{
	check(text && strlen(text) < GRADE_TEXT_BYTES);
	check(str_utf8_invalid(text, strlen(text)) < 0);
}

static void check_verdict(const struct grade_result *r)
{
	check((r->verdict == GRADE_SCORED) == (r->score != NULL));
	check_text(r->text);
	check_text(r->grader_log);
	check((r->verdict == GRADE_SCORED) == !*r->text);
	if (r->integrity)
		check_text(r->integrity);
	check(!r->integrity || r->verdict != GRADE_SCORED);
	if (!r->score)
		return;
	check(score_find(r->score, task.metric) && r->score->n <= SCORE_METRICS_MAX);
	for (size_t i = 0; i < r->score->n; i++)
		check(isfinite(r->score->metrics[i].value));
}

static void close_all(struct play *p)
{
	grade_free(p->g);
	for (size_t i = 0; i < GRADE_PROGRAMS_MAX; i++)
		guest_close(&p->guests[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct play p = { .in = { data, n } };

	for (size_t i = 0; i < GRADE_PROGRAMS_MAX; i++)
		p.guests[i] = GUEST_NONE;
	open_grade(&p);
	while (p.in.n)
		acts[input_u8(&p.in) % ARRAY_SIZE(acts)](&p);
	for (int i = 0; !grade_advance(p.g); i++) {
		check(i < WAITS_OF_A_GRADING);
		guest_sleep_ns(task.grader.timeout_ms * NS_PER_MS);
	}
	check_verdict(grade_result(p.g));
	close_all(&p);
	return 0;
}

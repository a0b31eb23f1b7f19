/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/parser.h"
#include "agent/pytext.h"
#include "agent/template.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/export.h"
#include "trajectory/traj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Checks recorded runs of MLGym. It reads paths of .traj files from standard input, one a line. For
 * each finding it prints a line "CHECK<tab>EQUAL|DIFFERENT|SKIPPED<tab>FILE<tab>what".
 */

#define FILE_BYTES_MAX (512L * 1024 * 1024)

static const char *path;

static void tell(const char *check, const char *verdict, const char *format, ...)
		__attribute__((format(printf, 3, 4)));

static void tell(const char *check, const char *verdict, const char *format, ...)
{
	va_list ap;

	printf("%s\t%s\t%s\t", check, verdict, path);
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
}

static const char *text_of(const struct pyjson *v)
{
	const char *text = v ? pyjson_string(v) : NULL;

	return text ? text : "";
}

/* Copies a recorded text, with U+FFFD in place of each NUL, because C strings end at a NUL. */
static const char *whole_text_of(struct arena *a, const struct pyjson *v)
{
	auto_buf struct buf out = BUF_INIT(FILE_BYTES_MAX);

	for (size_t i = 0; v && v->kind == PYJSON_STRING && i < v->len; i++) {
		if (v->text[i])
			buf_add_char(&out, v->text[i]);
		else
			buf_add_str(&out, "\xef\xbf\xbd");
	}
	return arena_strdup(a, buf_str(&out));
}

/* --- check 1: a file that is read and written again has the same bytes ------------------------ */

static void check_round_trip(const struct traj *t, const struct buf *bytes)
{
	auto_buf struct buf out = BUF_INIT(FILE_BYTES_MAX);
	size_t at = 0;

	traj_write(&out, t);
	if (out.len == bytes->len && memcmp(out.data, bytes->data, out.len) == 0) {
		tell("round_trip", "EQUAL", "%zu bytes", out.len);
		return;
	}
	while (at < out.len && at < bytes->len && out.data[at] == bytes->data[at])
		at++;
	tell("round_trip", "DIFFERENT", "from byte %zu on", at);
}

/* --- check 2: a reply is parsed into the thought and the action that were recorded ------------ */

static void check_reply(const struct output_parser *parser, const struct traj_step *step, size_t i)
{
	auto_arena struct arena a = ARENA_INIT;
	struct chat_reply reply = { .content = text_of(step->response) };
	const struct commands none = { 0 };
	struct parsed parsed;
	struct fh_error err;

	if (str_starts(text_of(step->action), "exit_")) {
		tell("parser", "SKIPPED", "step %zu: the model did not act", i);
		return;
	}
	if (output_parse(parser, &a, &reply, &none, &parsed, &err) < 0)
		tell("parser", "DIFFERENT", "step %zu: %s", i, err.message);
	else if (!str_eq(parsed.action, text_of(step->action)))
		tell("parser", "DIFFERENT", "step %zu: another action", i);
	else if (!str_eq(parsed.thought, text_of(step->thought)))
		tell("parser", "DIFFERENT", "step %zu: another thought", i);
	else
		tell("parser", "EQUAL", "step %zu", i);
}

/* --- check 3: recorded messages are the prompt's template, filled with observation and state -- */

#define PROMPT                                                                                     \
	"(Current Step: {current_step}, Remaining Steps: {remaining_steps})\n"                     \
	"(Open file: {open_file})\n"                                                               \
	"(Current directory: {working_dir})\n"                                                     \
	"bash-$"

/* The limit of steps that a run's first message tells, or -1 if it tells none. */
static long max_steps_of(const char *message)
{
	const char *at = message ? strstr(message, "(Current Step: 0, Remaining Steps: ") : NULL;

	return at ? strtol(strchr(at, 'R') + strlen("Remaining Steps: "), NULL, 10) : -1;
}

static bool set_state(struct fields *f, struct arena *a, const struct pyjson *state)
{
	const char *text = text_of(state);
	struct pyjson_source source = { .name = "state", .data = text, .n = strlen(text) };
	const struct pyjson *object;

	if (pyjson_read(a, &source, &object, NULL) < 0)
		return false;
	for (const struct pyjson *v = object->first; v; v = v->next)
		fields_set(f, v->key, text_of(v));
	return true;
}

/* First line of a message. If the observation was empty, it has words of MLGym's own. */
static const char *no_output_line(struct arena *a, const char *message)
{
	return arena_strndup(a, message, strcspn(message, "\n"));
}

static void check_message(const struct traj *t, size_t k, const char *message, long max_steps)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf out = BUF_INIT(FILE_BYTES_MAX);
	struct fields fields = { .arena = &a };
	struct template prompt = { .text = "{observation}\n" PROMPT };
	const char *observation = whole_text_of(&a, t->steps[k - 1].observation);
	bool blank = str_is_blank(observation);
	struct fh_error err;

	if (!set_state(&fields, &a, t->steps[k].state)) {
		tell("messages", "SKIPPED", "step %zu has no state", k);
		return;
	}
	fields_set(&fields, "observation", blank ? no_output_line(&a, message) : observation);
	fields_set_number(&fields, "current_step", (long long)k);
	fields_set_number(&fields, "remaining_steps", max_steps - (long long)k);
	if (template_render(&out, &prompt, &fields, &err) < 0)
		tell("messages", "DIFFERENT", "message %zu: %s", k, err.message);
	else if (!str_eq(buf_str(&out), message))
		tell("messages", "DIFFERENT", "message %zu", k);
	else
		tell("messages", "EQUAL", "message %zu", k);
}

static bool is_user_s(const struct traj_message *m)
{
	return str_eq(text_of(m->role), "user") && !(m->is_demo && m->is_demo->boolean);
}

static void check_messages(const struct traj *t)
{
	auto_arena struct arena a = ARENA_INIT;
	long max_steps = -1;
	size_t k = 0;

	for (size_t i = 0; i < t->n_history; i++) {
		const char *message = whole_text_of(&a, t->history[i].content);

		if (!is_user_s(&t->history[i]))
			continue;
		if (k == 0)
			max_steps = max_steps_of(message);
		else if (k >= t->n_steps)
			tell("messages", "SKIPPED", "message %zu: its step was not recorded", k);
		else if (max_steps < 0)
			tell("messages", "SKIPPED", "the first message does not tell the steps");
		else
			check_message(t, k, message, max_steps);
		k++;
	}
}

/* --- check 4: the run's scores are those that its observations show --------------------------- */

#define EVALUATION "Evaluation Score: "

/* The score that an observation shows, as JSON. The observation shows it as a Python dict with
 * single quotes. */
static char *score_in(struct arena *a, const char *observation)
{
	const char *at = strstr(observation, EVALUATION);
	char *dict;

	if (!at)
		return NULL;
	at += strlen(EVALUATION);
	dict = arena_strndup(a, at, strcspn(at, "}\n") + 1);
	for (char *c = dict; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return dict;
}

static bool same_score(struct arena *a, const char *dict, const struct pyjson *score)
{
	struct pyjson_source source = { .name = "score", .data = dict, .n = strlen(dict) };
	const struct pyjson *object;

	if (pyjson_read(a, &source, &object, NULL) < 0 || object->n != score->n)
		return false;
	for (const struct pyjson *v = object->first; v; v = v->next) {
		const struct pyjson *other = pyjson_get(score, v->key);

		if (!other || v->len != other->len || memcmp(v->text, other->text, v->len) != 0)
			return false;
	}
	return true;
}

static void check_scores(const struct traj *t)
{
	auto_arena struct arena a = ARENA_INIT;
	const struct pyjson *score = t->info.score ? t->info.score->first : NULL;
	const char *status = text_of(t->info.exit_status);
	size_t seen = 0, wanted = t->info.score ? t->info.score->n : 0;
	bool last = str_eq(status, "submitted") || str_starts(status, "autosubmission");

	for (size_t i = 0; i < t->n_steps; i++) {
		char *dict = score_in(&a, text_of(t->steps[i].observation));

		if (!dict)
			continue;
		if (!score || !same_score(&a, dict, score)) {
			tell("scores", "DIFFERENT", "step %zu: %s", i, dict);
			return;
		}
		score = score->next;
		seen++;
	}
	if (wanted == seen || (last && wanted == seen + 1))
		tell("scores", "EQUAL", "%zu scores", wanted);
	else
		tell("scores", "DIFFERENT", "%zu scores where %zu were seen (%s)", wanted, seen,
				status);
}

/* --- check 5: the export makes the same results.json from the run's scores -------------------- */

static const struct pyjson *baseline_in(struct arena *a, const char *name, const struct buf *bytes)
{
	struct pyjson_source source = { .name = name, .data = buf_str(bytes), .n = bytes->len };
	const struct pyjson *results;

	return pyjson_read(a, &source, &results, NULL) < 0 ? NULL : pyjson_get(results, "baseline");
}

/* Compares results.json with the export, given the file's own baseline. tests/corpus/run checks the
 * baseline. */
static void check_results(const struct traj *t)
{
	auto_arena struct arena a = ARENA_INIT;
	auto_buf struct buf bytes = BUF_INIT(FILE_BYTES_MAX), ours = BUF_INIT(FILE_BYTES_MAX);
	auto_free char *dir = path_dirname(path);
	auto_free char *name = path_join(dir, EXPORT_RESULTS);
	const struct pyjson *baseline;
	struct fh_error err;

	if (fd_read_file(name, &bytes, &err) < 0) {
		tell("results", "DIFFERENT", "%s", err.message);
		return;
	}
	baseline = baseline_in(&a, name, &bytes);
	if (baseline)
		traj_write_results(&ours, t, &(struct traj_results){ .baseline = baseline });
	if (baseline && buf_equal(&ours, &bytes))
		tell("results", "EQUAL", "%zu bytes", bytes.len);
	else
		tell("results", "DIFFERENT", "%s does not hold the scores of the run", name);
}

/* --------------------------------------------------------------------------------------------- */

static void check(const struct output_parser *parser)
{
	auto_buf struct buf bytes = BUF_INIT(FILE_BYTES_MAX);
	struct fh_error err;
	struct traj *t;

	if (fd_read_file(path, &bytes, &err) < 0 ||
			traj_parse(path, buf_str(&bytes), bytes.len, &t, &err) < 0) {
		tell("round_trip", "DIFFERENT", "%s", err.message);
		return;
	}
	check_round_trip(t, &bytes);
	for (size_t i = 0; i < t->n_steps; i++)
		check_reply(parser, &t->steps[i], i);
	check_messages(t);
	check_scores(t);
	check_results(t);
	traj_free(t);
}

int main(void)
{
	const struct output_parser *parser = output_parser_find("MLGymThoughtActionParser", NULL);
	char line[4096];

	while (parser && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		path = line;
		check(parser);
	}
	return 0;
}

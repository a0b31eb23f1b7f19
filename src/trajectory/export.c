/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/export_inside.h"
#include "trajectory/run_dir.h"

#include <fumehood/env.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the history of a run whose model has no conversation ------------------------------------- */

static void export_say(struct export_reading *r, const struct pyjson *content)
{
	*export_add_message(r) = (struct traj_message){
		.role = export_text(r, "user"), .content = content, .agent = export_agent_name(r)
	};
}

static void export_make_history(struct export_reading *r)
{
	export_say(r,
			export_text_of(r->told ? r->told[0] : NULL, "observation",
					export_text(r, "")));
	for (size_t i = 0; i < r->traj->n_steps; i++) {
		const struct traj_step *step = &r->traj->steps[i];

		*export_add_message(r) = (struct traj_message){
			.role = export_text(r, "assistant"),
			.content = step->response,
			.thought = step->thought,
			.action = step->action,
			.agent = export_agent_name(r),
			.by_person = export_by_person(r->told[i + 1]),
		};
		if (i + 1 < r->traj->n_steps)
			export_say(r, r->traj->steps[i].observation);
	}
}

/* --- the end of a recorded run ---------------------------------------------------------------- */

static const char *export_exit_status(const struct export_reading *r)
{
	const char *ended = pyjson_string(pyjson_get(r->end, "exit_status"));
	const char *step = pyjson_string(
			pyjson_get(pyjson_get(export_last_told(r), "info"), "exit_status"));

	return ended ? ended : step ? step : "";
}

/* Returns the number of steps that a replay plays. A last step does not count if it was
 * interrupted, or if an error ended the episode. */
static size_t export_count_played(const struct export_reading *r)
{
	const struct pyjson *last = export_last_told(r);
	bool ended = pyjson_true(pyjson_get(last, "terminated")) ||
			pyjson_true(pyjson_get(last, "truncated"));
	bool cut = str_eq(pyjson_string(pyjson_get(pyjson_get(last, "info"), "outcome")),
			fh_outcome_name(FH_OUTCOME_INTERRUPTED));

	return r->traj->n_steps -
			(r->traj->n_steps &&
					(cut ||
							(ended &&
									!pyjson_true(pyjson_get(
											r->end,
											"over")))));
}

/* Adds one more step after the last, as MLGym does when the step limit is reached. */
static void export_add_limit_step(struct export_reading *r)
{
	const struct pyjson *state = export_state_text(r);
	struct traj_step *step = export_add_step(r);

	step->state = state;
	step->response = export_text(r, "Exit due to the limit of steps");
	step->thought = step->response;
	step->action = export_text(r, "exit_max_steps");
	step->execution_time = &export_zero;
	step->observation = export_text(r, "Exited (max_steps)");
}

static const struct pyjson *export_no_costs(struct export_reading *r)
{
	static const char zeros[] = "{\"total_cost\": 0.0, \"task_cost\": 0.0, \"tokens_sent\": 0, "
				    "\"tokens_received\": 0, \"api_calls\": 0}";
	struct pyjson_source source = { .name = "", .data = zeros, .n = sizeof(zeros) - 1 };
	const struct pyjson *v = NULL;

	pyjson_read(r->arena, &source, &v, NULL);
	return v;
}

static struct pyjson *export_container(struct export_reading *r, enum pyjson_kind kind)
{
	struct pyjson *v = arena_alloc(r->arena, sizeof(*v));

	v->kind = kind;
	return v;
}

static const struct pyjson *export_score_list(struct export_reading *r)
{
	struct pyjson *list = export_container(r, PYJSON_ARRAY);
	const struct pyjson **tail = &list->first;

	for (size_t i = 0; i < r->n_scores; i++) {
		struct pyjson *entry = export_container(r, PYJSON_OBJECT);

		entry->first = r->scores[i].metrics->first;
		entry->n = r->scores[i].metrics->n;
		*tail = entry;
		tail = &entry->next;
	}
	list->n = r->n_scores;
	return list;
}

static void export_fill_info(struct export_reading *r, const char *status)
{
	struct traj_info *info = &r->traj->info;
	bool graded = str_eq(status, "submitted") || str_starts(status, "autosubmission");

	info->model_stats = r->spent ? pyjson_get(r->spent, "model_stats") : export_no_costs(r);
	info->exit_status = export_text(r, status);
	info->submission = graded ? export_text_of(r->open, "submission", export_text(r, NULL))
				  : export_text(r, NULL);
	info->score = export_score_list(r);
	info->summarizer = export_container(r, PYJSON_OBJECT);
}

int export_parse(const char *name, const char *data, size_t n, struct exported *out,
		struct fh_error *err)
{
	auto_traj struct traj *t = traj_new();
	struct export_reading r = { .path = name, .traj = t, .arena = &t->arena, .time = NAN };
	const struct pyjson *last;
	const char *status;
	int result;

	t->environment = export_text(&r, "mlgym_main");
	result = export_read_lines(&r, data, data + n, err);
	if (result < 0)
		return result;
	out->n_played = export_count_played(&r);
	out->over = pyjson_true(pyjson_get(r.end, "over"));
	out->reset = r.told ? r.told[0] : NULL;
	out->told = r.told;
	out->paid = r.paid;
	out->model_s = r.model_s;
	out->n_told = r.told ? t->n_steps + 1 : 0;
	out->faults = r.faults;
	out->n_faults = r.n_faults;
	last = export_last_told(&r);
	status = export_exit_status(&r);
	/* Check the status too. A timeout of the episode also sets `truncated`, but MLGym records
	 * no extra step then. */
	if (pyjson_true(pyjson_get(last, "truncated")) && strstr(status, "(max_steps)"))
		export_add_limit_step(&r);
	if (!r.messages)
		export_make_history(&r);
	export_fill_info(&r, status);
	out->traj_name = run_dir_recorded_traj_name(r.open);
	out->baseline = pyjson_get(r.open, "baseline");
	if (!out->baseline)
		out->baseline = export_text(&r, NULL);
	out->final = pyjson_get(pyjson_get(last, "info"), "final");
	out->numbers = pyjson_get(r.end, "numbers");
	out->policy_step = pyjson_get(r.open, "policy_step");
	out->open = r.open;
	out->n_messages = r.messages;
	out->traj = take_ptr(t);
	return 0;
}

int export_read(const char *dir, struct exported *out, struct fh_error *err)
{
	auto_buf struct buf data = BUF_INIT(EXPORT_EVENTS_BYTES_MAX);
	auto_free char *path = path_join(dir, EXPORT_EVENTS);
	int r = fd_read_plain(path, &data, err);

	return r < 0 ? r : export_parse(path, buf_str(&data), data.len, out, err);
}

void export_add_reply(struct buf *out, const struct pyjson *fault)
{
	const struct pyjson *response = pyjson_get(fault, "response");
	const struct pyjson *calls = pyjson_get(fault, "tool_calls");

	if (response && response->kind == PYJSON_STRING) /* it may contain NULs */
		buf_add(out, response->text, response->len);
	if (!calls || calls->kind != PYJSON_ARRAY)
		return;
	for (const struct pyjson *v = calls->first; v; v = v->next) {
		const struct pyjson *call = pyjson_get(v, "function");

		buf_printf(out, "%s%s %s", out->len ? "\n" : "",
				pyjson_text(pyjson_get(call, "name")),
				pyjson_text(pyjson_get(call, "arguments")));
	}
}

void export_release(struct exported *e)
{
	traj_free(e->traj);
	free(e->traj_name);
	*e = (struct exported){ 0 };
}

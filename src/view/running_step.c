/* SPDX-License-Identifier: Apache-2.0 */
#include "view/running_step.h"

#include "base/scope.h"
#include "base/str.h"
#include "trajectory/compare.h"
#include "trajectory/live.h"

#include <time.h>

/* Sentences for a run that goes on, and for a run that was cut. %lld is the number of the step. */
static const struct {
	const char *now, *cut;
} running_step_sentences[] = {
	[LIVE_MODEL] = { "the model decides on step %lld", "cut off before step %lld" },
	[LIVE_PERSON] = { "step %lld waits for a person", "cut off before step %lld" },
	[LIVE_STEP] = { "step %lld runs", "cut off in step %lld" },
	[LIVE_GRADING] = { "step %lld is scored", "cut off in step %lld" },
};

/* Reads the live.json of the run. NULL: there is none, or the step that it shows has
 * been recorded since. */
static const struct pyjson *running_step_read(struct arena *a, const char *events, int64_t steps)
{
	auto_buf struct buf text = BUF_INIT(LIVE_BYTES_MAX);
	struct pyjson_source source = { .name = LIVE_FILE };
	const struct pyjson *live;
	int64_t step;

	if (!live_read(events, &text))
		return NULL;
	source.data = buf_str(&text);
	source.n = text.len;
	if (pyjson_read(a, &source, &live, NULL) < 0)
		return NULL;
	return pyjson_i64(pyjson_get(live, "step"), &step) && step == steps + 1 ? live : NULL;
}

static enum live_phase running_step_phase(const struct pyjson *live)
{
	const char *name = pyjson_text(pyjson_get(live, "phase"));
	enum live_phase phase = LIVE_GRADING;

	while (phase != LIVE_NONE && !str_eq(name, live_phase_name(phase)))
		phase--;
	return phase;
}

struct running_step running_step_look(
		struct arena *a, const char *events, bool is_written, int64_t steps)
{
	struct running_step g = { .sentence = is_written ? "goes on" : "cut off", .seconds = -1 };
	const struct pyjson *live = running_step_read(a, events, steps);
	enum live_phase phase = running_step_phase(live);
	int64_t since = compare_time(pyjson_text(pyjson_get(live, "time")));

	if (phase == LIVE_NONE)
		return g;
	g.live = live;
	g.sentence = arena_printf(a,
			is_written ? running_step_sentences[phase].now
				   : running_step_sentences[phase].cut,
			(long long)steps + 1);
	if (is_written && since > 0 && since <= time(NULL))
		g.seconds = time(NULL) - since;
	return g;
}

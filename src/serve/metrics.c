/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/metrics.h"

#include "base/scope.h"

#include <inttypes.h>

/* Upper bounds of the histogram's buckets in seconds. The last bucket has no bound. */
static const double bounds[METRICS_BUCKETS - 1] = { 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 1,
	10, 60, 600 };

void metrics_add_step(struct metrics *m, double seconds)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(bounds) && seconds > bounds[i])
		i++;
	m->steps++;
	m->step_buckets[i]++;
	m->step_seconds += seconds;
}

static void metrics_write_one(struct buf *out, const char *kind, const char *name, const char *help,
		uint64_t value)
{
	buf_printf(out, "# HELP fumehood_%s %s\n# TYPE fumehood_%s %s\nfumehood_%s %" PRIu64 "\n",
			name, help, name, kind, name, value);
}

static void metrics_write_steps(const struct metrics *m, struct buf *out)
{
	uint64_t below = 0;

	buf_add_str(out,
			"# HELP fumehood_step_seconds Time of a step, from request to answer.\n"
			"# TYPE fumehood_step_seconds histogram\n");
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		below += m->step_buckets[i];
		buf_printf(out, "fumehood_step_seconds_bucket{le=\"%g\"} %" PRIu64 "\n", bounds[i],
				below);
	}
	buf_printf(out, "fumehood_step_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", m->steps);
	buf_printf(out, "fumehood_step_seconds_sum %.9g\n", m->step_seconds);
	buf_printf(out, "fumehood_step_seconds_count %" PRIu64 "\n", m->steps);
}

void metrics_write(const struct metrics *m, const struct metrics_now *now, struct buf *out)
{
	metrics_write_one(out, "gauge", "sessions", "Open sessions.", now->sessions);
	metrics_write_one(out, "gauge", "sessions_max", "Most sessions at the same time.",
			(uint64_t)now->max_sessions);
	metrics_write_one(out, "gauge", "connections", "Open connections.", now->connections);
	metrics_write_one(out, "counter", "connections_dropped_total",
			"Connections dropped because too many showed no token.",
			m->connections_dropped);
	metrics_write_one(out, "counter", "sessions_opened_total", "Sessions opened.",
			m->sessions_opened);
	metrics_write_one(out, "counter", "sessions_refused_total",
			"Sessions refused because the server was full or draining.",
			m->sessions_refused);
	metrics_write_one(out, "counter", "sessions_reaped_total",
			"Sessions closed because they were idle.", m->sessions_reaped);
	metrics_write_one(out, "counter", "resets_total", "Episodes begun.", m->resets);
	metrics_write_one(out, "counter", "failures_total", "Resets and steps that failed.",
			m->failures);
	metrics_write_one(out, "counter", "http_requests_total", "HTTP requests.", m->requests);
	metrics_write_one(out, "counter", "http_refused_total",
			"HTTP requests with a wrong token, host or origin.", m->refusals);
	metrics_write_steps(m, out);
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include "base/buf.h"

#include <stdint.h>

enum { METRICS_BUCKETS = 12 };

/* Counters of a server, in the text format that Prometheus reads. */
struct metrics {
	uint64_t sessions_opened, sessions_refused, sessions_reaped;
	uint64_t resets, steps, failures; /* requests that ended; failures among them */
	uint64_t connections_dropped;     /* connections that connection_begin() dropped */
	uint64_t requests, refusals;      /* HTTP; refusals: wrong token, host or origin */
	/* Time of steps, from their request to their answer: a histogram with its sum. */
	uint64_t step_buckets[METRICS_BUCKETS];
	double step_seconds;
};

/* Gauges that are read when the metrics are written. */
struct metrics_now {
	size_t sessions, connections;
	int max_sessions;
};

void metrics_add_step(struct metrics *m, double seconds);
void metrics_write(const struct metrics *m, const struct metrics_now *now, struct buf *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_METRIC_H
#define FUMEHOOD_METRIC_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number of a score. A score is an array of metrics with different names. Values are finite. */
struct fh_metric {
	const char *name; /* name of the metric, printable ASCII */
	double value;
	bool whole; /* shown without a fraction: 23997 */
};

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_METRIC_H
#define FUMEHOOD_METRIC_H

#include <stdbool.h>

/* One number of a score. A score is an array of them, with names that differ; the numbers are
 * finite. */
struct fh_metric {
	const char *name; /* printable ASCII */
	double value;
	bool whole; /* written without a fraction, as 23997: it is shown so */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_METRIC_H
#define FUMEHOOD_METRIC_H

/* One number of a score. A score is an array of them, with names that differ; the numbers are
 * finite. */
struct fh_metric {
	const char *name; /* printable ASCII */
	double value;
};

#endif

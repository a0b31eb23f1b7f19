/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_CURVE_H
#define REPORT_CURVE_H

#include "report/gather.h"

enum axis { AXIS_STEPS, AXIS_COST };

/* Adds the table `over-steps` or `over-cost`, with its picture: how scores grow along the axis. */
void curve_add(const struct report *r, enum axis axis);

#endif

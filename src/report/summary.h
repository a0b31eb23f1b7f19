/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "report/table.h"

/* The first table, `models`: a row for each model, the best first. The numbers are those of the
 * other tables, which must be there already. */
void summary_table(struct report_doc *doc);

#endif

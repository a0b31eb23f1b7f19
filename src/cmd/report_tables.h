/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_REPORT_TABLES_H
#define CMD_REPORT_TABLES_H

#include "base/error.h"
#include "report/table.h"

/* Keeps the tables with these ids, in this order. "all" means all others. If a table is absent
 * because there is nothing to tell, adds a note. -ENOENT, -EINVAL: there is no such table. */
int report_tables_keep(struct report_doc *doc, const struct texts *ids, struct fh_error *err);

/* Keeps the tables that answer most questions, without long ones. Names the others in doc->more. */
void report_tables_keep_brief(struct report_doc *doc);

#endif

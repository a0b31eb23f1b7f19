/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "report/table.h"

/*
 * Pictures of tables as SVG. They are readable without colour. Lines differ in their dashes and
 * marks, and cells of a heat map show their numbers.
 */
void svg_write(struct buf *out, const struct report_table *t);

/* Appends a text in HTML or SVG. Nothing in it can become a tag. */
void svg_add_text(struct buf *out, const char *text);

#endif

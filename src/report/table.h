/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Tables and charts of a report, without a format. The writers make text, CSV, JSON, HTML or
 * Markdown of the same tables, so no number differs between formats. Everything lives in the arena.
 */
struct cell {
	const char *text;   /* as people read it; "": empty */
	double value;       /* the number with all its digits; NAN: the cell is a text, or empty */
	const char *record; /* path of the record whose run the cell names; NULL: none */
};

struct report_table {
	const char *id;    /* short name, for programs: "scores-attempt" */
	const char *title; /* heading, for people */
	const char *note;  /* sentences below the heading; NULL: none */
	const char **columns;
	size_t n_columns;
	size_t n_keys;      /* first columns, which name a row together; 0 means 1 */
	struct cell *cells; /* n_rows * n_columns */
	size_t n_rows;
	struct chart *chart; /* picture of the table; NULL: none */
};

enum chart_kind {
	CHART_LINES,  /* curves over x, with a band where `low` and `high` are known */
	CHART_POINTS, /* a mark for each point */
	CHART_HEAT,   /* the table's numbers as shades, row by row from 0 to 1 */
	CHART_BARS,   /* a bar for each row of the table */
};

struct chart_line {
	const char *name;
	double *x, *y, *low, *high; /* low, high: NULL: no band */
	size_t n;
	bool steps; /* y stays until the next x */
};

struct chart {
	enum chart_kind kind;
	const char *x_title, *y_title;
	const struct chart_line *lines;
	size_t n_lines;
	const double *shades; /* CHART_HEAT: shade of each cell but the row's name; NAN: none */
	size_t bar_column;    /* CHART_BARS: column with the bars' lengths */
	double x_high; /* end of the x axis, so that outliers lie outside; 0: the highest x */
};

/*
 * Ranges of the axes of lines or points, as all pictures of a chart have them. Both contain 0.
 * Values below -1 lie outside of the y axis: they would flatten all other curves.
 */
struct chart_axes {
	double x_low, x_high, y_low, y_high;
};

struct chart_axes chart_axes_of(const struct chart *f);

/* Round numbers at equal distances within a range: 1, 2 or 5 times a power of ten apart. */
struct chart_ticks {
	double first, distance;
	int n;
};

/* Chooses at most `most` + 1 ticks. There are none if a double can't hold the distance of two.
 * `low` is less than `high`. */
struct chart_ticks chart_ticks_of(double low, double high, int most);

/* Returns a sentence: how many values lie outside the axes, and how far. NULL: none does. */
const char *chart_outside(struct arena *a, const struct chart *f);

struct report_doc {
	struct arena *arena;
	const char *title;
	struct report_table **tables;
	size_t n_tables;
	struct texts notes; /* warnings about what the tables compare */
	const char *more;   /* line below the tables of a text; NULL: none */
};

/* Ids of all tables that a report may have, in its order, ended by NULL. doc_add() asserts that a
 * table's id is one of them. */
extern const char *const report_table_ids[];

/* Adds a table with these columns, ended by NULL. */
struct report_table *doc_add(struct report_doc *doc, const char *id, const char *title,
		const char *note, const char *const *columns);
/* Adds a table whose columns are `first`, then the names. */
struct report_table *doc_add_named(struct report_doc *doc, const char *id, const char *title,
		const char *note, const char *first, const struct texts *names);
/* Returns the table with this id. NULL: there is none. */
struct report_table *doc_find(const struct report_doc *doc, const char *id);
void doc_note(struct report_doc *doc, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

/* Adds an empty row. Returns its first cell, which is valid until the next row is added. */
struct cell *table_add_row(struct report_doc *doc, struct report_table *t);

struct cell cell_text(const char *text); /* keeps the pointer; NULL becomes "" */
struct cell cell_count(struct report_doc *doc, double value);
/* A number with so many digits after the point, at least one, rounded half to even as numpy does.
 * NAN becomes an empty cell. */
struct cell cell_number(struct report_doc *doc, double value, int digits);
/* A number with at least so many digits after the point. A small number gets more, so that three of
 * its digits are significant. */
struct cell cell_small(struct report_doc *doc, double value, int digits);
/* A number with so many digits after the point, rounded as Python's round() does. */
struct cell cell_rounded(struct report_doc *doc, double value, int digits);

/* --- writers ---------------------------------------------------------------------------------- */

struct doc_style {
	bool colours;
	int width; /* most columns of a line of text */
};

void doc_write_text(struct buf *out, const struct report_doc *doc, const struct doc_style *style);
void doc_write_markdown(struct buf *out, const struct report_doc *doc);
void doc_write_csv(struct buf *out, const struct report_doc *doc);
void doc_write_json(struct buf *out, const struct report_doc *doc);
void doc_write_html(struct buf *out, const struct report_doc *doc);

#endif

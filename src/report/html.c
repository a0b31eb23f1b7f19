/* SPDX-License-Identifier: Apache-2.0 */
#include "report/svg.h"

#include <math.h>
#include <string.h>

#define CELL_BYTES 100 /* longer texts of cells are clipped */

/* A report as one HTML file without scripts. The page's policy forbids all requests. */

static const char head[] =
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'\">\n<title>";

static const char style[] =
		"<style>\n"
		":root{color-scheme:light dark;--fg:#1a1a1a;--bg:#fff;--line:#ccc;--soft:#f3f3f3;"
		"--grid:#ddd;--bar:#666;--c0:#0b5cad;--c1:#b3410e;--c2:#1b7f4d;--c3:#8a2a8f;"
		"--c4:#6b5a00;--c5:#444;--c6:#c2185b;--c7:#00758f;--heat:#a1bfe8}\n"
		"@media(prefers-color-scheme:dark){:root{--fg:#e8e8e8;--bg:#161616;--line:#444;"
		"--soft:#222;--grid:#333;--bar:#999;--c0:#6cb2f7;--c1:#f4955f;--c2:#5fcf97;"
		"--c3:#dd93e2;--c4:#d3bd4a;--c5:#bbb;--c6:#ff86b0;--c7:#55c8de;--heat:#28508c}}\n"
		"body{font:15px/1.45 system-ui,sans-serif;color:var(--fg);background:var(--bg);"
		"max-width:1100px;margin:0 auto;padding:1rem}\n"
		"table{border-collapse:collapse;font-size:13px}\n"
		"th,td{padding:.2rem .6rem;border-bottom:1px solid var(--line);text-align:left;"
		"vertical-align:bottom;white-space:nowrap}\n"
		"td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
		".long{max-width:60ch;overflow:hidden;text-overflow:ellipsis}"
		".path{min-width:40ch;white-space:normal}p,.path{overflow-wrap:anywhere}\n"
		"tbody tr:nth-child(even){background:var(--soft)}\n"
		".picture{border:1px solid var(--line);margin:.8rem 0}\n"
		".wide,.picture{overflow-x:auto}\n"
		"svg{display:block;width:100%;height:auto;max-width:1400px}\n"
		"svg text{font:12px system-ui,sans-serif;fill:var(--fg)}\n"
		"svg .mark{font-weight:bold;text-anchor:middle;paint-order:stroke;stroke:var(--bg);"
		"stroke-width:3px}\n"
		".line{fill:none;stroke-width:1.8}.line,.grid{vector-effect:non-scaling-stroke}"
		".band{opacity:.1}defs .band{opacity:.3}.faint{opacity:.25}.grid{stroke:var(--grid)}"
		".bar{fill:var(--bar)}.heat{fill:var(--heat)}.leader{stroke:#777}\n"
		".note{border-left:4px solid #b3410e;padding-left:.7rem}\n"
		"nav a{display:inline-block;margin-right:.8rem}a{color:inherit}\n"
		"</style>";

/* Adds a cell. `kind` is its class, which may be "". A long text is clipped, but for a path. */
static void html_cell(struct buf *out, const char *tag, const char *kind, const char *text)
{
	bool clipped = strlen(text) > CELL_BYTES && !str_eq(kind, "path");

	buf_printf(out, "<%s", tag);
	if (clipped || *kind)
		buf_printf(out, " class=\"%s%s\"", kind, clipped ? " long" : "");
	if (clipped) {
		buf_add_str(out, " title=\"");
		svg_add_text(out, text);
		buf_add_char(out, '"');
	}
	buf_add_char(out, '>');
	svg_add_text(out, text);
	buf_printf(out, "</%.2s>", tag);
}

/* Begins a part that scrolls sideways, also by the keyboard. */
static void html_region(
		struct buf *out, const char *style_class, const char *title, const char *kind)
{
	buf_printf(out, "<div class=\"%s\" tabindex=\"0\" role=\"region\" aria-label=\"",
			style_class);
	svg_add_text(out, title);
	buf_printf(out, "%s\">", kind);
}

/* Adds a paragraph, unless it is NULL. */
static void html_sentence(struct buf *out, const char *text)
{
	if (!text)
		return;
	buf_add_str(out, "<p>");
	svg_add_text(out, text);
	buf_add_str(out, "</p>\n");
}

static void html_table(struct buf *out, const struct report_table *t)
{
	html_region(out, "wide", t->title, ", table");
	buf_add_str(out, "<table><thead><tr>");
	for (size_t i = 0; i < t->n_columns; i++)
		html_cell(out, "th scope=\"col\"", i > 0 ? "n" : "", t->columns[i]);
	buf_add_str(out, "</tr></thead><tbody>\n");
	for (size_t row = 0; row < t->n_rows; row++) {
		buf_add_str(out, "<tr>");
		for (size_t i = 0; i < t->n_columns; i++) {
			const struct cell *cell = &t->cells[row * t->n_columns + i];

			html_cell(out, "td",
					cell->record                         ? "path"
							: isnan(cell->value) ? ""
									     : "n",
					cell->text);
		}
		buf_add_str(out, "</tr>\n");
	}
	buf_add_str(out, "</tbody></table></div>\n");
}

void doc_write_html(struct buf *out, const struct report_doc *doc)
{
	buf_add_str(out, head);
	svg_add_text(out, doc->title);
	buf_printf(out, "</title>\n%s</head><body>\n<h1>", style);
	svg_add_text(out, doc->title);
	buf_add_str(out, "</h1>\n");
	for (size_t i = 0; i < doc->notes.n; i++) {
		buf_add_str(out, "<p class=\"note\">");
		svg_add_text(out, doc->notes.items[i]);
		buf_add_str(out, "</p>\n");
	}
	buf_add_str(out, "<nav aria-label=\"Tables\">");
	for (size_t i = 0; i < doc->n_tables; i++) {
		buf_printf(out, "<a href=\"#%s\">", doc->tables[i]->id);
		svg_add_text(out, doc->tables[i]->title);
		buf_add_str(out, "</a> ");
	}
	buf_add_str(out, "</nav>\n<main>\n");
	for (size_t i = 0; i < doc->n_tables; i++) {
		const struct report_table *t = doc->tables[i];

		buf_printf(out, "<h2 id=\"%s\">", t->id);
		svg_add_text(out, t->title);
		buf_add_str(out, "</h2>\n");
		html_sentence(out, t->note);
		if (t->chart) {
			html_region(out, "picture", t->title, ", picture");
			svg_write(out, t);
			buf_add_str(out, "</div>\n");
			html_sentence(out, chart_outside(doc->arena, t->chart));
		}
		html_table(out, t);
	}
	buf_add_str(out, "</main></body></html>\n");
}

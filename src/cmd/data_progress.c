/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/data_progress.h"

#include "base/clock.h"
#include "base/scope.h"
#include "base/str.h"
#include "cli/term.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_COLUMNS 20
#define DRAW_NS (200 * NS_PER_MS)
/* for this time after a file's start, show no rate: it would vary too much */
#define RATE_AFTER_NS (NS_PER_S / 2)
#define CLEAR_LINE "\r\033[K"

void data_add_size(struct buf *out, int64_t bytes)
{
	static const char *const units[] = { "kB", "MB", "GB", "TB" };
	double size = (double)bytes / 1000;
	size_t unit = 0;

	if (bytes < 1000) {
		buf_printf(out, "%lld bytes", (long long)bytes);
		return;
	}
	for (; size >= 1000 && unit + 1 < ARRAY_SIZE(units); unit++)
		size /= 1000;
	buf_printf(out, "%.1f %s", size, units[unit]);
}

static void data_progress_add_time(struct buf *out, double seconds)
{
	long s = seconds < 359999 ? (long)(seconds + 0.5) : 359999;

	if (s >= 3600)
		buf_printf(out, "  %ld:%02ld:%02ld left", s / 3600, s / 60 % 60, s % 60);
	else
		buf_printf(out, "  %ld:%02ld left", s / 60, s % 60);
}

/* Appends the progress line of a fetched file, at most `columns` wide. size_bytes -1: not known. */
static void data_progress_line(struct buf *out, const struct data_progress *p, int64_t done_bytes,
		int64_t size_bytes, int64_t now_ns, int columns)
{
	auto_buf struct buf line = BUF_INIT(1024);
	int64_t took_ns = now_ns - p->began_ns;
	double rate = (double)(done_bytes - p->began_bytes) * NS_PER_S / (double)(took_ns + 1);
	int full;

	if (size_bytes > 0) {
		full = (int)((double)BAR_COLUMNS * (double)done_bytes / (double)size_bytes);
		full = full < 0 ? 0 : full > BAR_COLUMNS ? BAR_COLUMNS : full;
		buf_printf(&line, "[%.*s%*s]  %3d%%  ", full, "####################",
				BAR_COLUMNS - full, "",
				(int)(100.0 * (double)done_bytes / (double)size_bytes));
	}
	data_add_size(&line, done_bytes);
	if (size_bytes > 0) {
		buf_add_str(&line, " of ");
		data_add_size(&line, size_bytes);
	}
	if (took_ns >= RATE_AFTER_NS && rate >= 1) {
		buf_add_str(&line, "  ");
		data_add_size(&line, (int64_t)rate);
		buf_add_str(&line, "/s");
		if (size_bytes > 0)
			data_progress_add_time(&line, (double)(size_bytes - done_bytes) / rate);
	}
	/* The file's name comes last, because it may be too long for the line. */
	buf_printf(&line, "  %s", p->name_copy);
	term_add_line(out, buf_str(&line), columns);
}

void data_progress_draw(
		struct data_progress *p, const char *name, int64_t done_bytes, int64_t size_bytes)
{
	auto_buf struct buf line = BUF_INIT(4096);
	int64_t now = clock_now_ns();

	if (!p->name || !str_eq(p->name_copy, name) || done_bytes < p->began_bytes) {
		snprintf(p->name_copy, sizeof(p->name_copy), "%s", name);
		p->name = p->name_copy;
		p->began_bytes = done_bytes;
		p->began_ns = now;
	} else if (now - p->drawn_ns < DRAW_NS) {
		return;
	}
	p->drawn_ns = now;
	/* Leave the terminal's last column free: after writing to it, a terminal begins a new
	 * line. */
	data_progress_line(
			&line, p, done_bytes, size_bytes, now, term_width(STDERR_FILENO, 80) - 1);
	fprintf(stderr, CLEAR_LINE "%s", buf_str(&line));
	fflush(stderr);
}

void data_progress_clear(struct data_progress *p)
{
	if (p->name)
		fputs(CLEAR_LINE, stderr);
	p->name = NULL;
}

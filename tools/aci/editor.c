/* SPDX-License-Identifier: Apache-2.0 */
#include "editor.h"

#include "aci.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_LINES 1000
#define OVERLAP_LINES 2
#define STATE_BYTES_MAX 8192

/* --- state ------------------------------------------------------------------------------------ */

static double editor_setting(const char *name, double otherwise)
{
	const char *text = getenv(name);
	double v;

	return text && str_to_double(text, &v) && v >= 1 && v <= 1e9 ? v : otherwise;
}

void editor_load(struct editor *e)
{
	auto_buf struct buf text = BUF_INIT(STATE_BYTES_MAX);
	size_t n;
	char *at;

	*e = (struct editor){ .window = editor_setting("WINDOW", WINDOW_LINES),
		.overlap = editor_setting("OVERLAP", OVERLAP_LINES) };
	if (fd_read_file(EDITOR_STATE, &text, NULL) < 0 || text.truncated)
		return;
	e->center = strtod(buf_str(&text), &at);
	e->scrolls = (int)strtol(at, &at, 10);
	if (at[0] != '\n' || at[1] != '/' || !isfinite(e->center))
		return;
	/* The path ends at the last newline: it may contain newlines. */
	n = strlen(++at);
	n -= str_ends(at, "\n");
	if (n < sizeof(e->file))
		snprintf(e->file, sizeof(e->file), "%.*s", (int)n, at);
}

void editor_save(const struct editor *e)
{
	auto_buf struct buf text = BUF_INIT(STATE_BYTES_MAX);

	str_add_double(&text, e->center);
	buf_printf(&text, " %d\n%s\n", e->scrolls, e->file);
	mkdir(EDITOR_FOLDER, 0700);
	if (fd_write_file(EDITOR_STATE ".new", buf_str(&text), text.len, 0600, NULL) < 0 ||
			rename(EDITOR_STATE ".new", EDITOR_STATE) < 0)
		printf("(The open file could not be noted: %s.)\n", strerror(errno));
	aci_tell_state();
}

bool editor_has_file(const struct editor *e)
{
	if (!*e->file)
		puts("No file is open: `open <path>` opens one.");
	return *e->file;
}

/* --- lines ------------------------------------------------------------------------------------ */

void lines_split(struct lines_of *l)
{
	const char *at = buf_str(&l->bytes), *end = at + l->bytes.len;
	size_t size = 1;

	for (const char *s = at; (s = memchr(s, '\n', (size_t)(end - s))); s++)
		size++;
	l->at = xcalloc(size, sizeof(*l->at));
	l->length = xcalloc(size, sizeof(*l->length));
	l->n = 0;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		l->at[l->n] = at;
		at = stop + 1;
		stop -= newline && stop > l->at[l->n] && stop[-1] == '\r';
		l->length[l->n] = (size_t)(stop - l->at[l->n]);
		l->n++;
	}
}

size_t lines_ending(const struct lines_of *l, size_t i)
{
	const char *at = l->at[i] + l->length[i];

	if (at == l->bytes.data + l->bytes.len)
		return 0;
	return *at == '\r' ? 2 : 1;
}

bool lines_read(const char *path, struct lines_of *out)
{
	struct fh_error err;
	struct stat st;

	*out = (struct lines_of){ 0 };
	buf_init(&out->bytes, EDITOR_FILE_BYTES_MAX);
	if (stat(path, &st) < 0) {
		printf("%s: %s\n", path, strerror(errno));
		return false;
	}
	if (S_ISDIR(st.st_mode)) {
		printf("%s is a folder; `ls` shows what is in it.\n", path);
		return false;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > EDITOR_FILE_BYTES_MAX) {
		printf("%s is %s.\n", path,
				S_ISREG(st.st_mode)
						? "too large to be opened: `head` and `sed -n` show parts of it"
						: "no file that can be opened");
		return false;
	}
	if (fd_read_file(path, &out->bytes, &err) < 0) {
		puts(err.message);
		return false;
	}
	lines_split(out);
	return true;
}

void lines_free(struct lines_of *l)
{
	buf_release(&l->bytes);
	free(l->at);
	free(l->length);
	*l = (struct lines_of){ 0 };
}

/* --- the window ------------------------------------------------------------------------------- */

double editor_constrain(double center, double window, size_t n)
{
	double half = floor(window / 2);

	return fmax(fmin(center, (double)n - half), half);
}

void editor_show(const char *path, const struct lines_of *lines, double center, double window)
{
	double above = floor(fmax(0, center - window / 2));
	double below = round(fmax(0, (double)lines->n - center - window / 2));
	size_t last = (size_t)floor(fmax(center + window / 2, window / 2)), first;

	last = last < lines->n ? last : lines->n;
	first = (double)last > window ? last - (size_t)window : 0;
	printf("[File: %s (%zu lines total)]\n", path, lines->n);
	if (above > 0)
		printf("(%.0f more lines above)\n", above);
	for (size_t i = first; i < last; i++) {
		printf("%zu:", i + 1);
		fwrite(lines->at[i], 1, lines->length[i], stdout);
		putchar('\n');
	}
	if (below > 0)
		printf("(%.0f more lines below)\n", below);
}

bool editor_number(const char *text, long *out)
{
	int64_t v;

	if (!text || !*text || text[strspn(text, "0123456789")] || !str_to_i64(text, &v) ||
			v > 1000000000)
		return false;
	*out = (long)v;
	return true;
}

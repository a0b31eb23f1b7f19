/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/glance.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "trajectory/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Bytes to read at the start of events.jsonl, enough for the reset event with the task's
 * description.
 */
#define GLANCE_HEAD_BYTES (4L << 20)
/*
 * Bytes to read at the end of events.jsonl for the "end" event. Only one with a very long error
 * text is longer.
 */
#define TAIL_BYTES (64L << 10)

static const struct pyjson *glance_read_event(
		struct arena *a, const char *line, size_t n, const char *wanted)
{
	struct pyjson_source source = { .name = EXPORT_EVENTS, .data = line, .n = n };
	const struct pyjson *event;

	if (pyjson_read(a, &source, &event, NULL) < 0)
		return NULL;
	return str_eq(pyjson_string(pyjson_get(event, "event")), wanted) ? event : NULL;
}

static void glance_read_head(struct arena *a, int fd, struct glance *out)
{
	auto_free char *text = xcalloc(GLANCE_HEAD_BYTES, 1);
	ssize_t n = fd_read_full(fd, text, GLANCE_HEAD_BYTES);
	const char *first = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
	const char *second = NULL;

	if (!first)
		return;
	out->open = glance_read_event(a, text, (size_t)(first - text), "open");
	second = memchr(first + 1, '\n', (size_t)(text + n - first - 1));
	if (second)
		out->reset = glance_read_event(a, first + 1, (size_t)(second - first - 1), "reset");
}

/* Reads the last event of events.jsonl. NULL if it is not an "end" event. */
static const struct pyjson *glance_read_end(struct arena *a, int fd)
{
	auto_free char *text = xcalloc(TAIL_BYTES, 1);
	const char *line;
	ssize_t n;

	if (lseek(fd, -TAIL_BYTES, SEEK_END) < 0 && (errno != EINVAL || lseek(fd, 0, SEEK_SET) < 0))
		return NULL;
	n = fd_read_full(fd, text, TAIL_BYTES);
	if (n < 2 || text[n - 1] != '\n')
		return NULL;
	line = memrchr(text, '\n', (size_t)n - 1);
	line = line ? line + 1 : text;
	return glance_read_event(a, line, (size_t)(text + n - 1 - line), "end");
}

struct glance glance_at(struct arena *a, const char *dir)
{
	auto_free char *path = path_join(dir, EXPORT_EVENTS);
	auto_close int fd = fd_open_plain(path, NULL);
	struct glance g = { 0 };

	if (fd < 0)
		return g;
	glance_read_head(a, fd, &g);
	g.end = glance_read_end(a, fd);
	g.over = pyjson_true(pyjson_get(g.end, "over"));
	return g;
}

bool glance_seed(const struct glance *g, uint64_t *out)
{
	const struct pyjson *seed = pyjson_get(g->reset, "seed");

	if (!seed || seed->kind != PYJSON_NUMBER)
		return false;
	*out = strtoull(seed->text, NULL, 10);
	return true;
}

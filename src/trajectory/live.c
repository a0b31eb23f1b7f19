/* SPDX-License-Identifier: Apache-2.0 */
#include "trajectory/live.h"

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/sha256.h"
#include "base/str.h"
#include "python/pyjson.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define LIVE_READS 3

struct live {
	char *path;
	int fd; /* -1: there is no file yet */
	bool failed;
	enum live_phase phase;
	int step;
	size_t printed;
	bool shown;                 /* the file shows all of the above */
	char since[LOG_TIME_BYTES]; /* time of the first look that saw phase and step */
	struct buf output, text;
};

const char *live_phase_name(enum live_phase phase)
{
	static const char *const names[] = {
		[LIVE_MODEL] = "model",
		[LIVE_PERSON] = "person",
		[LIVE_STEP] = "step",
		[LIVE_GRADING] = "grading",
	};

	return (size_t)phase < ARRAY_SIZE(names) ? names[phase] : NULL;
}

struct live *live_new(const char *dir)
{
	struct live *l = xcalloc(1, sizeof(*l));

	l->path = path_join(dir, LIVE_FILE);
	l->fd = -1;
	buf_init(&l->output, LIVE_OUTPUT_BYTES);
	buf_init(&l->text, LIVE_BYTES_MAX);
	return l;
}

bool live_look(struct live *l, const struct live_now *now)
{
	if (now->phase == LIVE_NONE || l->failed)
		return false;
	if (now->phase != l->phase || now->step != l->step) {
		if (now->step != l->step)
			buf_clear(&l->output);
		l->phase = now->phase;
		l->step = now->step;
		l->printed = 0;
		l->shown = false;
		log_time(l->since, sizeof(l->since));
		return false;
	}
	return !l->shown || now->printed != l->printed;
}

static void live_put_cut(struct pyjson_writer *w, const char *key, const char *text)
{
	auto_free char *cut = NULL;

	if (!text)
		return;
	cut = xstrndup(text, str_utf8_cut(text, strlen(text), LIVE_TEXT_BYTES));
	pyjson_put_text(w, key, cut);
}

static void live_make_text(struct live *l, const struct live_now *now)
{
	struct pyjson_writer w = PYJSON_WRITER_INIT(&l->text, PYJSON_LINE);
	char sum[SHA256_HEX_BYTES];

	buf_clear(&l->text);
	pyjson_put_object(&w, NULL);
	pyjson_put_text(&w, "phase", live_phase_name(now->phase));
	pyjson_put_i64(&w, "step", now->step);
	pyjson_put_text(&w, "time", l->since);
	live_put_cut(&w, "thought", now->thought);
	live_put_cut(&w, "action", now->action);
	if (l->output.len)
		pyjson_put_text(&w, "output", buf_str(&l->output));
	pyjson_end_object(&w);
	sha256_bytes(l->text.data, l->text.len, sum);
	buf_printf(&l->text, "\n\"%s\"\n", sum);
}

/* Writes the text in place. On ext4 a file that is replaced by rename(2) would go to the disk each
 * time. */
static bool live_put_file(struct live *l)
{
	const struct buf *text = &l->text;

	if (l->fd < 0)
		l->fd = open(l->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return l->fd >= 0 && pwrite(l->fd, text->data, text->len, 0) == (ssize_t)text->len &&
			ftruncate(l->fd, (off_t)text->len) == 0;
}

void live_write(struct live *l, const struct live_now *now, const struct buf *output)
{
	if (output) {
		buf_clear(&l->output);
		buf_add(&l->output, output->data, output->len);
	}
	live_make_text(l, now);
	l->failed = !live_put_file(l);
	l->printed = now->printed;
	l->shown = true;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	if (l->fd >= 0) {
		unlink(l->path);
		close(l->fd);
	}
	buf_release(&l->output);
	buf_release(&l->text);
	free(l->path);
	free(l);
}

void live_forget(const char *dir)
{
	auto_free char *path = path_join(dir, LIVE_FILE);

	unlink(path);
}

/* Cuts the text after its first line. False: the second line is not the sum of the first. */
static bool live_check(struct buf *text)
{
	char *end = text->len ? memchr(text->data, '\n', text->len) : NULL;
	char sum[SHA256_HEX_BYTES];

	if (!end)
		return false;
	text->len = (size_t)(end - text->data);
	*end = '\0';
	sha256_bytes(text->data, text->len, sum);
	return end[1] == '"' && str_starts(end + 2, sum);
}

bool live_read(const char *events, struct buf *out)
{
	auto_free char *folder = path_dirname(events);
	auto_free char *path = path_join(folder, LIVE_FILE);

	for (int i = 0; i < LIVE_READS; i++) {
		buf_clear(out);
		if (fd_read_plain(path, out, NULL) < 0)
			return false;
		if (live_check(out))
			return true;
	}
	return false;
}

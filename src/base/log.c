/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/json_text.h"
#include "base/scope.h"
#include "base/str.h"

#include <string.h>
#include <time.h>

/* Cap of a log line; longer lines are truncated. */
#define LOG_LINE_BYTES_MAX 65536

static const char *const level_names[] = {
	[LOG_DEBUG] = "debug",
	[LOG_INFO] = "info",
	[LOG_WARN] = "warn",
	[LOG_ERROR] = "error",
};

static struct log_options current = { .fd = -1 };

void log_setup(const struct log_options *options)
{
	current = *options;
}

int log_level_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++)
		if (str_eq(name, level_names[i]))
			return (int)i;
	return -1;
}

void log_time(char *text, size_t n)
{
	struct timespec now;
	struct tm tm;
	size_t length;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	length = strftime(text, n, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + length, n - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

static void log_add_json(struct buf *out, const char *key, const char *value)
{
	buf_add_char(out, out->len ? ',' : '{');
	json_text_add(out, key, strlen(key), JSON_TEXT_BYTES);
	buf_add_char(out, ':');
	if (value)
		json_text_add(out, value, strlen(value), JSON_TEXT_BYTES);
	else
		buf_add_str(out, "null");
}

/* Appends a value of a log field. Quotes it if it has blanks, quotes or "=", or if it is empty or
 * the word null. */
static void log_add_text(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, " %s=", key);
	if (!value)
		buf_add_str(out, "null");
	else if (!*value || value[strcspn(value, " \t\r\n\"=")] || str_eq(value, "null"))
		json_text_add(out, value, strlen(value), JSON_TEXT_BYTES);
	else
		str_add_printable(out, value);
}

static void log_add_head(struct buf *out, const struct log_options *to, enum log_level level,
		const char *message)
{
	char time[LOG_TIME_BYTES];

	log_time(time, sizeof(time));
	if (to->json) {
		if (to->time)
			log_add_json(out, "time", time);
		log_add_json(out, "level", level_names[level]);
		log_add_json(out, "message", message);
		return;
	}
	if (to->time)
		buf_printf(out, "%s ", time);
	buf_printf(out, "%s: ", level_names[level]);
	str_add_printable(out, message);
}

void log_line(const struct log_options *to, enum log_level level, const char *message,
		const struct log_field *fields, size_t n)
{
	auto_buf struct buf line = BUF_INIT(LOG_LINE_BYTES_MAX);

	if (!to)
		to = &current;
	if (level < to->level || (to->fd < 0 && !to->write))
		return;
	log_add_head(&line, to, level, message);
	for (size_t i = 0; i < n; i++) {
		if (to->json)
			log_add_json(&line, fields[i].key, fields[i].value);
		else
			log_add_text(&line, fields[i].key, fields[i].value);
	}
	buf_add_str(&line, to->json ? "}\n" : "\n");
	if (line.truncated)
		line.data[line.len - 1] = '\n';
	if (to->write)
		to->write(to->context, line.data, line.len);
	else
		fd_write_full(to->fd, line.data, line.len);
}

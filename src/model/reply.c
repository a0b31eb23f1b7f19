/* SPDX-License-Identifier: Apache-2.0 */
#include "model/reply.h"

#include "base/mem.h"
#include "base/str.h"

#include <errno.h>
#include <stdlib.h>

/* Most bytes kept of each text in a reply. With a byte more than allowed, reply_check() sees that a
 * text is too long. */
#define REPLY_TEXT_BYTES_MAX (REPLY_BYTES_MAX + 1)

/*
 * Most tokens that a server may report for a reply. Larger numbers are ignored: they are errors,
 * and their sum could overflow.
 */
#define TOKENS_MOST 1000000000000

void reply_init(struct reply *r)
{
	*r = (struct reply){
		.content = BUF_INIT(REPLY_TEXT_BYTES_MAX),
		.thinking = BUF_INIT(REPLY_TEXT_BYTES_MAX),
		.kept_thinking = BUF_INIT(REPLY_TEXT_BYTES_MAX),
		.kept_signature = BUF_INIT(REPLY_TEXT_BYTES_MAX),
		.sent = -1,
		.received = -1,
	};
}

void reply_release(struct reply *r)
{
	buf_release(&r->content);
	buf_release(&r->thinking);
	buf_release(&r->kept_thinking);
	buf_release(&r->kept_signature);
	for (size_t i = 0; i < r->n_uses; i++) {
		buf_release(&r->uses[i].id);
		buf_release(&r->uses[i].name);
		buf_release(&r->uses[i].arguments);
	}
	free(r->uses);
	json_decref(r->keep);
	reply_init(r);
}

int reply_check(const struct reply *r, struct fh_error *err)
{
	if (r->bytes > REPLY_BYTES_MAX)
		return error_say(err, EFBIG, "a reply of more than %ld MiB", REPLY_BYTES_MAX >> 20);
	return 0;
}

int reply_add(struct reply *r, struct buf *to, const json_t *text, struct fh_error *err)
{
	size_t before = to->len;

	if (!json_is_string(text))
		return 0;
	str_add_utf8(to, json_string_value(text), json_string_length(text));
	r->bytes += to->len - before;
	return reply_check(r, err);
}

int reply_add_json(struct reply *r, struct buf *to, json_t *value, struct fh_error *err)
{
	auto_buf struct buf text = BUF_INIT(REPLY_BYTES_MAX);
	auto_json json_t *written = NULL;

	json_add(&text, value, false);
	written = json_text(buf_str(&text));
	return reply_add(r, to, written, err);
}

int reply_use(struct reply *r, int64_t index, struct reply_use **out, struct fh_error *err)
{
	for (size_t i = 0; i < r->n_uses; i++) {
		if (r->uses[i].index == index) {
			*out = &r->uses[i];
			return 0;
		}
	}
	if (r->n_uses == REPLY_USES_MAX)
		return error_say(
				err, EFBIG, "a reply that uses more than %d tools", REPLY_USES_MAX);
	r->uses = xrealloc(r->uses, r->n_uses + 1, sizeof(*r->uses));
	*out = &r->uses[r->n_uses++];
	**out = (struct reply_use){
		.id = BUF_INIT(REPLY_TEXT_BYTES_MAX),
		.name = BUF_INIT(REPLY_TEXT_BYTES_MAX),
		.arguments = BUF_INIT(REPLY_TEXT_BYTES_MAX),
		.index = index,
	};
	return 0;
}

void reply_stop(struct reply *r, const json_t *reason, const struct reply_reason *reasons,
		size_t n_reasons)
{
	if (!json_is_string(reason))
		return;
	r->stopped = true;
	for (size_t i = 0; i < n_reasons; i++)
		if (str_eq(json_string_value(reason), reasons[i].name))
			r->stop = reasons[i].stop;
}

int reply_broken(struct fh_error *err, const char *what)
{
	return error_say(err, EPROTO, "a reply that can't be read: %s", what);
}

void reply_count(const json_t *object, const char *key, int64_t *out)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_integer(value) && json_integer_value(value) >= 0 &&
			json_integer_value(value) <= TOKENS_MOST)
		*out = json_integer_value(value);
}

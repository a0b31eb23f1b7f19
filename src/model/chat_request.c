/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "model/chat_model.h"

#include <errno.h>
#include <string.h>

size_t chat_request_bytes(const struct chat_request *request)
{
	size_t n = request->n_raw;

	for (size_t i = 0; i < request->n_messages; i++) {
		const struct chat_message *message = &request->messages[i];

		n += strlen(message->content);
		for (size_t j = 0; j < message->n_uses; j++)
			n += strlen(message->uses[j].arguments);
	}
	for (size_t i = 0; i < request->n_tools; i++)
		if (request->tools[i].parameters)
			n += strlen(request->tools[i].parameters);
	return n;
}

/* Reads the request of another client. A stream could be neither counted nor refused whole. */
static int chat_request_read(const struct chat_model *m, const struct chat_request *request,
		json_t **out, struct fh_error *err)
{
	static const char *const streams[] = { "stream", "stream_options" };
	int r = json_parse("the request", request->raw, request->n_raw, out, err);

	if (r < 0)
		return r;
	if (!json_is_object(*out))
		return error_say(err, EINVAL, "the request is not a JSON object");
	for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
		json_object_del(*out, streams[i]);
	json_object_set_new(*out, "model", json_text(m->name));
	return 0;
}

int chat_request_write(const struct chat_model *m, const struct chat_request *request,
		struct buf *out, json_t **out_sent, struct fh_error *err)
{
	const struct dialect_request written = {
		.model = m->name,
		.options = &m->options,
		.chat = request,
		.own_address = m->own_address,
	};
	auto_json json_t *body = NULL;
	const char *key;
	json_t *value;
	int r = request->raw ? chat_request_read(m, request, &body, err)
			     : m->vendor->dialect->write(&written, &body, err);

	if (r < 0)
		return r;
	/*
	 * Add the user's members `extra` to the request, or replace members of the same name. A
	 * null removes a member.
	 */
	json_object_foreach(m->extra, key, value) {
		if (json_is_null(value))
			json_object_del(body, key);
		else
			json_object_set(body, key, value);
	}
	json_add(out, body, false);
	if (out->truncated)
		return error_say(
				err, EINVAL, "a conversation of more than %zu MiB", out->cap >> 20);
	if (request->raw)
		*out_sent = take_ptr(body);
	return 0;
}

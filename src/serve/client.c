/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/client.h"

#include "base/mem.h"
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

void client_init(struct client *c, struct seats *seats, void (*answered)(void *), void *user)
{
	*c = (struct client){ .seats = seats, .answered = answered, .user = user };
	buf_init(&c->answer, CLIENT_ANSWER_BYTES_MAX);
}

void client_release(struct client *c)
{
	struct seat *s = take_ptr(c->seat);

	/* c->asked is still there, because a session that runs a request is not freed. */
	if (c->asked)
		c->asked->done = NULL;
	c->asked = NULL;
	if (s && c->owns_seat)
		seats_close(c->seats, s);
	buf_release(&c->answer);
	arena_release(&c->arena);
}

bool client_open_seat(struct client *c)
{
	if (c->seat)
		return true;
	c->seat = seats_open(c->seats);
	c->owns_seat = c->seat != NULL;
	return c->seat != NULL;
}

void client_use_seat(struct client *c, struct seat *s)
{
	c->seat = s;
	c->owns_seat = false;
}

void client_begin(struct client *c, enum client_form form)
{
	arena_release(&c->arena);
	buf_clear(&c->answer);
	c->form = form;
	c->rpc_id = NULL;
	c->busy = true;
}

void client_end(struct client *c, int status)
{
	c->status = status;
	c->busy = false;
	c->answered(c->user);
}

/* --- asking the session ----------------------------------------------------------------------- */

/* A seat_done. */
static void client_answered(void *user, const struct seat *s, const struct seat_answer *answer)
{
	struct client *c = user;

	c->asked = NULL;
	c->done(c, s, answer);
}

char *client_call_id(const struct pyjson *id)
{
	if (!id || (id->kind != PYJSON_STRING && id->kind != PYJSON_NUMBER))
		return NULL;
	return xasprintf("%c%s", id->kind == PYJSON_STRING ? '"' : '#', id->text);
}

static void client_name_call(struct client *c)
{
	free(c->seat->call_id);
	c->seat->call_id = client_call_id(c->rpc_id);
}

void client_reset(struct client *c, const struct seat_reset *reset, seat_done *done)
{
	client_name_call(c);
	c->asked = c->seat;
	c->done = done;
	seat_reset(c->seat, reset, client_answered, c);
}

void client_step(struct client *c, const struct fh_action *action, seat_done *done)
{
	client_name_call(c);
	c->asked = c->seat;
	c->done = done;
	seat_step(c->seat, action, client_answered, c);
}

/* --- requests --------------------------------------------------------------------------------- */

static bool client_lacks(const struct pyjson *v)
{
	return !v || v->kind == PYJSON_NULL;
}

/* Reads an optional text without NUL. */
static int client_read_text(
		const struct pyjson *data, const char *key, const char **out, struct fh_error *err)
{
	const struct pyjson *v = pyjson_get(data, key);

	if (client_lacks(v))
		return 0;
	*out = pyjson_string(v);
	if (!*out || str_utf8_invalid(*out, strlen(*out)) >= 0)
		return error_say(err, EINVAL, "'%s' should be a string of valid characters", key);
	return 0;
}

static int client_read_seed(const struct pyjson *data, struct seat_reset *out, struct fh_error *err)
{
	const struct pyjson *v = pyjson_get(data, "seed");
	int64_t seed = -1;

	if (client_lacks(v))
		return 0;
	if (!pyjson_i64(v, &seed) || seed < 0)
		return error_say(err, EINVAL, "'seed' should be a whole number from 0 to %" PRId64,
				INT64_MAX);
	out->seed = (uint64_t)seed;
	out->has_seed = true;
	return 0;
}

int client_read_reset(const struct client *c, const struct pyjson *data, struct seat_reset *out,
		const char **out_field, struct fh_error *err)
{
	const char *task = NULL;
	int r;

	*out = (struct seat_reset){ 0 };
	*out_field = "seed";
	r = client_read_seed(data, out, err);
	if (r < 0)
		return r;
	*out_field = "episode_id";
	r = client_read_text(data, "episode_id", &out->episode_id, err);
	if (r < 0)
		return r;
	if (out->episode_id && !*out->episode_id)
		out->episode_id = NULL;
	if (out->episode_id && strlen(out->episode_id) >= EPISODE_ID_BYTES)
		return error_say(err, EINVAL, "'episode_id' is longer than %d bytes",
				EPISODE_ID_BYTES - 1);
	*out_field = "task";
	r = client_read_text(data, "task", &task, err);
	if (r < 0 || !task)
		return r;
	out->task = host_find_task(c->seats->host, task);
	return out->task ? 0
			 : error_say(err, EINVAL, "this server does not play the task '%.80s'",
					   task);
}

int client_read_step(const struct pyjson *data, struct fh_action *out, const char **out_field,
		struct fh_error *err)
{
	const struct pyjson *timeout = pyjson_get(data, "timeout_s");
	int r;

	*out = FH_ACTION(.text = NULL);
	*out_field = "command";
	r = client_read_text(data, "command", &out->text, err);
	if (r < 0)
		return r;
	if (!out->text)
		return error_say(err, EINVAL, "'command' is missing: a step needs one");
	*out_field = "timeout_s";
	if (client_lacks(timeout))
		return 0;
	if (!pyjson_double(timeout, &out->timeout_s) || out->timeout_s < FH_TIMEOUT_S_MIN)
		return error_say(err, EINVAL, "'timeout_s' should be a number of at least %g",
				FH_TIMEOUT_S_MIN);
	return 0;
}

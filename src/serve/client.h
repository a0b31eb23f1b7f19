/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_CLIENT_H
#define SERVE_CLIENT_H

#include "python/pyjson.h"
#include "serve/seats.h"

/* A client of the server, whatever its protocol and transport. */

enum client_form {
	CLIENT_MESSAGE,     /* OpenEnv over a WebSocket: {"type":...,"data":...} */
	CLIENT_HTTP,        /* OpenEnv over HTTP: data alone, with a status */
	CLIENT_RPC,         /* JSON-RPC */
	CLIENT_RPC_MESSAGE, /* JSON-RPC in a message of OpenEnv: {"type":"mcp","data":...} */
};

/*
 * A client of the server. The transport does not matter: a WebSocket, an HTTP request, or standard
 * input and output. The server answers one message of it at a time, and calls `answered` once for
 * each. It may do so before the function that was given the message returns. `answered` sends
 * `answer`, unless that is empty.
 */
struct client {
	struct seats *seats;
	struct seat *seat; /* NULL: none yet */
	bool owns_seat;    /* the session ends with the client */
	bool must_own;     /* the client may open a session of its own */
	void (*answered)(void *user);
	void *user;

	struct buf answer;
	int status;  /* HTTP status of the answer */
	bool busy;   /* the answer to the last message is still to come */
	bool closed; /* the client asked to close the connection */

	/* the message under way */
	enum client_form form;
	struct arena arena;
	const struct pyjson *rpc_id;
	struct seat *asked;      /* session that runs a reset or step for the client; NULL: none */
	seat_done *done;         /* takes its answer */
	struct fh_action action; /* step that begins when a reset has ended */
};

#define CLIENT_ANSWER_BYTES_MAX (64L << 20)
#define CLIENT_MESSAGE_BYTES_MAX (8L << 20)

void client_init(struct client *c, struct seats *seats, void (*answered)(void *), void *user);

/* Ends the client, and its session if it owns that. A session of others goes on with its request,
 * whose answer is dropped. */
void client_release(struct client *c);

/* Opens the client's own session if it has none. False: the server is full. */
bool client_open_seat(struct client *c);

/* Uses a session that outlives the client. */
void client_use_seat(struct client *c, struct seat *s);

/* Begin and end the handling of a message. */
void client_begin(struct client *c, enum client_form form);
void client_end(struct client *c, int status);

/* Returns the name of a JSON-RPC call by its `id`, a heap string. A number and a string have
 * different names. NULL: it has none. */
char *client_call_id(const struct pyjson *id);

/* Begin a reset or step of the client's session, which must be idle. `done` gets the client and the
 * answer, perhaps at once. It is not called after client_release(). */
void client_reset(struct client *c, const struct seat_reset *reset, seat_done *done);
void client_step(struct client *c, const struct fh_action *action, seat_done *done);

/* --- requests that protocols share ------------------------------------------------------------ */

/* Reads a reset's seed, episode_id and task; `data` may be NULL. -EINVAL: one is wrong, and
 * *out_field names it. */
int client_read_reset(const struct client *c, const struct pyjson *data, struct seat_reset *out,
		const char **out_field, struct fh_error *err);

/* Reads a step's command and timeout_s. */
int client_read_step(const struct pyjson *data, struct fh_action *out, const char **out_field,
		struct fh_error *err);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_CONNECTION_H
#define SERVE_CONNECTION_H

#include "serve/client.h"
#include "web/guard.h"
#include "serve/inbox.h"
#include "web/lws.h"

#include <sys/queue.h>

struct net;

/* room for "name=value" of a URL */
#define URL_ARGUMENT_BYTES 512

enum connection_door {
	DOOR_HTTP,
	DOOR_OPENENV, /* the WebSocket /ws */
	DOOR_MCP,     /* the WebSocket /mcp */
};

/*
 * A connection of the server, with the client that sends over it. libwebsockets owns the socket and
 * calls the functions below, from one thread.
 *
 * A WebSocket's messages are answered one after the other. A message waits in the inbox until the
 * answer before it has been sent. When the inbox is full, the socket is not read.
 */
struct connection {
	struct net *net;
	struct lws *wsi;
	struct connection *next, *before;
	bool unproven;
	TAILQ_ENTRY(connection) link; /* link in the list net.unproven */
	enum connection_door door;
	struct client client;
	bool has_client;
	struct buf in;    /* message or body that is being received */
	size_t sent;      /* bytes of the client's answer that were sent */
	bool sending;     /* an answer is being sent */
	int close_status; /* WebSocket: status with which to close after the answer; 0: none */

	bool stopped; /* the socket is not read */

	/* a WebSocket */
	struct inbox inbox;
	bool timed; /* a timeout runs for bytes that are being sent */
	/* session to use; "" for a new one */
	char session_id[SEAT_ID_BYTES];
	bool attached; /* the session outlives the connection */

	/* an HTTP request */
	const struct route *route;
	int refused;       /* status that refuses the request; 0: none */
	bool taken;        /* the request is whole, and was answered or is under way */
	const char *mime;  /* type of the answer */
	bool headed;       /* the answer's headers were sent */
	bool takes_events; /* the client can take the answer as an event of a stream */
	bool streams;      /* the answer is an event of a stream */
	bool ending;       /* close when the answer is sent */
	int64_t asked_ns;
	bool bodied;     /* libwebsockets reads the request as one with a body */
	bool unsure;     /* more bytes may have come with the request */
	int turns;       /* times that the socket was writable since the request or its answer */
	int64_t more_ns; /* time when bytes were found behind the request; 0: there are none */
	char opened_session[SEAT_ID_BYTES]; /* header Mcp-Session-Id of the answer; "": none */
};

TAILQ_HEAD(connections, connection);

struct net {
	struct host *host;
	struct seats seats;
	struct guard guard;
	struct lws_context *context;
	struct connection *connections;
	size_t n_connections;
	/*
	 * Connections without an allowed request yet, the oldest first. The oldest is dropped when
	 * there are more than max_unproven, so that clients without a token keep nobody out.
	 */
	struct connections unproven;
	int n_unproven, max_unproven;
	struct lws *stop; /* stands for the descriptor stop_fd */
	lws_sorted_usec_list_t tick;
	int64_t drain_end_ns; /* INT64_MAX: the server is not draining */
	bool over;
	struct fh_error error; /* if code is not 0: why the server ends */
};

/* Gives the headers that the guard checks. The texts live in `texts`. */
struct guard_texts {
	char host[256], origin[512], authorization[1024];
};
enum guard_verdict connection_guard(
		struct connection *c, struct guard_texts *texts, bool with_token);

/* Adds a new connection to net.unproven, and drops the oldest if there are too many. */
void connection_begin(struct connection *c);

/* Stop and go on reading the socket. While it is stopped, the library calls nothing for the
 * connection, not even when the socket is writable. */
void connection_stop(struct connection *c);
void connection_go_on(struct connection *c);

/* Removes a connection from net.unproven: it showed the token, or ends. */
void connection_prove(struct connection *c);

#endif

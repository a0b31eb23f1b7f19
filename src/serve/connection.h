/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_CONNECTION_H
#define SERVE_CONNECTION_H

#include "base/request_reader.h"
#include "serve/client.h"
#include "serve/frames.h"
#include "serve/inbox.h"
#include "web/guard.h"
#include "web/lws.h"

#include <sys/queue.h>

/* A connection over HTTP or a WebSocket. */

struct net;

#define CONNECTION_CHUNK_BYTES (32L << 10) /* most bytes of an answer that are sent at a time */
#define CONNECTION_HEAD_MAX 1024
#define CONNECTION_SEND_TIMEOUT_S 30 /* a client that takes no data for this long is gone */

enum connection_door {
	DOOR_HTTP,
	DOOR_OPENENV, /* the WebSocket /ws */
	DOOR_MCP,     /* the WebSocket /mcp */
};

/*
 * A connection of the server, with the client that sends over it. libwebsockets owns the socket,
 * and gives the bytes that come. It calls the functions below, from one thread.
 *
 * Requests of HTTP are answered one after the other. While one is under way, the socket is not
 * read. Messages of a WebSocket are read meanwhile, and wait in the inbox. When the inbox is full,
 * the socket is not read.
 */
struct connection {
	struct net *net;
	struct lws *wsi;
	struct connection *next, *before;
	bool unproven;
	TAILQ_ENTRY(connection) link; /* link in the list net.unproven */
	enum connection_door door;
	struct client client; /* HTTP: of the request under way */
	bool has_client;
	size_t sent;  /* bytes of the client's answer that were sent */
	bool sending; /* an answer is being sent */
	bool stopped; /* the socket is not read */
	bool ended;   /* all is written. Further bytes are dropped. */

	/* a WebSocket */
	struct frames frames;
	struct inbox inbox;
	int close_status; /* status with which to close after the answer; 0: none */
	int64_t heard_ns; /* when the client sent something */
	bool pinged;      /* a ping was sent since then */
	bool timed;       /* a timeout runs for bytes that are being sent */
	/* session to use; "" for a new one */
	char session_id[SEAT_ID_BYTES];
	bool attached; /* the session outlives the connection */

	/* an HTTP request */
	struct buf in; /* bytes that were not taken yet */
	struct request_reader request;
	bool begun;   /* a timeout runs for the request's head */
	bool checked; /* the head was checked */
	const struct route *route;
	const char *mime; /* type of the answer */
	bool headed;      /* the answer's headers were sent */
	bool streams;     /* the answer is an event of a stream */
	bool closes;      /* close when the answer is sent */
	int64_t asked_ns;
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
	struct lws *stop; /* libwebsockets' object for the descriptor stop_fd */
	lws_sorted_usec_list_t tick;
	int64_t drain_end_ns; /* INT64_MAX: the server is not draining */
	bool over;
	struct fh_error error; /* if code is not 0: why the server ends */
};

/* Adds a new connection to net.unproven, and drops the oldest if there are too many. */
void connection_begin(struct connection *c);

/* Removes a connection from net.unproven: it showed the token, or ends. */
void connection_prove(struct connection *c);

/* Closes the connection if it isn't used for this long. 0: it stays open. */
void connection_set_timeout(struct connection *c, int seconds);

/* Stop and go on reading the socket. */
void connection_stop(struct connection *c);
void connection_go_on(struct connection *c);

/* Sends a head of at most CONNECTION_HEAD_MAX bytes, and at most CONNECTION_CHUNK_BYTES of data.
 * Both are copied. Returns -1 if the connection is broken. */
int connection_send(
		struct connection *c, const char *head, size_t n_head, const char *data, size_t n);

/*
 * Ends a connection whose last bytes were written, and frees its client. The connection closes when
 * the other end closes it, or after some seconds. Closing at once could lose the last bytes, if the
 * client still sends.
 */
void connection_end(struct connection *c);

/* Call it when an ended connection has sent its last bytes. */
void connection_linger(struct connection *c);

#endif

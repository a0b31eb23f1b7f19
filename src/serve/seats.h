/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_SEATS_H
#define SERVE_SEATS_H

#include "serve/seat.h"

/*
 * All sessions of a server. The caller waits until fh_gym_fd() or openings.fd of the host is
 * readable, then calls seats_advance(). It calls seats_tick() each second.
 */
struct seats {
	struct host *host;
	TAILQ_HEAD(seat_list, seat) list; /* in the order in which they were opened */
	size_t n; /* sessions that are not closing: these count for max_sessions */
	bool draining;
};

#define SEATS_INIT(seats, its_host)                                                                \
	{                                                                                          \
		.host = (its_host), .list = TAILQ_HEAD_INITIALIZER((seats).list)                   \
	}

/* Opens a session. NULL: the server has max_sessions, or is draining. */
struct seat *seats_open(struct seats *all);

/* Finds a session by its id; NULL: there is none that is not closing. */
struct seat *seats_find(const struct seats *all, const char *id);

/* Finds the detached session that plays the episode; NULL: there is none. */
struct seat *seats_find_episode(const struct seats *all, const char *episode_id);

/* Ends a session, which must not be used afterwards. */
void seats_close(struct seats *all, struct seat *s);

/* Does all that is ready. Never blocks. */
int seats_advance(struct seats *all, struct fh_error *err);

/* Closes detached sessions that were idle for too long. */
void seats_tick(struct seats *all);

/* True if requests are under way or records are being written. */
bool seats_busy(const struct seats *all);

/* Waits until all sessions have ended their records, and frees them. */
void seats_end(struct seats *all);

#endif

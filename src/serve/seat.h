/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_SEAT_H
#define SERVE_SEAT_H

#include "run/record.h"
#include "serve/host.h"

#include <sys/queue.h>

/* A session of a server: one client's environment, and the record of its episode. */

enum seat_phase {
	SEAT_IDLE,
	SEAT_QUEUED,  /* too many threads open environments: the reset waits */
	SEAT_OPENING, /* a thread opens the environment for a reset */
	SEAT_RESETTING,
	SEAT_STEPPING,
	SEAT_WRITING, /* a thread writes the record */
	SEAT_CLOSED,  /* the seat may be freed */
};

enum seat_failure {
	SEAT_OK,
	SEAT_INVALID,    /* the request is wrong, and changed nothing */
	SEAT_TOO_LARGE,  /* the action is too long, and changed nothing */
	SEAT_NO_OPENING, /* the environment could not be opened */
	SEAT_FAILED,
};

struct seat;

struct seat_answer {
	enum seat_failure failure;
	const char *message;        /* if it failed: the reason */
	const struct fh_step *step; /* result of the reset or step; NULL: it failed */
	bool is_reset;
};

/* Takes the answer of a request. Pointers are valid during the call. */
typedef void seat_done(void *user, const struct seat *s, const struct seat_answer *answer);

#define SEAT_ID_BYTES 33
#define EPISODE_ID_BYTES 256

/*
 * A seat: one client's environment with the record of its episode. OpenEnv and MCP call it a
 * session. A client sends one request at a time, a reset or a step. The request's callback gets the
 * answer once the record holds it.
 *
 * No function blocks. A thread opens the environment, and a thread writes what must reach the disk.
 * The owner calls seat_advance() when such a thread has ended. Then it calls seat_leave_queue() of
 * all seats, since the thread may have made room. It calls seat_take() when fh_gym_wait() gives the
 * seat's environment.
 */
struct seat {
	struct host *host;
	TAILQ_ENTRY(seat) link;
	char id[SEAT_ID_BYTES];
	char episode_id[EPISODE_ID_BYTES]; /* client's name of the episode */
	enum seat_phase phase;
	/* No connection uses the seat. A `detached` seat is closed when it was idle for too long,
	 * a `closing` one now. */
	bool closing, detached;
	bool going_on;     /* an episode has begun and not ended */
	int64_t active_ns; /* time of the last request or answer */

	const struct host_task *task; /* task of `env` */
	struct opening *opening;
	struct fh_env *env;
	struct fh_env_info info;
	struct fh_step step; /* last result; its strings belong to the environment */
	uint64_t next_seed;  /* seed of the next reset that names none */

	/* the request under way */
	seat_done *done;
	void *user;
	char *call_id; /* name of the JSON-RPC call that it is part of; NULL: none */
	const struct host_task *wanted; /* task of the reset */
	uint64_t seed;
	char *action;
	int64_t asked_ns;

	struct run_record record;
	bool recording; /* the record has begun and not ended */
	struct job *job;
	const char *end;  /* exit status with which the job ends the record; NULL: it does not */
	bool writes_step; /* the job records the last step */
};

struct seat_reset {
	const struct host_task *task; /* NULL: the task that the session has, else the default */
	const char *episode_id;       /* NULL: a new one is drawn */
	bool has_seed;
	uint64_t seed;
};

struct seat *seat_new(struct host *host);

/* Begin a request; the callback gets its answer, perhaps at once. The seat must be idle. */
void seat_reset(struct seat *s, const struct seat_reset *reset, seat_done *done, void *user);
void seat_step(struct seat *s, const struct fh_action *action, seat_done *done, void *user);

/* Takes the result of the seat's thread, if the thread has ended. */
void seat_advance(struct seat *s);

/* Begins to open the environment of a queued reset, if a thread may be started. */
void seat_leave_queue(struct seat *s);

/* Takes the result of the environment's reset or step. */
void seat_take(struct seat *s);

/* Interrupts the step under way, as a timeout would, if it is part of the named call. Returns false
 * if another call was the last one. `s`: NULL is fine. */
bool seat_cancel(struct seat *s, const char *call_id);

/* Ends the seat, its episode and its record. A request under way fails. Frees nothing: the
 * phase becomes SEAT_CLOSED, perhaps later. */
void seat_close(struct seat *s);

/* Frees a closed seat. */
void seat_free(struct seat *s);

/* Draws 128 random bits as hexadecimal. */
void seat_draw_id(char id[SEAT_ID_BYTES]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_TAKEOVER_H
#define RUN_TAKEOVER_H

#include "base/error.h"
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * A mailbox for orders of a person who takes over running episodes. Episodes are played in one
 * thread, and the person is served in another. Each episode has a desk. The serving thread leaves
 * orders there. The playing thread takes them before the model's next reply, and wakes by a
 * descriptor.
 *
 * An order is accepted or refused at once, by the state of the desk. So two pages can't both act in
 * the same step. Desks live until takeover_free(). A lock is held for a few instructions only.
 */
struct takeover;
struct desk;

int takeover_new(struct takeover **out, struct fh_error *err);
void takeover_free(struct takeover *t); /* NULL is fine; no other thread may use it any more */

enum desk_order_kind {
	DESK_PAUSE,  /* wait for the person before the model's next reply */
	DESK_LET_GO, /* let the model go on */
	DESK_HINT,   /* a message for the model */
	DESK_ACT,    /* take a step by hand */
	/* end the running command, as Ctrl-C does, or drop the reply that a paused model is at */
	DESK_INTERRUPT,
};

struct desk_order {
	enum desk_order_kind kind;
	char *text;                /* hint or action, on the heap; NULL: none */
	char *thought;             /* thought before the action, on the heap; NULL: none */
	char time[LOG_TIME_BYTES]; /* when the order was given */
};

void desk_order_release(struct desk_order *order);

/* Name of a kind in records and requests: "pause". */
const char *desk_order_name(enum desk_order_kind kind);

/* --- the playing thread ----------------------------------------------------------------------- */

/* Descriptor that is readable after an order, until takeover_came() is called. */
int takeover_fd(const struct takeover *t);
bool takeover_came(struct takeover *t);

struct desk_options {
	const char *record; /* path of the episode's events.jsonl */
	bool is_human;      /* a person takes each step */
	bool thinks;        /* a person gives a thought with each step */
	bool takes_hints;   /* a language model plays */
};

struct desk *desk_open(struct takeover *t, const struct desk_options *options);

enum desk_state {
	DESK_BUSY,   /* a command or the reset runs */
	DESK_MODEL,  /* the model decides */
	DESK_PERSON, /* the episode waits for a person */
	DESK_ENDED,
};

/* Shows the state of the episode, and the number of its next step. NULL as desk: does nothing. */
void desk_show(struct desk *d, enum desk_state state, int step);

/* Takes the next order, which the caller releases. False: there is none. */
bool desk_take(struct desk *d, struct desk_order *out);

/* Takes a person's order to interrupt the running command or the model. False: there is none. */
bool desk_take_interrupt(struct desk *d);

/* Returns true if the episode should wait for a person. */
bool desk_is_held(struct desk *d);

/* --- the serving thread ----------------------------------------------------------------------- */

/* State of an episode as a person sees it. */
struct desk_view {
	enum desk_state state;
	struct desk_options options; /* `record` is NULL */
	bool is_paused;              /* the episode waits before the model's next reply */
	int step;                    /* number of the next step */
};

/* Looks at the desk of a record. False: no episode of this run has this record. */
bool takeover_look(struct takeover *t, const char *record, struct desk_view *out);

/*
 * Gives an order, whose texts the desk takes over. `step` is the step that the person wants to act
 * in. -ENOENT: no episode of this run has this record. -EBUSY: not now; -EINVAL: not in this
 * episode. `err` has a sentence for the person.
 */
int takeover_give(struct takeover *t, const char *record, struct desk_order *order, int step,
		struct fh_error *err);

/* Path of the record of the first unfinished episode, on the heap. NULL: there is none. */
char *takeover_first(struct takeover *t);

/* Returns true if a person looked at a desk in the last seconds. */
bool takeover_is_watched(struct takeover *t);

#endif

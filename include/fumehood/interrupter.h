/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_INTERRUPTER_H
#define FUMEHOOD_INTERRUPTER_H

#include <fumehood/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Interrupts end what an environment does: a command as a timeout would, or its scoring, an
 * opening, a reset. The operation then ends within moments. A step has the outcome
 * FH_OUTCOME_INTERRUPTED, all else fails with -ECANCELED.
 *
 * An interrupt is for the operation that is under way, until fh_env_end() has taken its result. If
 * there is none, it is for the next step, validate, submit or aside, which then runs nothing. A
 * reset forgets an interrupt that came before it.
 */
struct fh_env;

/*
 * Interrupts an environment. Any thread may call it, and a signal handler. The environment must not
 * be closed before the call has returned. A thread that can't know this uses an interrupter.
 */
FH_PUBLIC void fh_env_interrupt(struct fh_env *env);

/*
 * An interrupter of an environment may outlive it. So it is safe while another thread closes the
 * environment, and does nothing afterwards.
 */
struct fh_interrupter;

/* Returns a new reference to the interrupter of an environment, for fh_interrupter_free(). */
FH_PUBLIC struct fh_interrupter *fh_env_interrupter(struct fh_env *env);

/* Does what fh_env_interrupt() does. Any thread may call it, and a signal handler. */
FH_PUBLIC void fh_interrupter_fire(struct fh_interrupter *interrupter);

/* Gives a reference back. NULL is fine. Not for signal handlers. */
FH_PUBLIC void fh_interrupter_free(struct fh_interrupter *interrupter);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LIBEDIT_H
#define MODEL_LIBEDIT_H

#include <histedit.h>
#include <stdbool.h>

/*
 * libedit (https://thrysoee.dk/editline/), loaded when a person first types: no other program start should take
 * longer for it. Of its functions those that are used, in `libedit` after libedit_load().
 */
#define LIBEDIT_FUNCTIONS(X)                                                                       \
	X(el_end)                                                                                  \
	X(el_get)                                                                                  \
	X(el_gets)                                                                                 \
	X(el_init_fd)                                                                              \
	X(el_insertstr)                                                                            \
	X(el_line)                                                                                 \
	X(el_resize)                                                                               \
	X(el_set)                                                                                  \
	X(el_source)                                                                               \
	X(el_wset)                                                                                 \
	X(history)                                                                                 \
	X(history_end)                                                                             \
	X(history_init)

struct libedit {
#define LIBEDIT_MEMBER(name) __typeof__(&name) name;
	LIBEDIT_FUNCTIONS(LIBEDIT_MEMBER)
#undef LIBEDIT_MEMBER
};

extern struct libedit libedit;

/* False if it is not there: lines are typed without it, too. Once is enough; one thread at a time. */
bool libedit_load(void);

#endif

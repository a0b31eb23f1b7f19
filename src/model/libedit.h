/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_LIBEDIT_H
#define MODEL_LIBEDIT_H

#include <histedit.h>
#include <stdbool.h>

/*
 * libedit (https://thrysoee.dk/editline/), loaded when a person first types, so that other starts
 * of the program stay fast. libedit_load() fills the struct `libedit` with the functions that are
 * used.
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

/* False if the library is missing: lines can be typed without it. For one thread at a time. */
bool libedit_load(void);

#endif

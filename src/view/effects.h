/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_EFFECTS_H
#define VIEW_EFFECTS_H

#include "base/arena.h"

#include <stddef.h>

/*
 * Tells what the shell commands of an action do to files, as far as their text alone shows it. The
 * text is untrusted.
 */
enum effect_kind {
	EFFECT_FOLDER, /* cd PATH */
	EFFECT_WRITE,  /* PATH gets the text of a here-document, or of echo */
	EFFECT_APPEND,
	EFFECT_REMOVE,
	EFFECT_COPY, /* PATH to TO */
	EFFECT_MOVE,
	EFFECT_PRINT,   /* cat PATH */
	EFFECT_NONE,    /* a command that changes no file's text */
	EFFECT_UNKNOWN, /* a command that may change any file */
};

struct effect {
	enum effect_kind kind;
	const char *path, *to; /* as the command names them */
	const char *text;      /* text that is written; NULL: the shell makes it of variables */
	size_t n;
};

typedef void effect_take(void *user, const struct effect *effect);

/* Takes the effects in their order. An EFFECT_UNKNOWN means that the rest of an action can't be
 * followed. Texts live in the action and the arena. */
void effects_read(struct arena *a, const char *action, size_t n, effect_take *take, void *user);

#endif

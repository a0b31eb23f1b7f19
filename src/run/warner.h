/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_WARNER_H
#define RUN_WARNER_H

/*
 * Where warnings go, for this layer prints nothing: sentences for the user, without a full stop. Any of its
 * functions that takes a warner takes NULL as well, and then nobody is warned.
 */
struct warner {
	void (*warn)(void *user, const char *sentence);
	void *user;
};

void warner_say(const struct warner *warner, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

#endif

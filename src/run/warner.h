/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_WARNER_H
#define RUN_WARNER_H

/*
 * Callback for warnings to the user: sentences without a full stop. Functions in src/run accept a
 * NULL warner, and then drop the warnings.
 */
struct warner {
	void (*warn)(void *user, const char *sentence);
	void *user;
};

void warner_say(const struct warner *warner, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUN_WARNER_H
#define RUN_WARNER_H

/*
 * Callback for warnings: sentences for the user, without a full stop. Functions of this layer that
 * take a warner take NULL as well, and then nobody is warned.
 */
struct warner {
	void (*warn)(void *user, const char *sentence);
	void *user;
};

void warner_say(const struct warner *warner, const char *format, ...)
		__attribute__((format(printf, 2, 3)));

#endif

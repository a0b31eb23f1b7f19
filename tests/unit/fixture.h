/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Shared by many tests: assertions that print the values found, and a folder of the test's own. */

/* Fails the test with the message in `error` if a call failed. The including file has the struct
 * fh_error `error`. */
#define assert_done(call)                                                                          \
	do {                                                                                       \
		if ((call) < 0)                                                                    \
			fail_msg("%s", error.message);                                             \
	} while (0)

/* Both assertions about a text also fail if the text is NULL. */
#define assert_has(text, needle)                                                                   \
	do {                                                                                       \
		const char *assert_text = (text);                                                  \
		if (!assert_text || !strstr(assert_text, needle))                                  \
			fail_msg("no '%s' in '%s'", needle, assert_text ? assert_text : "");       \
	} while (0)

#define assert_lacks(text, needle)                                                                 \
	do {                                                                                       \
		const char *assert_text = (text);                                                  \
		if (!assert_text || strstr(assert_text, needle))                                   \
			fail_msg("'%s' is in '%s'", needle, assert_text ? assert_text : "");       \
	} while (0)

#define FOLDER_MAX 64

/* Makes a folder with a random name in /tmp. Returns 0, or -1 on failure, as cmocka expects of a
 * set-up. */
static inline int folder_make(char path[FOLDER_MAX])
{
	snprintf(path, FOLDER_MAX, "/tmp/fumehood-test-XXXXXX");
	return mkdtemp(path) ? 0 : -1;
}

static inline int folder_remove_one(
		const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/* Removes a folder and all that is in it. */
static inline int folder_remove(const char *path)
{
	return nftw(path, folder_remove_one, 16, FTW_PHYS | FTW_DEPTH);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view_token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define TOKEN_BYTES 16
#define TOKEN_BYTES_MIN 8

int view_token(struct arena *a, const char **out, struct fh_error *err)
{
	static const char allowed[] =
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *given = getenv("FUMEHOOD_TOKEN");
	unsigned char bytes[TOKEN_BYTES];
	char *token;

	if (given && (strlen(given) < TOKEN_BYTES_MIN || given[strspn(given, allowed)]))
		return error_say(err, EINVAL,
				"$FUMEHOOD_TOKEN should have %d or more letters, digits, - and _",
				TOKEN_BYTES_MIN);
	*out = given;
	if (given)
		return 0;
	while (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		;
	token = arena_alloc(a, 2 * sizeof(bytes) + 1);
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	*out = token;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sized.h"

#include <errno.h>
#include <string.h>

/* No struct of the API comes near this size. A larger one is memory that was never set. */
#define SIZE_MAX_SANE 4096

int sized_read(void *out, size_t size, const void *given, const char *name, struct fh_error *err)
{
	size_t theirs = 0;

	if (given)
		memcpy(&theirs, given, sizeof(theirs));
	if (given && (theirs < sizeof(theirs) || theirs > SIZE_MAX_SANE))
		return error_say(err, EINVAL, "the size of struct %s is not set", name);
	for (size_t i = size; i < theirs; i++)
		if (((const char *)given)[i])
			return error_say(err, E2BIG,
					"struct %s has a member that this version of the library lacks",
					name);
	memset(out, 0, size);
	if (given)
		memcpy(out, given, theirs < size ? theirs : size);
	memcpy(out, &size, sizeof(size));
	return 0;
}

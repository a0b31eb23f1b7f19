/* SPDX-License-Identifier: Apache-2.0 */
#include "base/refusal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool refusal_is_shortage(int code)
{
	return code == -EAGAIN || code == -ENOMEM || code == -EMFILE || code == -ENFILE;
}

int error_see_doctor(struct fh_error *err)
{
	size_t at;

	if (!err)
		return -EIO;
	if (!refusal_is_shortage(err->code)) {
		at = strnlen(err->message, sizeof(err->message) - sizeof(ERROR_SEE_DOCTOR));
		snprintf(err->message + at, sizeof(err->message) - at, "%s", ERROR_SEE_DOCTOR);
	}
	return err->code < 0 ? err->code : -EIO;
}

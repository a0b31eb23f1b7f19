/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_REFUSAL_H
#define BASE_REFUSAL_H

#include "base/error.h"

/*
 * Appends "run `fumehood doctor`" to an error of a machine that lacks something for sandboxes,
 * such as namespaces or subordinate ids. A shortage (EAGAIN, ENOMEM, EMFILE, ENFILE) will pass, so
 * its message stays. Returns err->code, or -EIO if err is NULL.
 */
int error_see_doctor(struct fh_error *err);
#define ERROR_SEE_DOCTOR "; run `fumehood doctor`"

#endif

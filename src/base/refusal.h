/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_REFUSAL_H
#define BASE_REFUSAL_H

#include "base/error.h"

/*
 * Ends a message with where to look when this machine refuses what a sandbox needs, such as a namespace
 * or subordinate ids. A shortage (EAGAIN, ENOMEM, EMFILE, ENFILE) passes: its message stays as it is.
 * Returns err->code, or -EIO if err is NULL.
 */
int error_see_doctor(struct fh_error *err);
#define ERROR_SEE_DOCTOR "; run `fumehood doctor`"

#endif

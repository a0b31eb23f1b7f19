/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_DOTENV_H
#define MODEL_DOTENV_H

#include "base/buf.h"
#include "base/error.h"

#define DOTENV_BYTES_MAX (64 * 1024)

/*
 * Sets environment variables from a file of KEY=VALUE lines. Variables that are set already stay. A
 * file is untrusted, because a checkout may contain one. So it may set only the variables that
 * docs/models.md lists. It can't set a proxy or move this program's folders. A URL that it sets
 * gets no API key from elsewhere.
 *
 *   # a comment
 *   OPENAI_API_KEY=sk-...        # and another
 *   export NAME = "two words\n"  \n \r \t \" \\ \$ within double quotes
 *   OTHER='as it is'             quotes may span lines
 *
 * $NAME is not replaced. Ignored variables that would matter to this program are listed in
 * left_out, as "FILE:LINE: NAME, ...". A missing file is not an error. -EINVAL with "FILE:LINE:
 * ...": the file is malformed, and no variable is set. Errors show no values. Call this before
 * threads start.
 */
int dotenv_load(const char *path, struct buf *left_out, struct fh_error *err);

/* Path of the .env file that set this environment variable; NULL if no file did. */
const char *dotenv_source(const char *name);

#endif

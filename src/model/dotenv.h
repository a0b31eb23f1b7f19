/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_DOTENV_H
#define MODEL_DOTENV_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Sets the environment's variables that a file gives as KEY=VALUE lines, that are not set yet, and that a file may
 * set (docs/models.md lists them): it may be a stranger's, as part of a checkout is, so that it has no say in where this
 * program keeps its own, or which way its requests go.
 *
 *   # a comment
 *   OPENAI_API_KEY=sk-...        # and another
 *   export NAME = "two words\n"  \n \r \t \" \\ \$ within double quotes
 *   OTHER='as it is'             quotes may go over many lines
 *
 * What is left out though it would mean something to this program is listed in left_out, as "FILE:LINE: NAME, ...".
 * Nothing is put in for $NAME. A file that is not there is fine. -EINVAL with "FILE:LINE: ..." for one
 * that is wrong, of which nothing is set then; its values are never shown. For use before there are
 * threads.
 */
#define DOTENV_BYTES_MAX (64 * 1024)

int dotenv_load(const char *path, struct buf *left_out, struct fh_error *err);

/* The path of the file that a variable has its value from; NULL: from elsewhere, or it has none. */
const char *dotenv_source(const char *name);

#endif

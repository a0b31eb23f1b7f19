/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include "base/buf.h"

/* Prints a text on stdout, on a terminal by $PAGER (default: less). less prints a short text. */
void pager_print(const struct buf *text);

#endif

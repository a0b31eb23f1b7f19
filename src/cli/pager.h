/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include "base/buf.h"

/* Prints a text on stdout. On a terminal it goes through $PAGER (default: less). less just prints a
 * text that fits the screen. */
void pager_print(const struct buf *text);

#endif

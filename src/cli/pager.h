/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include "base/buf.h"

/* Prints a text on stdout: on a terminal by $PAGER (`less` without it), which `less` leaves at once if the text fits. */
void pager_print(const struct buf *text);

#endif

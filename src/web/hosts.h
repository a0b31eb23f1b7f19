/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HOSTS_H
#define WEB_HOSTS_H

#include "base/error.h"

#include <stdbool.h>

/*
 * An allow-list of places in the web, with commas between:
 *
 *   example.org           http and https, at their usual ports
 *   *.example.org         the same for what lies beneath, and not for example.org itself
 *   https://host[:port]   that scheme and port only, wherever the name leads
 *   papers                where papers are found and read: papers.h
 */
int hosts_check(const char *list, struct fh_error *err); /* -EINVAL */

/* Whether an entry with its scheme names the place, which then may lie in a network of one's own. */
bool hosts_allow_private(const char *list, const char *scheme, const char *host, const char *port);

/* NULL allows nothing. Of a URL's parts as they are asked for: scheme and host in lower case. */
bool hosts_allow(const char *list, const char *scheme, const char *host, const char *port);

#endif

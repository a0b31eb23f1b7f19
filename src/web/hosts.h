/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_HOSTS_H
#define WEB_HOSTS_H

#include "base/error.h"

#include <stdbool.h>

/*
 * An allow-list of places in the web, separated by commas:
 *
 *   example.org           http and https, at their default ports
 *   *.example.org         the same for its subdomains, without example.org itself
 *   https://host[:port]   this scheme and port only; the address may be private
 *   papers                the search of papers.h, and sites that serve papers
 *
 * hosts_check() checks the syntax of a list. -EINVAL.
 */
int hosts_check(const char *list, struct fh_error *err);

/* Returns true if an entry of the allow-list with a scheme names this place. The place may then
 * have a private address (loopback, link-local). */
bool hosts_allow_private(const char *list, const char *scheme, const char *host, const char *port);

/* Returns true if the allow-list has the place with these parts of a URL, in lower case. A NULL
 * list allows nothing. */
bool hosts_allow(const char *list, const char *scheme, const char *host, const char *port);

#endif

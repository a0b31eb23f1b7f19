/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_HTTP_PHRASE_H
#define BASE_HTTP_PHRASE_H

/* The phrase that follows a status in the first line of an HTTP answer (RFC 9110). "Unknown" for a
 * status that no server of ours sends. */
const char *http_phrase(int status);

#endif

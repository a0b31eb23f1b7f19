/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_STATUS_WORDS_H
#define SERVE_STATUS_WORDS_H

/* The statuses with which the server answers requests. */
struct status_words {
	int number;
	const char *phrase;
	const char *detail; /* tells the client why a request was refused */
};

/* Never NULL. */
const struct status_words *status_words(int number);

#endif

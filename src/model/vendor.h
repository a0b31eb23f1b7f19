/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_VENDOR_H
#define MODEL_VENDOR_H

#include "model/dialect.h"

/* A provider of language models. */
struct vendor {
	const char *name; /* stands before the ":" of a spec, or before the "/" after "litellm:" */
	const struct dialect *dialect;
	const char *url;          /* NULL: each user has an own one */
	const char *url_variable; /* replaces `url`; NULL: none */
	const char *key_variable; /* NULL: needs no key */
};

/* True if a provider's name or "litellm" stands before the ":" of the spec. */
bool vendor_is_spec(const char *spec);

/* True for a variable that holds a provider's URL or key. */
bool vendor_has_variable(const char *name);

/* -EINVAL for "litellm:PROVIDER/NAME" with an unknown provider, whose URL is unknown too. */
int vendor_check_provider(const char *spec, struct fh_error *err);

/* Finds the provider, and the model's name, which lies within the spec. -EINVAL. */
int vendor_find(const char *spec, const struct vendor **out, const char **out_model,
		struct fh_error *err);

#endif

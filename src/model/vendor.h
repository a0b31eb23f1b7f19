/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_VENDOR_H
#define MODEL_VENDOR_H

#include "model/dialect.h"

/* A provider of language models. */
struct vendor {
	/* provider's name: in a spec before the ":", or between "litellm:" and "/" */
	const char *name;
	const struct dialect *dialect;
	/* default base URL of the provider's servers; NULL: each user has another */
	const char *url;
	/* name of the environment variable whose URL replaces `url`; NULL: none */
	const char *url_variable;
	/* name of the environment variable with the provider's API key; NULL: no key needed */
	const char *key_variable;
};

/* Returns true if a model's spec begins with a provider's name or "litellm", then ":". */
bool vendor_is_spec(const char *spec);

/* Returns true for an environment variable that holds a provider's URL or API key. */
bool vendor_has_variable(const char *name);

/* Checks the provider that a model's spec names. -EINVAL for "litellm:PROVIDER/NAME" with an
 * unknown provider. */
int vendor_check_provider(const char *spec, struct fh_error *err);

/* Finds the provider that a model's spec names. *out_model is the model's name, and points into the
 * spec. -EINVAL: the spec is unknown, or names no model. */
int vendor_find(const char *spec, const struct vendor **out, const char **out_model,
		struct fh_error *err);

#endif

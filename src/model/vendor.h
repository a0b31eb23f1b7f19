/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_VENDOR_H
#define MODEL_VENDOR_H

#include "model/dialect.h"

/* Who serves language models: where, how they are spoken to, and where people keep the key. */
struct vendor {
	const char *name; /* before the ":" of a spec, and before the "/" of "litellm:" */
	const struct dialect *dialect;
	const char *url;          /* NULL: there is none that is everyone's */
	const char *url_variable; /* another one; NULL: none */
	const char *key_variable; /* NULL: needs no key */
};

/* True when the part of a spec before its ":" names one, or is "litellm". */
bool vendor_is_spec(const char *spec);

/* True for a variable in which people keep an address or a key of one of them. */
bool vendor_has_variable(const char *name);

/* -EINVAL for "litellm:PROVIDER/NAME" of a provider that is not known: its server needs an address. */
int vendor_check_provider(const char *spec, struct fh_error *err);

/* Who is meant, and what the model is called there (within spec). -EINVAL. */
int vendor_find(const char *spec, const struct vendor **out, const char **out_model,
		struct fh_error *err);

#endif

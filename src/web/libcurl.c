/* SPDX-License-Identifier: Apache-2.0 */
#include "web/libcurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#define LIBRARY "libcurl.so.4"

struct libcurl libcurl;

static int find(void *library, const char *name, void *out_function, struct fh_error *err)
{
	void *found = dlsym(library, name);

	if (!found)
		return error_say(err, ENOENT, "%s has no %s()", LIBRARY, name);
	*(void **)out_function = found;
	return 0;
}

int libcurl_load(struct fh_error *err)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	int r = 0;

	if (!library)
		return error_say(err, ENOENT,
				"%s can't be loaded, which language models and the web need: %s",
				LIBRARY, dlerror());
#define LIBCURL_FIND(name)                                                                         \
	if (r == 0)                                                                                \
		r = find(library, "curl_" #name, &libcurl.name, err);
	LIBCURL_FUNCTIONS(LIBCURL_FIND)
#undef LIBCURL_FIND
	return r; /* it stays loaded */
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "web/lws.h"

#include "base/places.h"
#include "base/scope.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Libraries by the minor number of their version 4. Other versions have other structs. */
static const char *const libraries[] = {
	[1] = "libwebsockets.so.17",
	[2] = "libwebsockets.so.18",
	[3] = "libwebsockets.so.19",
};
static_assert(LWS_LIBRARY_VERSION_MAJOR == 4 && LWS_LIBRARY_VERSION_MINOR >= 1 &&
				LWS_LIBRARY_VERSION_MINOR < ARRAY_SIZE(libraries),
		"libwebsockets should be of version 4.1, 4.2 or 4.3");

struct lws_api lws_api;

int lws_load(struct fh_error *err)
{
	const char *own = places_get()->libwebsockets;
	const char *name = own ? own : libraries[LWS_LIBRARY_VERSION_MINOR];
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL); /* never unloaded */

	if (!library)
		return error_say(err, ENOENT,
				"%s can't be loaded, which the server needs (Debian's package "
				"libwebsockets17): %s",
				name, dlerror());
#define LWS_FIND(function)                                                                         \
	if (!(*(void **)&lws_api.function = dlsym(library, "lws_" #function)))                     \
		return error_say(err, ENOENT, "%s has no lws_%s()", name, #function);
	LWS_FUNCTIONS(LWS_FIND)
#undef LWS_FIND
	return 0;
}

uint64_t lws_listen_options(const char *address)
{
	bool v6 = strchr(address, ':') != NULL;

	return LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND |
			(v6 ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6);
}

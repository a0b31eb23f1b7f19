/* SPDX-License-Identifier: Apache-2.0 */
#include "model/libedit.h"

#include <dlfcn.h>
#include <stddef.h>

struct libedit libedit;

static bool find(void *library, const char *name, void *out_function)
{
	void *found = dlsym(library, name);

	*(void **)out_function = found;
	return found != NULL;
}

bool libedit_load(void)
{
	void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);

#define LIBEDIT_FIND(name) &&find(library, #name, &libedit.name)
	return library LIBEDIT_FUNCTIONS(LIBEDIT_FIND); /* it stays loaded */
#undef LIBEDIT_FIND
}

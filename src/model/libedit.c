/* SPDX-License-Identifier: Apache-2.0 */
#include "model/libedit.h"

#include <dlfcn.h>
#include <stddef.h>

struct libedit libedit;

bool libedit_load(void)
{
	void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL); /* stays loaded */

#define LIBEDIT_FIND(name) &&(*(void **)&libedit.name = dlsym(library, #name))
	return library LIBEDIT_FUNCTIONS(LIBEDIT_FIND);
#undef LIBEDIT_FIND
}

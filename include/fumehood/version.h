/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUMEHOOD_VERSION_H
#define FUMEHOOD_VERSION_H

#include <fumehood/error.h>

#include <stddef.h>

/*
 * Versions, and how structs of the API may grow.
 *
 * A struct that the caller fills begins with its `size`. A later version adds members at its end.
 * Their value 0 means what was before. So a newer library runs programs of older headers: it reads
 * `size` bytes, and takes the rest as 0. The other way round
 * works too, unless a member that the older library lacks is not 0 (-E2BIG). A size of 0 is an
 * error (-EINVAL), because it was forgotten.
 *
 * Each such struct has a macro that sets the size. All other members are 0, unless they are named:
 *
 *   fh_env_step(env, &FH_ACTION(.text = "ls"), &step, &err);
 *
 * C++ has no compound literals. There the macro takes no arguments, and members are assigned:
 *
 *   fh_action action = FH_ACTION();
 *   action.text = "ls";
 *
 * A struct that the library fills has a fixed layout. If it changes, or a function is removed or
 * works differently, FH_API_VERSION and the number in the library's soname rise.
 */

#define FH_API_VERSION 1

#ifdef __cplusplus
template <class T> inline T fh_sized()
{
	T made = T();

	made.size = sizeof(T);
	return made;
}
#define FH_SIZED(type, ...) fh_sized<type>(__VA_ARGS__)
#else
#define FH_SIZED(type, ...) ((type){ .size = sizeof(type), __VA_ARGS__ })
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of the library in use, such as "0.1.0". */
FH_PUBLIC const char *fh_version(void);

/* Returns the FH_API_VERSION that the library in use was compiled with. */
FH_PUBLIC int fh_api_version(void);

#ifdef __cplusplus
}
#endif

#endif

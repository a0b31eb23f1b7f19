/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/bind.h"

#include "base/path.h"
#include "base/scope.h"
#include "base/str.h"
#include "inside/places.h"

#include <errno.h>
#include <string.h>

/*
 * Paths that every sandbox needs. A bind over such a path would leave the sandbox without a shell
 * or programs.
 */
static const char *const needed[] = { "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib",
	"/usr/lib64", "/etc", "/tmp", GUEST_RUN_DIR, GUEST_WORKSPACE };

/* Folders of a sandbox beneath which nothing may be bound: Fumehood fills them itself. */
static const char *const reserved[] = { "/proc", "/dev", "/fumehood", GUEST_RUN_DIR };

bool sandbox_bind_hides_needed(const char *target)
{
	if (str_eq(target, "/"))
		return true;
	/* the targets /lib, /lib64 and /libx32 */
	if (str_starts(target, "/lib") && !strchr(target + 1, '/'))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (path_is_within(needed[i], target))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (path_is_within(target, reserved[i]))
			return true;
	return false;
}

int sandbox_bind_check(const struct sandbox_bind *bind, struct fh_error *err)
{
	auto_free char *target = path_normalise(bind->target);

	if (*bind->source != '/')
		return error_say(err, EINVAL, "bind '%s': the source must be an absolute path",
				bind->source);
	if (*bind->target != '/')
		return error_say(err, EINVAL, "bind '%s': the target '%s' must be an absolute path",
				bind->source, bind->target);
	/* Refuse ".." in the path of a bind: this check resolves it by text, but the kernel follows
	 * links first. */
	if (strstr(bind->target, "/../") || str_ends(bind->target, "/.."))
		return error_say(err, EINVAL, "bind '%s': the target '%s' must not hold '..'",
				bind->source, bind->target);
	if (sandbox_bind_hides_needed(target))
		return error_say(err, EINVAL,
				"bind '%s': at '%s' it would hide what a sandbox needs; choose "
				"another place, such as SRC:/data",
				bind->source, target);
	return 0;
}

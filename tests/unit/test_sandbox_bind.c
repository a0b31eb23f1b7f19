/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/scope.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

/* Checks which paths in a sandbox a bind may cover. All sandboxes but bare ones enforce this. */

static void test_targets(void **state)
{
	static const char *const refused[] = { "/", "//", "/.", "/usr", "/usr/", "/usr/bin",
		"/usr/lib", "/bin", "/sbin", "/lib", "/lib64", "/libx32", "/etc", "/tmp", "/run",
		"/home", "/home/agent", "/home/agent/", "/home/agent/workspace", "/proc",
		"/proc/sys", "/dev", "/dev/null", "/fumehood", "/fumehood/bin", "/run/fumehood",
		"/run/fumehood/request", "/data/..", "/data/../usr", "/data/in/..",
		"/data/in/../out", "usr", "" };
	static const char *const taken[] = { "/data", "/data/x.csv", "/usr/share/dict",
		"/usr/lib/mine", "/lib64/libmine.so", "/etc/mine.conf", "/opt", "/opt/conda",
		"/home/agent/workspace/data", "/home/agent/.cache", "/home/me/env", "/tmp/x",
		"/run/lock", "/process", "/devices", "/a..b/..c" };
	struct fh_error err;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		if (sandbox_bind_check(&(struct sandbox_bind){ "/srv", refused[i] }, &err) !=
				-EINVAL)
			fail_msg("'%s' was taken", refused[i]);
		assert_non_null(strstr(err.message, "bind '/srv': "));
	}
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (sandbox_bind_check(&(struct sandbox_bind){ "/srv", taken[i] }, &err) < 0)
			fail_msg("%s", err.message);
	assert_int_equal(sandbox_bind_check(&(struct sandbox_bind){ "srv", "/data" }, &err),
			-EINVAL);
}

static void test_a_start_refuses_it(void **state)
{
	static const struct sandbox_bind bind = { "/usr", "/proc" };
	struct sandbox *sb = NULL;
	struct owner *owner;
	struct fh_error err;

	assert_int_equal(owner_open(&(struct owner_options){ .label = "test" }, &owner, &err), 0);
	assert_int_equal(sandbox_start(owner,
					 &(struct sandbox_options){ .binds = &bind, .n_binds = 1 },
					 &sb, &err),
			-EINVAL);
	assert_null(sb);
	assert_non_null(strstr(err.message, "would hide what a sandbox needs"));
	owner_close(owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_a_start_refuses_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

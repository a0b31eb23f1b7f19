/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "base/secret.h"

#include <errno.h>
#include <unistd.h>

static char folder[FOLDER_MAX];

static int make_folder(void **state)
{
	unsetenv("FUMEHOOD_JUDGE_KEY");
	return folder_make(folder);
}

static int remove_folder(void **state)
{
	unsetenv("FUMEHOOD_JUDGE_KEY");
	return folder_remove(folder);
}

static void test_secret(void **state)
{
	struct secret a, b;
	struct fh_error err;
	struct stat st;
	char path[64];

	assert_int_equal(secret_load(folder, &a, &err), 0);
	assert_int_equal(secret_load(folder, &b, &err), 0);
	assert_memory_equal(&a, &b, sizeof(a));
	snprintf(path, sizeof(path), "%s/judge.key", folder);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_size, 32);
	assert_int_equal(remove(path), 0);
	assert_int_equal(secret_load(folder, &b, &err), 0);
	assert_memory_not_equal(&a, &b, sizeof(a));
	assert_int_equal(truncate(path, 31), 0);
	assert_int_equal(secret_load(folder, &b, &err), -EINVAL);
	assert_non_null(strstr(err.message, "too short"));
}

static void test_secret_of_variable(void **state)
{
	static const char *const wrong[] = { "00", "0g", "x",
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1g",
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f00" };
	struct secret s;
	struct fh_error err;

	setenv("FUMEHOOD_JUDGE_KEY",
			"000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F", 1);
	assert_int_equal(secret_load(folder, &s, &err), 0);
	for (int i = 0; i < 32; i++)
		assert_int_equal(s.bytes[i], i);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		setenv("FUMEHOOD_JUDGE_KEY", wrong[i], 1);
		assert_int_equal(secret_load(folder, &s, &err), -EINVAL);
	}
}

/* secret_read() never makes a secret. It reads the one that secret_load() made. */
static void test_secret_is_only_read(void **state)
{
	struct secret made, seen;
	struct fh_error err;

	assert_int_equal(secret_read(folder, &seen, &err), -ENOENT);
	assert_int_equal(secret_read(folder, &seen, &err), -ENOENT);
	assert_int_equal(secret_load(folder, &made, &err), 0);
	assert_int_equal(secret_read(folder, &seen, &err), 0);
	assert_memory_equal(&made, &seen, sizeof(seen));
}

/* Derived keys differ if any input differs. */
static void test_keys(void **state)
{
	struct secret one = { { 1 } }, two = { { 2 } };
	char keys[5][SHA256_HEX_BYTES], again[SHA256_HEX_BYTES];

	secret_key(&one, "a", "b", "c", keys[0]);
	secret_key(&two, "a", "b", "c", keys[1]);
	secret_key(&one, "b", "b", "c", keys[2]);
	secret_key(&one, "a", "bc", "", keys[3]);
	secret_key(&one, "a", "", "bc", keys[4]);
	secret_key(&one, "a", "b", "c", again);
	assert_string_equal(keys[0], again);
	/* Computed with Python's hmac. If this key changes, SECRET_KEYS_VERSION must change. */
	assert_string_equal(
			again, "c3eaef740c692b7cd5b1ca052a041731b32e57777051a044eb10b10ccbe998a3");
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(keys[i], keys[k]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_secret, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
				test_secret_of_variable, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
				test_secret_is_only_read, make_folder, remove_folder),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

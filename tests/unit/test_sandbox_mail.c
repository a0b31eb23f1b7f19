/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/scope.h"
#include "proto/guest.h"
#include "native/mail.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* The size of the memory that an owner shares with a shell is sealed. If a shell shrank it, SIGBUS
 * would end the owner. If a shell grew it, the owner would pay for the memory. */
static void test_size_is_sealed(void **state)
{
	static const long changes[] = { -1, -4096, 1, 4096 };
	struct fh_error error = FH_ERROR_INIT;
	struct shell_mail *mail = NULL;
	auto_close int fd = -1;
	struct stat before, after;

	assert_done(mail_new(&mail, &fd, &error));
	assert_int_equal(fstat(fd, &before), 0);
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		assert_int_equal(ftruncate(fd, before.st_size + changes[i]), -1);
		assert_int_equal(errno, EPERM);
	}
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(fstat(fd, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	mail_free(mail);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size_is_sealed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "env/fingerprint.h"

#include "base/scope.h"

#include "fumehood-build.h"

#include <limits.h>
#include <pthread.h>
#include <sys/utsname.h>

/* Files that list the installed packages. A missing file changes the hash, too. */
static const char *const files[] = {
	"/etc/os-release",
	"/var/lib/dpkg/status",
	"/lib/apk/db/installed",
	"/proc/driver/nvidia/version",
};

/* The machine's fingerprint, which is computed once, since that takes milliseconds. */
static char machine_hex[SHA256_HEX_BYTES];

static void fingerprint_machine(void)
{
	char python[PATH_MAX], hex[SHA256_HEX_BYTES];
	struct utsname machine;
	struct sha256 h;

	sha256_init(&h);
	sha256_add_str(&h, FUMEHOOD_VERSION);
	sha256_add_str(&h, uname(&machine) == 0 ? machine.machine : NULL);
	sha256_add_str(&h, realpath("/usr/bin/python3", python));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		sha256_add_str(&h, sha256_file(files[i], hex, NULL) == 0 ? hex : NULL);
	sha256_end_hex(&h, machine_hex);
}

void fingerprint(const struct sandbox_bind *binds, size_t n_binds, size_t n_gpus,
		char out_hex[SHA256_HEX_BYTES])
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sha256 h;

	pthread_once(&once, fingerprint_machine);
	sha256_init(&h);
	sha256_add_str(&h, machine_hex);
	for (size_t i = 0; i < n_binds; i++) {
		sha256_add_str(&h, binds[i].source);
		sha256_add_str(&h, binds[i].target);
	}
	if (n_gpus)
		sha256_add(&h, &n_gpus, sizeof(n_gpus));
	sha256_end_hex(&h, out_hex);
}

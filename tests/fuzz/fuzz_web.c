/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "web/hosts.h"
#include "web/papers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Fuzzes searches and allow-lists. Takes the input as a search server's answer, and as a list of
 * hosts. A valid list must not allow a host that it does not name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf list = BUF_INIT(1 << 16), lines = BUF_INIT(1 << 20);

	buf_add(&list, data, n);
	if (hosts_check(buf_str(&list), NULL) == 0 &&
			hosts_allow(buf_str(&list), "https", "not.there", "443") &&
			!strcasestr(buf_str(&list), "there"))
		abort();
	(void)papers_add_lines(&lines, (const char *)data, n, 5, NULL);
	return 0;
}

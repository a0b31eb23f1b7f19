/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "grade/score.h"

#include <stdint.h>
#include <stdlib.h>

/* Fuzzes the reader of graders' results. A result is refused, or becomes a score that stays the
 * same when it is written and read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf text = BUF_INIT(1 << 20);
	struct score_reading once, twice;
	struct fh_error err;

	if (score_read((const char *)data, n, &once, &err) < 0)
		return 0;
	score_add_json(&text, &once.score);
	if (score_read(buf_str(&text), text.len, &twice, &err) < 0)
		__builtin_trap();
	if (once.score.n != twice.score.n)
		__builtin_trap();
	for (size_t i = 0; i < once.score.n; i++) {
		const double *value = score_find(&twice.score, once.score.metrics[i].name);

		if (!value || *value != once.score.metrics[i].value)
			__builtin_trap();
	}
	buf_clear(&text);
	score_add_repr(&text, &once.score);
	free(once.rejection);
	score_release(&once.score);
	score_release(&twice.score);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/clock.h"
#include "base/scope.h"
#include "trajectory/normalise.h"

#include <time.h>

/* Texts that vary between runs, such as times, become placeholders. No text may take long. */

static const struct {
	const char *text, *normalised;
} texts[] = {
	{ "", "" },
	{ "\n\nx\n", "\n\nx\n" },
	{ "2026-11-21T10:00:01.5Z, 2026-11-21 10:00+0100.", "<date>, <date>." },
	{ "12026-11-21 2026-11-2", "12026-11-21 2026-11-2" },
	{ "Sat, Nov 21 10:00:01 PM CET 2026|Nov  1  2025|Nov 21 09:19|Nov 21 x",
			"<date>|<date>|<date>|Nov 21 x" },
	{ "Sat 21 10:00 xNov 21 10:00", "<date> xNov 21 <time>" },
	{ "Sat, 21 Nov 2026 10:00:01 +0000|1 Nov 2026 10:00:01 GMT|1 Nov 2026",
			"<date>|<date>|<date>" },
	{ "1:02 01:02:03,4 PM 1:2 11:22:33:44", "<time> <time> 1:2 <time>:44" },
	{ "0m1.2s 1m2 x3m4s", "<duration> 1m2 x<duration>" },
	{ "1.5 s, 2ms 3 sec 4secs 5 seconds 6us 7 it/s 8s/it 9 minutes 1 sx v1s 2 steps",
			"<duration>, <duration> <duration> <duration> <duration> <duration> "
			"<duration> <duration> <duration> 1 sx v1s 2 steps" },
	{ "0xabcdef 0x12345 0x0123456789abcdef01", "0x<address> 0x12345 0x<address>01" },
	{ "pid 1, 2 PIDs: 3 Pid(s)=4, x rapid 5", "pid <pid> PIDs: <pid> Pid(s)=<pid>, x rapid 5" },
	{ "[1] 34\n[1] 34 x\n [1] 34", "[1] <pid>\n[1] 34 x\n [1] 34" },
	{ "bash: line 3: x, online 3: line 3", "bash: line <n>: x, online 3: line 3" },
	{ "drwxr-xr-x 2 a b 4096 x\n-rw-r--r-- 1 a b 12 x\n drwxr-xr-x 2 a b 4096",
			"drwxr-xr-x 2 a b <size> x\n-rw-r--r-- 1 a b 12 x\n drwxr-xr-x 2 a b 4096" },
	{ "total 8\ntotal 8 x\nsubtotal 8", "total <size>\ntotal 8 x\nsubtotal 8" },
	{ "caf\xc3\xa9 1 s \xe2\x80\x94line 3:", "caf\xc3\xa9 <duration> \xe2\x80\x94line <n>:" },
};

static void test_what_is_put_aside(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_buf struct buf out = BUF_INIT(10000);

		normalise(&out, texts[i].text, 0);
		assert_string_equal(buf_str(&out), texts[i].normalised);
	}
}

/* --- time ------------------------------------------------------------------------------------- */

#define TEXT_BYTES (256 << 10)
/* Normalising a text takes hundredths of a second. Code of quadratic time would take tens of
 * seconds. */
#define MOST_NS (2 * NS_PER_S)

/* A long text is `head`, and then `unit` again and again. */
static const struct {
	const char *head, *unit;
} long_texts[] = {
	{ "", "1" },
	{ "", "." },
	{ "", " " },
	{ "", "a" },
	{ "", "A" },
	{ "", "1 " },
	{ "", "1." },
	{ "", "1m" },
	{ "", "1m1" },
	{ "", "1m." },
	{ "", "1 s " },
	{ "", "1s" },
	{ "", "1:" },
	{ "", "10:00" },
	{ "", "10:00 " },
	{ "", "1," },
	{ "", "1-" },
	{ "", "0x" },
	{ "", "0xabcdef" },
	{ "", "2026-" },
	{ "", "2026-11-21" },
	{ "2026-11-21T", ":" },
	{ "2026-11-21T", "1" },
	{ "", "Mon" },
	{ "", "Mon " },
	{ "", "Mon, " },
	{ "Mon", " " },
	{ "Mon Nov", " " },
	{ "Mon Nov 21", " " },
	{ "", "Nov 21 " },
	{ "", "1 Nov " },
	{ "", "1 Nov 2026 " },
	{ "", "pid " },
	{ "", "pid 1, " },
	{ "pid ", "1, " },
	{ "pid", "=" },
	{ "pid ", "1" },
	{ "[", "1" },
	{ "[1] ", "1" },
	{ "", "[1] " },
	{ "", "line " },
	{ "line ", "1" },
	{ "", "line 1:" },
	{ "total ", "1" },
	{ "", "total 1 " },
	{ "", "d---------" },
	{ "d--------- ", "1" },
	{ "d--------- 1 ", "a" },
	{ "d--------- 1 ", "a " },
	{ "d--------- 1 a b", " " },
	{ "", "1795255200" },
	{ "", "1795255200." },
	{ "", "\n" },
	{ "", "1\n" },
	{ "", "\xc3\xa9" },
};

static int64_t time_of(const char *head, const char *unit)
{
	auto_buf struct buf text = BUF_INIT(TEXT_BYTES), out = BUF_INIT(20 * TEXT_BYTES);
	struct timespec began, ended;

	for (buf_add_str(&text, head); !text.truncated;)
		buf_add_str(&text, unit);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &began);
	normalise(&out, buf_str(&text), 1795255200);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
	assert_false(out.truncated);
	return (ended.tv_sec - began.tv_sec) * NS_PER_S + ended.tv_nsec - began.tv_nsec;
}

static void test_no_text_takes_long(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(long_texts); i++) {
		int64_t ns = time_of(long_texts[i].head, long_texts[i].unit);

		if (ns > MOST_NS)
			fail_msg("'%s' and many '%s' took %.1f s", long_texts[i].head,
					long_texts[i].unit, (double)ns / NS_PER_S);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_put_aside),
		cmocka_unit_test(test_no_text_takes_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

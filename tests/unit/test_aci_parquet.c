/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "../../tools/aci/codec.h"
#include "../../tools/aci/parquet.h"
#include "../../tools/aci/runs.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/places.h"
#include "base/scope.h"
#include "base/str.h"

#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES(text) (const unsigned char *)(text), sizeof(text) - 1

/* Footers that are whole, and what can't be one. */
static const struct {
	const unsigned char *footer;
	size_t n;
	bool whole;
} footers[] = {
	{ BYTES("\0"), true }, { BYTES(""), false }, { BYTES("\x36\x06\0"), true }, /* 3: 3 rows */
	{ BYTES("\x36\x05\0"), false },                                             /* -3 rows */
	{ BYTES("\x06\xfe\xff\xff\xff\x0f\x02\x16\x06\0"),
			true },                             /* field 2147483647, then one more */
	{ BYTES("\x29\xfc\xff\xff\xff\xff\x0f\0"), false }, /* a schema longer than the file */
	{ BYTES("\x4c\x4c\x4c"), false },                   /* ends within structs */
	{ BYTES("\x29\x2c\x55\x02\0\x15\x02\x38\x01x\0\0"), true },  /* a group of an int32 */
	{ BYTES("\x29\x2c\x55\x04\0\x15\x02\x38\x01x\0\0"), false }, /* of two, one is missing */
	{ BYTES("\x29\x2c\x55\x02\0\x15\x20\x38\x01x\0\0"), false }, /* of a type that is none */
	{ BYTES("\x29\x2c\x55\x02\0\x15\x0e\x38\x01x\0\0"), false }, /* of fixed bytes, 0 of them */
	{ BYTES("\x29\x2c\x55\x02\0\x15\x02\x38\x01x\0\x29\x1c\0\0"), false }, /* rows without it */
};

static void test_footers(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(footers); i++) {
		struct parquet p = { .fd = -1,
			.columns = xcalloc(PARQUET_COLUMNS_MAX, sizeof(*p.columns)) };

		if (parquet_read_footer(footers[i].footer, footers[i].n, &p) != footers[i].whole)
			fail_msg("%zu", i);
		parquet_close(&p);
	}
}

/* `size` bytes are asked for; NULL: it is refused. */
static const struct {
	int codec;
	const unsigned char *in;
	size_t n;
	const char *out;
	size_t size;
} packed[] = {
	{ CODEC_NONE, BYTES("xy"), "xy", 2 },
	{ CODEC_NONE, BYTES("xy"), NULL, 3 },
	{ CODEC_SNAPPY, BYTES("\x08\x04xy\x09\x02"), "xyxyxyxy", 8 },
	{ CODEC_SNAPPY, BYTES("\x08\x04xy\x16\x02\0"), "xyxyxyxy", 8 },
	{ CODEC_SNAPPY, BYTES("\x08\x04xy\x17\x02\0\0\0"), "xyxyxyxy", 8 },
	{ CODEC_SNAPPY, BYTES("\x08\xf0\x07xyxyxyxy"), "xyxyxyxy", 8 },
	{ CODEC_SNAPPY, BYTES("\x08\x04xy\x09\x03"), NULL, 8 }, /* from before its beginning */
	{ CODEC_SNAPPY, BYTES("\x08\x04xy\x09\0"), NULL, 8 },
	{ CODEC_SNAPPY, BYTES("\x08\x04xy\x0d\x02"), NULL, 8 }, /* too much */
	{ CODEC_SNAPPY, BYTES("\x08\x04xy"), NULL, 8 },
	{ CODEC_SNAPPY, BYTES("\x08\xfc\xff\xff\xff\xffxy"), NULL, 8 },
	{ CODEC_SNAPPY, BYTES("\xff\xff\xff\xff\x7fxy"), NULL, 8 },
	{ CODEC_LZ4_RAW, BYTES("\x22xy\x02\0\0"), "xyxyxyxy", 8 },
	{ CODEC_LZ4_RAW, BYTES("\x80xyxyxyxy"), "xyxyxyxy", 8 },
	{ CODEC_LZ4_RAW, BYTES("\xf0\x01xxxxxxxxxxxxxxxx"), "xxxxxxxxxxxxxxxx", 16 },
	{ CODEC_LZ4_RAW, BYTES("\x22xy\x03\0\0"), NULL, 8 },
	{ CODEC_LZ4_RAW, BYTES("\x2fxy\x02\0\xff"), NULL, 8 },
	{ CODEC_LZ4_RAW, BYTES("\xff\xff\xff\xff"), NULL, 8 },
	{ CODEC_GZIP, BYTES("xyxyxyxy"), NULL, 8 },
	{ CODEC_ZSTD, BYTES("xyxyxyxy"), NULL, 8 },
	{ CODEC_BROTLI, BYTES("xyxyxyxy"), NULL, 8 },
	{ 99, BYTES("xyxyxyxy"), NULL, 8 },
};

static void test_codecs(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(packed); i++) {
		/* Exactly as many, so that one too many is seen. */
		auto_free unsigned char *out = xcalloc(packed[i].size, 1);
		auto_free unsigned char *in = xcalloc(packed[i].n, 1);
		bool ok;

		memcpy(in, packed[i].in, packed[i].n);
		ok = codec_decode(packed[i].codec, in, packed[i].n, out, packed[i].size);
		if (ok != (packed[i].out != NULL))
			fail_msg("%zu", i);
		if (ok)
			assert_memory_equal(out, packed[i].out, packed[i].size);
	}
}

/* From the format's own description. */
static const struct {
	const unsigned char *in;
	size_t n;
	unsigned width;
	const char *out;
} runs[] = {
	{ BYTES("\x03\x88\xc6\xfa"), 3, "0 1 2 3 4 5 6 7" },
	{ BYTES("\x06\x05\x01\x01\x02\xff"), 9, "261 261 261" },
	{ BYTES("\x04\x07\0\0\x02\x01"), 3, "7 7 1" },
	{ BYTES("\x05\xff"), 1, "" }, /* two groups, and bytes of one */
	{ BYTES("\x06"), 8, "" },
	{ BYTES("\x03"), 0, "0 0 0 0 0 0 0 0" },
	{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 1, "" },
};

static const struct {
	const unsigned char *in;
	size_t n;
	const char *out;
} deltas[] = {
	{ BYTES("\x80\x01\x04\x05\x02\x02\0\0\0\0"), "1 2 3 4 5" },
	{ BYTES("\x80\x01\x04\x08\x0e\x03\x02\0\0\0\xc0\x3f\0\0\0\0\0\0"), "7 5 3 1 2 3 4 5" },
	{ BYTES("\x80\x01\x04\x01\x03"), "-2" },
	{ BYTES("\x80\x01\x04\0\0"), "" },
	{ BYTES("\x80\x01\x04\x05\x02\x02\x41\0\0\0"), "1" }, /* 65 bits */
	{ BYTES("\x80\x01\x04\x05\x02\x02\x08\0\0\0"), "1" }, /* they are not there */
	{ BYTES("\x80\x01\0\x05\x02"), "" },
	{ BYTES("\x80\x01\x03\x05\x02"), "" },
};

static void test_runs(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		auto_buf struct buf got = BUF_INIT(4096);
		struct runs r;
		uint32_t v;

		runs_start(&r, runs[i].in, runs[i].n, runs[i].width);
		while (runs_next(&r, &v))
			buf_printf(&got, "%s%u", got.len ? " " : "", v);
		if (!str_starts(buf_str(&got), runs[i].out) || (!*runs[i].out && got.len))
			fail_msg("%zu: %s", i, buf_str(&got));
	}
}

static void test_deltas(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(deltas); i++) {
		auto_buf struct buf got = BUF_INIT(4096);
		struct deltas d, once;
		int64_t v;
		bool ok = deltas_start(&d, deltas[i].in, deltas[i].n);

		once = d;
		while (ok && deltas_next(&d, &v))
			buf_printf(&got, "%s%ld", got.len ? " " : "", (long)v);
		assert_string_equal(buf_str(&got), deltas[i].out);
		if (ok)
			assert_int_equal(deltas_skip(&once), !d.left);
		if (ok && !d.left)
			assert_ptr_equal(once.r.at, d.r.at);
	}
}

/* --- whole files ---------------------------------------------------------------------------------- */

static bool count_cell(void *user, const char *cell)
{
	size_t *left = user;

	return (*left)-- > 1;
}

/* How many columns of a file can be read; -1: it is none. */
static int read_bytes(const struct buf *bytes)
{
	auto_close int fd = memfd_create("parquet", MFD_CLOEXEC);
	struct parquet p;
	char path[64];
	int read = 0;

	assert_int_equal(write(fd, bytes->data, bytes->len), bytes->len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!parquet_open(path, &p))
		return -1;
	for (size_t i = 0; i < p.n; i++) {
		size_t left = 10000;

		read += !parquet_read_column(&p, i, count_cell, &left);
	}
	parquet_close(&p);
	return read;
}

/* A byte of each place after the other is changed: nothing but an answer comes of it. */
static void test_changed_files(void **state)
{
	struct fh_error error;
	auto_free char *folder =
			path_join(places_get()->share_dir, "tests/fuzz/corpus/aci_parquet");
	struct dirent **files;
	int n = scandir(folder, &files, NULL, NULL), good = 0;

	assert_true(n > 10);
	for (int i = 0; i < n; i++) {
		auto_buf struct buf bytes = BUF_INIT(1 << 20);
		auto_free char *path = path_join(folder, files[i]->d_name);

		if (files[i]->d_name[0] != '.') {
			assert_done(fd_read_file(path, &bytes, &error));
			good += read_bytes(&bytes) > 5;
		}
		for (size_t at = (size_t)i % 3; at < bytes.len; at += 3) {
			char before = bytes.data[at];

			bytes.data[at] = (char)(at % 2 ? ~before : before + 1);
			read_bytes(&bytes);
			bytes.data[at] = before;
		}
		free(files[i]);
	}
	free(files);
	assert_true(good > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_footers),
		cmocka_unit_test(test_codecs),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_deltas),
		cmocka_unit_test(test_changed_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

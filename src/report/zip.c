/* SPDX-License-Identifier: Apache-2.0 */
#include "report/zip.h"

/* Written by hand: ZIP without compression takes few lines, and so no library has to be installed.
 * libarchive and zlib are not needed elsewhere. */

#include "base/fd.h"
#include "base/scope.h"

#include <errno.h>
#include <string.h>

#define ZIP_32_MAX 0xffffffffU /* says that the Zip64 record has the number */
#define ZIP_VERSION 45         /* first version of the format that has Zip64 */
#define ZIP_UTF8 0x800         /* flag: the name is UTF-8 */
#define ZIP_DAY 0x21           /* 1980-01-01 */

/* Polynomial of CRC-32, with its bits in reverse. */
#define ZIP_POLYNOMIAL 0xedb88320U

static void zip_make_table(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? ZIP_POLYNOMIAL : 0);
	}
}

static uint32_t zip_crc(const uint8_t *data, size_t n)
{
	static uint32_t table[256];
	uint32_t crc = 0xffffffffU;

	if (!table[1])
		zip_make_table(table);
	for (size_t i = 0; i < n; i++)
		crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
	return ~crc;
}

/* Appends the lowest n bytes of a number, the lowest first. */
static void zip_put(struct buf *out, uint64_t value, int n)
{
	for (int i = 0; i < n; i++)
		buf_add_char(out, (char)(value >> 8 * i & 0xff));
}

static uint64_t zip_least(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* The fields that the header before a file and its entry in the directory share. */
static void zip_put_shared(struct buf *out, const char *name, uint32_t crc, size_t n, size_t extra)
{
	zip_put(out, ZIP_VERSION, 2);
	zip_put(out, ZIP_UTF8, 2);
	zip_put(out, 0, 2); /* stored, not compressed */
	zip_put(out, 0, 2); /* midnight */
	zip_put(out, ZIP_DAY, 2);
	zip_put(out, crc, 4);
	zip_put(out, n, 4);
	zip_put(out, n, 4);
	zip_put(out, strlen(name), 2);
	zip_put(out, extra, 2);
}

static void zip_put_entry(struct zip *z, const char *name, uint32_t crc, size_t n)
{
	struct buf *out = &z->directory;
	bool far = z->at >= ZIP_32_MAX;

	buf_add(out, "PK\1\2", 4);
	zip_put(out, ZIP_VERSION, 2);
	zip_put_shared(out, name, crc, n, far ? 12 : 0);
	zip_put(out, 0, 2 + 2 + 2); /* comment, disk, kind of text */
	zip_put(out, 0, 4);         /* attributes */
	zip_put(out, zip_least(z->at, ZIP_32_MAX), 4);
	buf_add_str(out, name);
	if (!far)
		return;
	zip_put(out, 1, 2);
	zip_put(out, 8, 2);
	zip_put(out, z->at, 8);
}

static int zip_write(struct zip *z, const void *data, size_t n, struct fh_error *err)
{
	int r = fd_write_full(z->fd, data, n);

	if (r < 0)
		return error_set(err, -r, "write an archive");
	z->at += n;
	return 0;
}

int zip_add(struct zip *z, const char *name, const void *data, size_t n, struct fh_error *err)
{
	auto_buf struct buf header = BUF_INIT(4096);
	uint32_t crc = zip_crc(data, n);
	int r;

	buf_add(&header, "PK\3\4", 4);
	zip_put_shared(&header, name, crc, n, 0);
	buf_add_str(&header, name);
	zip_put_entry(z, name, crc, n);
	if (n >= ZIP_32_MAX || header.truncated || z->directory.truncated)
		return error_say(err, EFBIG, "an archive has no room for '%s'", name);
	z->n++;
	r = zip_write(z, buf_str(&header), header.len, err);
	return r < 0 ? r : zip_write(z, data, n, err);
}

/* Appends the record of large archives, and its offset. */
static void zip_put_end64(struct buf *out, const struct zip *z, uint64_t begin, uint64_t end)
{
	buf_add(out, "PK\6\6", 4);
	zip_put(out, 44, 8);
	zip_put(out, ZIP_VERSION, 2);
	zip_put(out, ZIP_VERSION, 2);
	zip_put(out, 0, 4 + 4); /* disks */
	zip_put(out, z->n, 8);
	zip_put(out, z->n, 8);
	zip_put(out, end - begin, 8);
	zip_put(out, begin, 8);
	buf_add(out, "PK\6\7", 4);
	zip_put(out, 0, 4);
	zip_put(out, end, 8);
	zip_put(out, 1, 4);
}

int zip_end(struct zip *z, struct fh_error *err)
{
	auto_buf struct buf last = BUF_INIT(4096);
	uint64_t begin = z->at, end;
	int r = zip_write(z, buf_str(&z->directory), z->directory.len, err);

	if (r < 0)
		return r;
	end = z->at;
	if (begin >= ZIP_32_MAX || end - begin >= ZIP_32_MAX || z->n >= 0xffff)
		zip_put_end64(&last, z, begin, end);
	buf_add(&last, "PK\5\6", 4);
	zip_put(&last, 0, 2 + 2); /* disks */
	zip_put(&last, zip_least(z->n, 0xffff), 2);
	zip_put(&last, zip_least(z->n, 0xffff), 2);
	zip_put(&last, zip_least(end - begin, ZIP_32_MAX), 4);
	zip_put(&last, zip_least(begin, ZIP_32_MAX), 4);
	zip_put(&last, 0, 2); /* comment */
	return zip_write(z, buf_str(&last), last.len, err);
}

void zip_release(struct zip *z)
{
	buf_release(&z->directory);
}

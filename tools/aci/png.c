/* SPDX-License-Identifier: Apache-2.0 */
#include "png.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/scope.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WHITE 255
#define BLACK 0
#define DOT 80
#define FILE_BYTES_MAX (16L << 20)

struct picture {
	int width, height;
	unsigned char *pixels;
};

struct picture *picture_new(int width, int height)
{
	struct picture *p = xcalloc(1, sizeof(*p));

	p->width = width;
	p->height = height;
	p->pixels = xcalloc((size_t)width, (size_t)height);
	memset(p->pixels, WHITE, (size_t)width * (size_t)height);
	return p;
}

void picture_free(struct picture *p)
{
	if (!p)
		return;
	free(p->pixels);
	free(p);
}

static void set(struct picture *p, int x, int y, unsigned char shade)
{
	if (x >= 0 && y >= 0 && x < p->width && y < p->height)
		p->pixels[(size_t)y * (size_t)p->width + (size_t)x] = shade;
}

void picture_dot(struct picture *p, int x, int y)
{
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			set(p, x + dx, y + dy, DOT);
}

void picture_line(struct picture *p, int x0, int y0, int x1, int y1)
{
	for (int y = y0; y <= y1; y++)
		for (int x = x0; x <= x1; x++)
			set(p, x, y, BLACK);
}

/* Three columns of five rows each, a bit a pixel, from the top. */
static const struct {
	char c;
	unsigned char rows[5];
} glyphs[] = {
	{ '0', { 7, 5, 5, 5, 7 } },
	{ '1', { 2, 6, 2, 2, 7 } },
	{ '2', { 7, 1, 7, 4, 7 } },
	{ '3', { 7, 1, 7, 1, 7 } },
	{ '4', { 5, 5, 7, 1, 1 } },
	{ '5', { 7, 4, 7, 1, 7 } },
	{ '6', { 7, 4, 7, 5, 7 } },
	{ '7', { 7, 1, 2, 2, 2 } },
	{ '8', { 7, 5, 7, 5, 7 } },
	{ '9', { 7, 5, 7, 1, 7 } },
	{ '.', { 0, 0, 0, 0, 2 } },
	{ '-', { 0, 0, 7, 0, 0 } },
	{ '+', { 0, 2, 7, 2, 0 } },
	{ 'e', { 0, 6, 7, 4, 6 } },
};

void picture_text(struct picture *p, int x, int y, const char *text)
{
	for (; *text; text++, x += 4)
		for (size_t i = 0; i < ARRAY_SIZE(glyphs); i++)
			for (int bit = 0; glyphs[i].c == *text && bit < 15; bit++)
				if (glyphs[i].rows[bit / 3] & (4 >> (bit % 3)))
					set(p, x + bit % 3, y + bit / 3, BLACK);
}

static void add_chunk(struct buf *out, const char *type, const void *data, size_t n)
{
	uint32_t length = htonl((uint32_t)n), sum;

	buf_add(out, &length, sizeof(length));
	buf_add(out, type, 4);
	buf_add(out, data, n);
	sum = (uint32_t)crc32(0, (const Bytef *)type, 4);
	if (n)
		sum = (uint32_t)crc32(sum, data, (uInt)n);
	sum = htonl(sum);
	buf_add(out, &sum, sizeof(sum));
}

/* Each row begins with the number of its filter: none. */
static bool compress_rows(const struct picture *p, struct buf *out)
{
	size_t width = (size_t)p->width, height = (size_t)p->height, n = (width + 1) * height;
	auto_free unsigned char *raw = xcalloc(n, 1);
	uLongf size = compressBound(n);

	for (size_t y = 0; y < height; y++)
		memcpy(raw + y * (width + 1) + 1, p->pixels + y * width, width);
	if (buf_reserve(out, size) < size ||
			compress2((Bytef *)out->data, &size, raw, n, 9) != Z_OK)
		return false;
	out->len = size;
	return true;
}

bool picture_write(const struct picture *p, const char *path)
{
	static const unsigned char signature[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
	auto_buf struct buf out = BUF_INIT(FILE_BYTES_MAX), rows = BUF_INIT(FILE_BYTES_MAX);
	uint32_t sizes[2] = { htonl((uint32_t)p->width), htonl((uint32_t)p->height) };
	unsigned char header[13] = {
		[8] = 8
	}; /* bits of a pixel; grey, deflate, no filter, not interlaced */

	if (!compress_rows(p, &rows))
		return false;
	memcpy(header, sizes, sizeof(sizes));
	buf_add(&out, signature, sizeof(signature));
	add_chunk(&out, "IHDR", header, sizeof(header));
	add_chunk(&out, "IDAT", rows.data, rows.len);
	add_chunk(&out, "IEND", NULL, 0);
	return fd_write_file(path, buf_str(&out), out.len, 0644, NULL) == 0;
}

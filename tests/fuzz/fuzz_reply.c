/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "input.h"
#include "model/answer.h"
#include "model/dialects.h"
#include "model/verdict.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Fuzzes the readers of language models' replies. Takes the input as an answer of each provider,
 * whole and streamed. The first byte is the length of the stream's pieces. The result is a reply of
 * valid texts, or a known error. The input is also read as the body of an HTTP error.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_text(const struct buf *text)
{
	check(str_utf8_invalid(buf_str(text), text->len) < 0);
	check(strlen(buf_str(text)) == text->len);
}

static void check_reply(const struct reply *r)
{
	check_text(&r->content);
	check_text(&r->thinking);
	check(r->n_uses <= REPLY_USES_MAX && r->bytes <= REPLY_BYTES_MAX);
	for (size_t i = 0; i < r->n_uses; i++) {
		check_text(&r->uses[i].id);
		check_text(&r->uses[i].name);
		check_text(&r->uses[i].arguments);
	}
}

static int feed(struct answer *a, const char *text, size_t n, size_t piece, struct fh_error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i += piece)
		r = answer_feed(a, text + i, n - i < piece ? n - i : piece, err);
	return r < 0 ? r : answer_end(a, err);
}

static void read_answer(const struct dialect *dialect, bool is_stream, const char *text, size_t n,
		size_t piece)
{
	struct fh_error err = FH_ERROR_INIT;
	struct answer a;
	int r;

	answer_init(&a, dialect, "a longer key");
	a.is_stream = is_stream;
	r = feed(&a, text, n, piece, &err);
	check(r == 0 || r == -EBADMSG || r == -EPROTO || r == -E2BIG || r == -EFBIG || r == -EIO);
	check(r == err.code);
	if (r == 0)
		check_reply(&a.reply);
	answer_release(&a);
}

static void read_refusal(int status, const char *text, size_t n)
{
	auto_buf struct buf why = BUF_INIT(65536);

	verdict_of_answer(&(struct verdict_answer){ .status = status, .body = text, .n_body = n },
			"a longer key", &why);
	check(!why.truncated && why.len < 8 * VERDICT_SENTENCE_MAX);
	for (size_t i = 0; i < why.len; i++)
		check((unsigned char)why.data[i] >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct dialect *const dialects[] = { &dialect_openai, &dialect_anthropic };
	struct input in = { data, n };
	size_t piece = 1 + input_u8(&in);
	int status = 200 + 100 * (input_u8(&in) % 4);

	for (int i = 0; i < 4; i++)
		read_answer(dialects[i / 2], i % 2, (const char *)in.data, in.n, piece);
	read_refusal(status, (const char *)in.data, in.n);
	return 0;
}

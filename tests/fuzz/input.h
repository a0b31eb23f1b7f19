/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

/* Input of a fuzzer, taken piece by piece. Zeros follow after its end. */
struct input {
	const uint8_t *data;
	size_t n;
};

static inline uint8_t input_u8(struct input *in)
{
	if (!in->n)
		return 0;
	in->n--;
	return *in->data++;
}

/* Takes a byte n and the n bytes after it, or as many as are left. */
static inline const uint8_t *input_bytes(struct input *in, size_t *out_n)
{
	const uint8_t *bytes;
	size_t n = input_u8(in);

	if (n > in->n)
		n = in->n;
	bytes = in->data;
	in->data += n;
	in->n -= n;
	*out_n = n;
	return bytes;
}

#endif

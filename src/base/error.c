/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Remove macros named like the functions that this file defines. */
#undef error_set
#undef error_say
#undef error_say_kind
#undef error_wrap

/* If the message fills its buffer, removes a last multi-byte character, which may be incomplete. */
static void error_cut(char *text, size_t size)
{
	size_t n = strlen(text), start;

	if (n + 1 < size)
		return;
	start = n;
	while (start && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start && (unsigned char)text[start - 1] >= 0xc0)
		text[start - 1] = '\0';
}

static enum fh_error_kind error_kind_of(int error)
{
	switch (error) {
	case EINVAL:
	case E2BIG:
	case EFBIG:
	case EMSGSIZE:
	case ENAMETOOLONG:
	case EBADMSG:
	case EILSEQ:
	case EDOM:
	case ERANGE:
	case EOVERFLOW:
	case EEXIST:
	case EISDIR:
	case ENOTDIR:
	case ENOTEMPTY:
	case ELOOP:
		return FH_ERROR_INPUT;
	case EPROTO:
	case ECANCELED:
	case EINTR:
		return FH_ERROR_STATE;
	case ENOENT:
	case ENODATA:
	case ENOPKG:
	case ENODEV:
	case ENXIO:
	case ESRCH:
		return FH_ERROR_MISSING;
	case EBUSY:
	case EAGAIN:
	case ETXTBSY:
		return FH_ERROR_BUSY;
	case EBADF:
	case EFAULT:
	case ENOTSOCK:
		return FH_ERROR_INTERNAL;
	default:
		return FH_ERROR_MACHINE;
	}
}

/* Returns a positive errno unchanged, and EIO for other numbers, so that callers see a failure. */
static int error_positive(int error)
{
	return error > 0 ? error : EIO;
}

static int error_fill(struct fh_error *err, enum fh_error_kind kind, int error, const char *suffix,
		const char *format, va_list ap)
{
	int n;

	if (!err)
		return -error;
	err->code = -error;
	err->kind = kind;
	n = vsnprintf(err->message, sizeof(err->message), format, ap);
	if (suffix && n >= 0 && (size_t)n < sizeof(err->message))
		snprintf(err->message + n, sizeof(err->message) - (size_t)n, ": %s", suffix);
	error_cut(err->message, sizeof(err->message));
	return -error;
}

int error_set(struct fh_error *err, int error, const char *format, ...)
{
	char text[128];
	va_list ap;
	int r;

	va_start(ap, format);
	error = error_positive(error);
	r = error_fill(err, error_kind_of(error), error, strerror_r(error, text, sizeof(text)),
			format, ap);
	va_end(ap);
	return r;
}

int error_say(struct fh_error *err, int error, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	error = error_positive(error);
	r = error_fill(err, error_kind_of(error), error, NULL, format, ap);
	va_end(ap);
	return r;
}

int error_say_kind(
		struct fh_error *err, enum fh_error_kind kind, int error, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = error_fill(err, kind, error_positive(error), NULL, format, ap);
	va_end(ap);
	return r;
}

int error_wrap(struct fh_error *err, const char *format, ...)
{
	struct fh_error inner;
	va_list ap;
	int r;

	if (!err)
		return -EIO;
	inner = *err;
	va_start(ap, format);
	r = error_fill(err, inner.kind, error_positive(-inner.code), inner.message, format, ap);
	va_end(ap);
	return r;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "run/warner.h"

#include "base/buf.h"
#include "base/error.h"

#include <stdarg.h>

void warner_say(const struct warner *w, const char *format, ...)
{
	auto_buf struct buf text = BUF_INIT(2 * FH_ERROR_MESSAGE_MAX);
	va_list ap;

	if (!w)
		return;
	va_start(ap, format);
	buf_vprintf(&text, format, ap);
	va_end(ap);
	w->warn(w->user, buf_str(&text));
}

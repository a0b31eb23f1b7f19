/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scope.h"
#include "base/str.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Texts of numbers. */

bool str_to_i64(const char *s, int64_t *out)
{
	const char *digits = s + (*s == '-' || *s == '+');
	char *end;
	long long v;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || *end)
		return false;
	*out = v;
	return true;
}

int str_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32; /* to lower case */
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static locale_t c_locale;

static void str_c_locale_make(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Reads a number of at most 19 digits without an exponent, a few times as fast as strtod(). NULL: s
 * has no such number at its beginning, or the rounding is not sure. */
static const char *str_parse_short_decimal(const char *s, double *out)
{
	static const long double tens[] = { 1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L, 1e8L,
		1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L };
	const char *p = s + (*s == '-' || *s == '+');
	size_t digits = 0, places = 0;
	bool point = false;
	long double quotient;
	uint64_t v = 0;
	double rounded;

	for (;; p++) {
		if (*p == '.' && !point) {
			point = true;
			continue;
		}
		if (*p < '0' || *p > '9')
			break;
		if (++digits == ARRAY_SIZE(tens))
			return NULL;
		v = 10 * v + (uint64_t)(*p - '0');
		places += point;
	}
	/* Digits and power of ten are exact. Their quotient is off by 2^-64 of itself at most. The
	 * number's double is known if all numbers so near have the same. */
	quotient = (long double)v / tens[places];
	rounded = (double)(quotient - quotient * 0x1p-63L);
	if (LDBL_MANT_DIG < 64 || !digits || *p == 'e' || *p == 'E' ||
			rounded != (double)(quotient + quotient * 0x1p-63L))
		return NULL;
	*out = *s == '-' ? -rounded : rounded;
	return p;
}

/* Reads the decimal number at the beginning of s, and returns its end; NULL: no number. strtod()
 * won't do: it accepts blanks, "inf" and hexadecimal, and follows the host program's locale. */
static const char *str_parse_decimal(const char *s, double *out)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *p = s + (*s == '-' || *s == '+');
	const char *short_end;
	char *end;
	double v;

	if (*p == '.')
		p++;
	if (*p < '0' || *p > '9' || (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')))
		return NULL;
	short_end = str_parse_short_decimal(s, out);
	if (short_end)
		return short_end;
	pthread_once(&once, str_c_locale_make);
	v = strtod_l(s, &end, c_locale);
	if (!isfinite(v))
		return NULL;
	*out = v;
	return end;
}

bool str_to_double(const char *s, double *out)
{
	double v;
	const char *end = str_parse_decimal(s, &v);

	if (!end || *end)
		return false;
	*out = v;
	return true;
}

struct str_unit {
	const char *name;
	double factor;
};

/* Reads a number >= 0 with a unit, and rounds it. round() won't do: the nursery, which
 * clones sandboxes, must not load the mathematical library. */
static bool str_to_units(const char *s, const struct str_unit *units, size_t n, int64_t *out)
{
	double v;
	const char *end = str_parse_decimal(s, &v);
	int64_t whole;

	if (!end || v < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (strcasecmp(end, units[i].name) != 0)
			continue;
		v *= units[i].factor;
		if (v >= 0x1p63)
			return false;
		whole = (int64_t)v;
		if (v - (double)whole >= 0.5)
			whole++;
		/* Refuse 0.2 bytes: rounded to 0, it could mean unlimited. */
		if (!whole && v > 0)
			return false;
		*out = whole;
		return true;
	}
	return false;
}

bool str_to_bytes(const char *s, int64_t *out_bytes)
{
	static const struct str_unit units[] = {
		{ "", 1 },
		{ "B", 1 },
		{ "k", 0x1p10 },
		{ "KB", 0x1p10 },
		{ "KiB", 0x1p10 },
		{ "M", 0x1p20 },
		{ "MB", 0x1p20 },
		{ "MiB", 0x1p20 },
		{ "G", 0x1p30 },
		{ "GB", 0x1p30 },
		{ "GiB", 0x1p30 },
		{ "T", 0x1p40 },
		{ "TB", 0x1p40 },
		{ "TiB", 0x1p40 },
	};

	return str_to_units(s, units, ARRAY_SIZE(units), out_bytes);
}

bool str_to_ms(const char *s, int64_t *out_ms)
{
	static const struct str_unit units[] = {
		{ "", 1e3 },
		{ "ms", 1 },
		{ "s", 1e3 },
		{ "m", 60e3 },
		{ "h", 3600e3 },
	};

	return str_to_units(s, units, ARRAY_SIZE(units), out_ms);
}

/* Writes the fewest decimal digits that give v again, and the exponent. v is finite and not
 * negative. */
static void str_shortest_digits(double v, char *digits, int *out_exponent)
{
	char text[40];
	const char *e;
	size_t n = 0;

	/* 17 digits always give v again. printf and strtod use the same locale here. */
	for (int precision = 0; precision < 17; precision++) {
		snprintf(text, sizeof(text), "%.*e", precision, v);
		if (strtod(text, NULL) == v)
			break;
	}
	e = strchr(text, 'e');
	*out_exponent = (int)strtol(e + 1, NULL, 10);
	for (const char *p = text; p < e; p++)
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	digits[n] = '\0';
}

void str_add_double(struct buf *out, double v)
{
	char digits[24] = "";
	int exponent, n;

	if (!isfinite(v)) {
		buf_add_str(out, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
		return;
	}
	if (signbit(v))
		buf_add_char(out, '-');
	str_shortest_digits(fabs(v), digits, &exponent);
	n = (int)strlen(digits);
	if (exponent < -4 || exponent >= 16) {
		buf_printf(out, "%c%s%se%c%02d", digits[0], n > 1 ? "." : "", digits + 1,
				exponent < 0 ? '-' : '+', abs(exponent));
	} else if (exponent < 0) {
		buf_printf(out, "0.%.*s%s", -exponent - 1, "000", digits);
	} else {
		for (int i = 0; i <= exponent; i++)
			buf_add_char(out, i < n ? digits[i] : '0');
		buf_printf(out, ".%s", n > exponent + 1 ? digits + exponent + 1 : "0");
	}
}

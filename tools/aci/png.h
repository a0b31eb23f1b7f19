/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ACI_PNG_H
#define ACI_PNG_H

#include <stdbool.h>

/* A small picture in shades of grey, white at first, and a PNG of it (https://www.w3.org/TR/png-3). What lies
 * outside is not drawn. */
struct picture;

struct picture *picture_new(int width, int height);
void picture_free(struct picture *p);
void picture_dot(struct picture *p, int x, int y);
void picture_line(struct picture *p, int x0, int y0, int x1, int y1); /* horizontal or vertical */
void picture_text(struct picture *p, int x, int y,
		const char *text); /* digits, signs, e; 4 wide, 5 high */
bool picture_write(const struct picture *p, const char *path);

#endif

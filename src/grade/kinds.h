/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADE_KINDS_H
#define GRADE_KINDS_H

#include "grade/kind.h"

/* All kinds of graders: the table of grade.c. */
extern const struct grade_kind grade_csv, grade_script, grade_duel, grade_mlgym;

#endif

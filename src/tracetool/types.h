/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of arguments in the languages that are generated. */
#ifndef GT_TRACETOOL_TYPES_H
#define GT_TRACETOOL_TYPES_H

#include "tracetool/event.h"

const char *gt_type_in_c(enum gt_type_base base);
/* What stands between an argument's type and its name: a blank, but for pointers. */
const char *gt_argument_blank(const struct gt_argument *a);

const char *gt_type_in_rust(enum gt_type_base base);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of arguments in the generated languages. */
#ifndef GT_EVENTS_TRACETOOL_TYPES_H
#define GT_EVENTS_TRACETOOL_TYPES_H

#include "events/tracetool/event.h"

const char *gt_type_in_c(enum gt_type_base base);
/* Returns the separator of an argument's type and name: "" for pointers, else a blank. */
const char *gt_argument_blank(const struct gt_argument *a);

const char *gt_type_in_rust(enum gt_type_base base);

#endif

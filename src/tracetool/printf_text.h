/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event's format for other languages than C: one string, with the macros of <inttypes.h>
 * expanded. */
#ifndef GT_TRACETOOL_PRINTF_TEXT_H
#define GT_TRACETOOL_PRINTF_TEXT_H

#include <glib.h>

/* As the body of a string of SystemTap, whose printf knows no lengths (%lx, %zu). */
void gt_printf_for_stap(GString *out, const char *format);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event's format for languages other than C: one string, with the macros of <inttypes.h>
 * expanded. */
#ifndef GT_EVENTS_TRACETOOL_PRINTF_TEXT_H
#define GT_EVENTS_TRACETOOL_PRINTF_TEXT_H

#include <glib.h>

/* Appends the format as the body of a SystemTap string, whose printf has no length modifiers (%lx,
 * %zu). */
void gt_printf_for_stap(GString *out, const char *format);

#endif

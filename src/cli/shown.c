/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts with their control characters visible: see shown.h. */
#include "cli/shown.h"

#include "base/text.h"

#include <glib.h>
#include <string.h>

char *gt_cli_shown(const char *text)
{
    size_t n = strlen(text);
    char *shown = g_malloc(GT_ESCAPE_GROWTH * n + 1);
    *gt_text_escape_put(shown, text, n) = '\0';
    return shown;
}

void gt_cli_shown_put(struct gt_output *out, const char *text)
{
    size_t n = strlen(text);
    if (n <= GT_OUTPUT_SIZE / GT_ESCAPE_GROWTH) {
        char *at = gt_output_room(out, GT_ESCAPE_GROWTH * n);
        gt_output_end(out, gt_text_escape_put(at, text, n));
        return;
    }
    g_autofree char *shown = gt_cli_shown(text);
    gt_output_text(out, shown);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats for SystemTap: see printf_text.h. */
#include "events/tracetool/printf_text.h"
#include "events/tracetool/lexer.h"

#include <stdbool.h>
#include <string.h>

static void put(GString *out, unsigned char c)
{
    if (c == '"' || c == '\\')
        g_string_append_printf(out, "\\%c", c);
    else if (c == '\n' || c == '\t')
        g_string_append(out, c == '\n' ? "\\n" : "\\t");
    else if (c < 0x20 || c == 0x7f)
        g_string_append_printf(out, "\\%03o", c);
    else
        g_string_append_c(out, (char)c);
}

/* One character of a format; *in_conversion is from '%' to the letter. */
static void convert(GString *out, unsigned char c, bool *in_conversion)
{
    if (!*in_conversion) {
        *in_conversion = c == '%';
        put(out, c);
    } else if (c && strchr("hlLqjzt", c)) {
        return;
    } else if (c && strchr("#0- +'123456789.*", c)) {
        put(out, c);
    } else {
        *in_conversion = false;
        put(out, c);
    }
}

void gt_printf_for_stap(GString *out, const char *format)
{
    struct gt_lexer l;
    bool in_conversion = false;
    for (gt_lexer_init(&l, format, format + strlen(format)); l.token.kind != GT_TOKEN_END;
         gt_lexer_next(&l)) {
        if (l.token.kind == GT_TOKEN_WORD) { /* PRIx64 */
            convert(out, (unsigned char)l.token.at[3], &in_conversion);
            continue;
        }
        const char *end = l.token.at + l.token.length - 1;
        for (const char *c = l.token.at + 1; c < end; c++) {
            unsigned char value = (unsigned char)*c;
            if (*c == '\\') {
                c++;
                value = gt_literal_escape(&c, end);
            }
            convert(out, value, &in_conversion);
        }
    }
}

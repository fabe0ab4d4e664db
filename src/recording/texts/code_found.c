/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that was recognised in a machine: see code_found.h. */
#include "recording/texts/code_found.h"

#include <inttypes.h>
#include <string.h>

void gt_code_found_begin(struct gt_text *out, size_t module, uint64_t offset)
{
    gt_text_printf(out, "%zu %" PRIx64, module, offset);
}

void gt_code_found_function(struct gt_text *out, size_t function)
{
    gt_text_printf(out, " %zx", function);
}

void gt_code_found_end(struct gt_text *out)
{
    gt_text_add(out, "\n", 1);
}

bool gt_code_found_parse(const char *line, uint64_t *module, uint64_t *offset,
                         struct gt_cursor *rest)
{
    *rest = (struct gt_cursor){line, strlen(line)};
    return gt_take_dec(rest, UINT64_MAX, module) && gt_take(rest, " ") &&
           gt_take_lower_hex(rest, UINT64_MAX, offset) && (!rest->left || *rest->at == ' ');
}

bool gt_code_found_next(struct gt_cursor *rest, uint64_t *function)
{
    struct gt_cursor c = *rest;
    if (!gt_take(&c, " ") || !gt_take_lower_hex(&c, UINT64_MAX, function))
        return false;
    *rest = c;
    return true;
}

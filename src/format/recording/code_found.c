/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that was recognised in a machine: see code_found.h. */
#include "format/recording/code_found.h"

#include <inttypes.h>

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

static int digit(char c, unsigned base)
{
    int n = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
    return n < (int)base ? n : -1;
}

/* Where the number ends; NULL: there is none, or it has more than 64 bits. */
static const char *parse_number(const char *at, unsigned base, uint64_t *out)
{
    const char *begin = at;
    uint64_t n = 0;
    for (int d; (d = digit(*at, base)) >= 0; at++) {
        if (n > (UINT64_MAX - (unsigned)d) / base)
            return NULL;
        n = n * base + (unsigned)d;
    }
    *out = n;
    return at > begin ? at : NULL;
}

bool gt_code_found_parse(const char *line, uint64_t *module, uint64_t *offset, const char **rest)
{
    const char *at = parse_number(line, 10, module);
    at = at && *at == ' ' ? parse_number(at + 1, 16, offset) : NULL;
    *rest = at;
    return at && (*at == '\0' || *at == ' ');
}

bool gt_code_found_next(const char **rest, uint64_t *function)
{
    const char *at = **rest == ' ' ? parse_number(*rest + 1, 16, function) : NULL;
    if (at)
        *rest = at;
    return at != NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that begin handlers: see handlers.h. */
#include "recording/texts/handlers.h"

#include "base/cursor.h"

#include <inttypes.h>
#include <string.h>

enum { DIGITS = 12 };

void gt_handler_put(struct gt_text *out, uint64_t address)
{
    gt_text_printf(out, "%" PRIx64 "\n", address);
}

bool gt_handler_parse(const char *line, uint64_t *address)
{
    struct gt_cursor c = {line, strlen(line)};
    return c.left <= DIGITS && gt_take_hex(&c, UINT64_MAX >> 16, address) && c.left == 0;
}

void gt_handlers_parse(char *text, void (*take)(void *self, uint64_t address), void *self)
{
    char *at = NULL;
    uint64_t address;
    for (char *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
        if (gt_handler_parse(line, &address))
            take(self, address);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text files whose lines are numbers and a name: code_found.h, guest_tasks.h, handlers.h and
 * open_calls.h. */
#include "base/cursor.h"
#include "recording/texts/code_found.h"
#include "recording/texts/guest_tasks.h"
#include "recording/texts/handlers.h"
#include "recording/texts/open_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- code.found ------------------------------------------------------------------------------ */

void gt_recording_code_found_begin(struct gt_text *out, size_t module, uint64_t offset)
{
    gt_text_printf(out, "%zu %" PRIx64, module, offset);
}

void gt_recording_code_found_function(struct gt_text *out, size_t function)
{
    gt_text_printf(out, " %zx", function);
}

void gt_recording_code_found_end(struct gt_text *out)
{
    gt_text_add(out, "\n", 1);
}

bool gt_recording_code_found_parse(const char *line, uint64_t *module, uint64_t *offset,
                                   struct gt_text_cursor *rest)
{
    *rest = (struct gt_text_cursor){line, strlen(line)};
    return gt_text_take_dec(rest, UINT64_MAX, module) && gt_text_take(rest, " ") &&
           gt_text_take_lower_hex(rest, UINT64_MAX, offset) && (!rest->left || *rest->at == ' ');
}

bool gt_recording_code_found_next(struct gt_text_cursor *rest, uint64_t *function)
{
    struct gt_text_cursor c = *rest;
    if (!gt_text_take(&c, " ") || !gt_text_take_lower_hex(&c, UINT64_MAX, function))
        return false;
    *rest = c;
    return true;
}

/* ---- guest-tasks.txt ------------------------------------------------------------------------- */

void gt_recording_guest_task_put(struct gt_text *out, const struct gt_recording_guest_task *t)
{
    gt_text_printf(out, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %s\n", t->task, t->pid, t->tgid,
                   t->comm);
}

/* A number of at most 10 digits, and the blank after it. */
static bool take_number(struct gt_text_cursor *c, uint32_t *out)
{
    enum { DIGITS = 10 };
    uint64_t n;
    size_t before = c->left;
    if (!gt_text_take_dec(c, UINT32_MAX, &n) || before - c->left > DIGITS || !gt_text_take(c, " "))
        return false;
    *out = (uint32_t)n;
    return true;
}

bool gt_recording_guest_task_parse(const char *line, struct gt_recording_guest_task *out)
{
    struct gt_text_cursor c = {line, strlen(line)};
    if (!take_number(&c, &out->task) || !take_number(&c, &out->pid) || !take_number(&c, &out->tgid))
        return false;
    snprintf(out->comm, sizeof out->comm, "%s", c.at);
    return true;
}

/* ---- guest-handlers.txt ---------------------------------------------------------------------- */

void gt_recording_handler_put(struct gt_text *out, uint64_t address)
{
    gt_text_printf(out, "%" PRIx64 "\n", address);
}

bool gt_recording_handler_parse(const char *line, uint64_t *address)
{
    enum { DIGITS = 12 };
    struct gt_text_cursor c = {line, strlen(line)};
    return c.left <= DIGITS && gt_text_take_hex(&c, UINT64_MAX >> 16, address) && c.left == 0;
}

void gt_recording_handlers_parse(char *text, void (*take)(void *self, uint64_t address), void *self)
{
    char *at = NULL;
    uint64_t address;
    for (char *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
        if (gt_recording_handler_parse(line, &address))
            take(self, address);
}

/* ---- open-calls.txt -------------------------------------------------------------------------- */

void gt_recording_open_calls_put(struct gt_text *out, uint32_t task, uint64_t time, uint32_t depth)
{
    gt_text_printf(out, "%" PRIu32 " %" PRIu64 " %" PRIu32 "\n", task, time, depth);
}

void gt_recording_open_calls_parse(char *text,
                                   void (*take)(void *self,
                                                const struct gt_recording_open_calls_line *line),
                                   void *self)
{
    char *at = NULL;
    uint64_t task, time, depth = UINT32_MAX;
    for (char *line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
        struct gt_text_cursor c = {line, strlen(line)};
        if (gt_text_take_dec(&c, UINT32_MAX, &task) && gt_text_take(&c, " ") &&
            gt_text_take_dec(&c, UINT64_MAX, &time) &&
            (c.left == 0 || (gt_text_take(&c, " ") && gt_text_take_dec(&c, UINT32_MAX, &depth))) &&
            c.left == 0)
            take(self,
                 &(struct gt_recording_open_calls_line){(uint32_t)task, (uint32_t)depth, time});
        depth = UINT32_MAX;
    }
}

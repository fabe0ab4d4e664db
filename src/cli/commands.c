/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of subcommands: see command.h. */
#include "cli/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct gt_command *const commands[] = {
    &gt_command_record, &gt_command_symbols,    &gt_command_coverage, &gt_command_repair,
    &gt_command_dump,   &gt_command_diff,       &gt_command_convert,  &gt_command_simpletrace,
    &gt_command_ctl,    &gt_command_completion, &gt_command_help,
};

const struct gt_command *gt_command_at(size_t index)
{
    return index < G_N_ELEMENTS(commands) ? commands[index] : NULL;
}

const struct gt_command *gt_command_by_name(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static void complain(const struct gt_command *self, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));
static void complain(const struct gt_command *self, const char *format, va_list ap)
{
    fprintf(stderr, "guesttrace %s: ", self->name);
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
}

int gt_command_usage_error(const struct gt_command *self, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    complain(self, format, ap);
    va_end(ap);
    fprintf(stderr, "Try 'guesttrace help %s'.\n", self->name);
    return GT_EXIT_USAGE;
}

int gt_command_fail(const struct gt_command *self, int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    complain(self, format, ap);
    va_end(ap);
    return status;
}

static void put_notice(void *self, const char *line)
{
    gt_command_fail(self, 0, "%s", line);
}

struct gt_notices gt_command_notices(const struct gt_command *self)
{
    return (struct gt_notices){put_notice, (void *)(uintptr_t)self};
}

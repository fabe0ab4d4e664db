/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions for every subcommand: lookup in the table, messages. See command.h. */
#include "cli/command.h"

#include "filter/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gt_cli_command *const *commands;

static const struct gt_cli_family *families;

void gt_cli_commands_use(const struct gt_cli_command *const *table, const struct gt_cli_family *of)
{
    commands = table;
    families = of;
}

const struct gt_cli_family *gt_cli_family_first(void)
{
    return families;
}

const struct gt_cli_command *gt_cli_command_at(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!commands[i])
            return NULL;
    return commands[index];
}

const struct gt_cli_command *gt_cli_command_by_name(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

const struct gt_cli_family *gt_cli_family_by_name(const char *name)
{
    for (const struct gt_cli_family *f = families; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

const struct gt_cli_command *gt_cli_family_command(const struct gt_cli_family *f, const char *verb)
{
    for (const struct gt_cli_family_verb *v = f->verb; v->name; v++)
        if (strcmp(v->name, verb) == 0)
            return v->command;
    return NULL;
}

const char *gt_cli_command_called(const struct gt_cli_command *c)
{
    return c->now ? c->now : c->name;
}

char *gt_cli_commands_near(const char *name)
{
    struct gt_filter_nearest near = {.wanted = name};
    for (size_t i = 0; *name != '-' && commands[i]; i++)
        gt_filter_nearest_offer(&near, commands[i]->name);
    for (const struct gt_cli_family *f = families; *name != '-' && f->name; f++)
        if (!gt_cli_command_by_name(f->name))
            gt_filter_nearest_offer(&near, f->name);
    char *text = gt_filter_nearest_text(&near), *copy = g_strdup(text ? text : "");
    free(text);
    return copy;
}

static void complain(const struct gt_cli_command *self, const char *format, va_list ap)
    __attribute__((format(printf, 2, 0)));
static void complain(const struct gt_cli_command *self, const char *format, va_list ap)
{
    fprintf(stderr, "guesttrace %s: ", gt_cli_command_called(self));
    vfprintf(stderr, format, ap);
    fputc('\n', stderr);
}

int gt_cli_command_usage_error(const struct gt_cli_command *self, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    complain(self, format, ap);
    va_end(ap);
    fprintf(stderr, "Try 'guesttrace help %s'.\n", gt_cli_command_called(self));
    return GT_EXIT_USAGE;
}

int gt_cli_command_fail(const struct gt_cli_command *self, int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    complain(self, format, ap);
    va_end(ap);
    return status;
}

int gt_cli_command_close_stdout(int status)
{
    bool failed = ferror(stdout);
    if (fclose(stdout) != 0 || failed) {
        perror("guesttrace: standard output");
        return status == GT_EXIT_DONE ? GT_EXIT_FAILED : status;
    }
    return status;
}

static void put_notice(void *self, const char *line)
{
    gt_cli_command_fail(self, 0, "%s", line);
}

struct gt_error_notices gt_cli_command_notices(const struct gt_cli_command *self)
{
    return (struct gt_error_notices){put_notice, (void *)(uintptr_t)self};
}

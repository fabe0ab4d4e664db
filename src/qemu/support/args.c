/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plugin arguments: see args.h. */
#include "qemu/support/args.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void join(char *out, size_t size, const char *const *words)
{
    out[0] = '\0';
    for (size_t n = 0; *words && n < size; words++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", *words);
}

static int parse_switch(const struct gt_support_arg *arg, const char *value, struct gt_error *err)
{
    static const char *const yes[] = {"on", "yes", "true", "1"};
    static const char *const no[] = {"off", "no", "false", "0"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (strcasecmp(value, yes[i]) == 0 || strcasecmp(value, no[i]) == 0) {
            *(bool *)arg->value = strcasecmp(value, yes[i]) == 0;
            return 0;
        }
    return gt_error_set(err, GT_E_USAGE, "argument %s=%s: expected on or off", arg->name, value);
}

static int parse_number(const struct gt_support_arg *arg, const char *value, struct gt_error *err)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(value, &end, 0);
    if (end == value || *end || errno || strchr(value, '-') || v < arg->min || v > arg->max)
        return gt_error_set(err, GT_E_USAGE, "argument %s=%s: expected a number from %llu to %llu",
                            arg->name, value, (unsigned long long)arg->min,
                            (unsigned long long)arg->max);
    *(uint64_t *)arg->value = v;
    return 0;
}

static int parse_choice(const struct gt_support_arg *arg, const char *value, struct gt_error *err)
{
    for (int i = 0; arg->choices[i]; i++)
        if (strcmp(arg->choices[i], value) == 0) {
            *(int *)arg->value = i;
            return 0;
        }
    char all[256];
    join(all, sizeof all, arg->choices);
    return gt_error_set(err, GT_E_USAGE, "argument %s=%s: expected one of %s", arg->name, value,
                        all);
}

static int parse_text(const struct gt_support_arg *arg, const char *value, struct gt_error *err)
{
    if (!*value)
        return gt_error_set(err, GT_E_USAGE, "argument %s=: expected a value", arg->name);
    *(const char **)arg->value = value;
    return 0;
}

static int parse_each(const struct gt_support_arg *arg, const char *value, struct gt_error *err)
{
    return arg->each(arg->value, value, err);
}

static const struct gt_support_arg *find(const struct gt_support_arg *table, const char *word,
                                         size_t n)
{
    for (; table->name; table++)
        if (strlen(table->name) == n && strncmp(table->name, word, n) == 0)
            return table;
    return NULL;
}

static int unknown(const struct gt_support_arg *table, const char *word, struct gt_error *err)
{
    char all[1024] = "";
    for (size_t n = 0; table->name && n < sizeof all; table++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", n ? ", " : "", table->name);
    return gt_error_set(err, GT_E_USAGE, "unknown argument %s: expected one of %s", word, all);
}

int gt_support_args_parse(const struct gt_support_arg *table, int argc, char **argv,
                          struct gt_error *err)
{
    static int (*const parse[])(const struct gt_support_arg *, const char *, struct gt_error *) = {
        [GT_ARG_TEXT] = parse_text,     [GT_ARG_SWITCH] = parse_switch,
        [GT_ARG_NUMBER] = parse_number, [GT_ARG_CHOICE] = parse_choice,
        [GT_ARG_EACH] = parse_each,
    };
    for (int i = 0; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        size_t n = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
        const struct gt_support_arg *arg = find(table, argv[i], n);
        if (!arg)
            return unknown(table, argv[i], err);
        if (!equals)
            return gt_error_set(err, GT_E_USAGE, "argument %s: expected %s=VALUE", argv[i],
                                argv[i]);
        int status = parse[arg->kind](arg, equals + 1, err);
        if (status < 0)
            return status;
    }
    return 0;
}

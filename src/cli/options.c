/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines: see options.h. */
#include "cli/options.h"

#include "base/number.h"

#include <inttypes.h>
#include <string.h>

static const struct gt_option *find_name(const struct gt_option *table, const char *name,
                                         size_t len)
{
    for (const struct gt_option *o = table; o && o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static const struct gt_option *find_letter(const struct gt_option *table, char letter)
{
    for (const struct gt_option *o = table; o && o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

char *gt_option_value_name(const struct gt_option *o)
{
    if (o->type == GT_OPTION_CHOICE)
        return g_strjoinv("|", (char **)o->choices);
    return g_strdup(o->value);
}

static int store_choice(const struct gt_option *o, const char *value, const char **field,
                        struct gt_error *err)
{
    for (const char *const *c = o->choices; *c; c++) {
        if (strcmp(*c, value) == 0) {
            *field = *c;
            return 0;
        }
    }
    g_autofree char *all = gt_option_value_name(o);
    return gt_error_set(err, GT_E_USAGE, "option '--%s' takes one of %s, not '%s'", o->name, all,
                        value);
}

static int store_number(const struct gt_option *o, const char *value, uint64_t *field,
                        struct gt_error *err)
{
    uint64_t n;
    if (gt_number_parse(value, &n) < 0)
        return gt_error_set(err, GT_E_USAGE, "option '--%s' takes a number, not '%s'", o->name,
                            value);
    if (n < o->min || n > o->max)
        return gt_error_set(err, GT_E_USAGE,
                            "option '--%s' takes a number from %" PRIu64 " to %" PRIu64 ", not %s",
                            o->name, o->min, o->max, value);
    *field = n;
    return 0;
}

static int store(const struct gt_option *o, void *into, const char *value, struct gt_error *err)
{
    void *field = (char *)into + o->offset;
    if (o->repeat) {
        GPtrArray **list = field;
        if (!*list)
            *list = g_ptr_array_new();
        g_ptr_array_add(*list, (char *)value);
        return 0;
    }
    switch (o->type) {
    case GT_OPTION_FLAG:
        *(bool *)field = !o->off;
        return 0;
    case GT_OPTION_CHOICE:
        return store_choice(o, value, field, err);
    case GT_OPTION_NUMBER:
        return store_number(o, value, field, err);
    default:
        *(const char **)field = value;
        return 0;
    }
}

/* `--name[=VALUE]`; returns how many further arguments it took, or the error. */
static int parse_long(const struct gt_option *table, void *into, const char *arg, const char *next,
                      struct gt_error *err)
{
    const char *name = arg + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct gt_option *o = find_name(table, name, len);
    if (!o)
        return gt_error_set(err, GT_E_USAGE, "unknown option '%.*s'", (int)len + 2, arg);
    if (o->type == GT_OPTION_FLAG) {
        if (equals)
            return gt_error_set(err, GT_E_USAGE, "option '--%s' takes no value ('%s')", o->name,
                                equals + 1);
        return store(o, into, NULL, err);
    }
    if (equals)
        return store(o, into, equals + 1, err);
    if (!next)
        return gt_error_set(err, GT_E_USAGE, "option '--%s' needs a value (%s)", o->name, o->value);
    int status = store(o, into, next, err);
    return status < 0 ? status : 1;
}

/* `-abc`, `-oVALUE` or `-o VALUE`; returns as parse_long, or GT_OPTIONS_HELP in *help. */
static int parse_letters(const struct gt_option *table, void *into, const char *arg,
                         const char *next, bool *help, struct gt_error *err)
{
    for (const char *c = arg + 1; *c; c++) {
        if (*c == 'h') {
            *help = true;
            return 0;
        }
        const struct gt_option *o = find_letter(table, *c);
        if (!o)
            return gt_error_set(err, GT_E_USAGE, "unknown option '-%c' in '%s'", *c, arg);
        int status;
        if (o->type == GT_OPTION_FLAG) {
            status = store(o, into, NULL, err);
            if (status < 0)
                return status;
            continue;
        }
        if (c[1])
            return store(o, into, c + 1, err);
        if (!next)
            return gt_error_set(err, GT_E_USAGE, "option '-%c' needs a value (%s)", *c, o->value);
        status = store(o, into, next, err);
        return status < 0 ? status : 1;
    }
    return 0;
}

int gt_options_parse(const struct gt_options_spec *spec, void *into, int argc, char **argv,
                     GPtrArray *operands, struct gt_error *err)
{
    int i = 0;
    for (const struct gt_option *o = spec->table; o && o->name; o++)
        if (o->type == GT_OPTION_NUMBER)
            *(uint64_t *)(void *)((char *)into + o->offset) = o->initial;
        else if (o->type == GT_OPTION_FLAG && o->initial)
            *(bool *)(void *)((char *)into + o->offset) = true;
    for (; i < argc; i++) {
        char *arg = argv[i];
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (arg[0] != '-' || arg[1] == '\0') {
            if (spec->stop_at_operand)
                break;
            g_ptr_array_add(operands, arg);
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            i++;
            break;
        }
        bool help = strcmp(arg, "--help") == 0;
        int taken = 0;
        if (!help)
            taken = arg[1] == '-' ? parse_long(spec->table, into, arg, next, err)
                                  : parse_letters(spec->table, into, arg, next, &help, err);
        if (help)
            return GT_OPTIONS_HELP;
        if (taken < 0)
            return taken;
        i += taken;
    }
    for (; i < argc; i++)
        g_ptr_array_add(operands, argv[i]);
    return 0;
}

void gt_options_clear(const struct gt_option *table, void *into)
{
    for (const struct gt_option *o = table; o && o->name; o++) {
        GPtrArray **list = (GPtrArray **)((char *)into + o->offset);
        if (o->repeat && *list) {
            g_ptr_array_free(*list, TRUE);
            *list = NULL;
        }
    }
}

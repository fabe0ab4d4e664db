/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines: see options.h. */
#include "cli/options.h"

#include "base/number.h"

#include <inttypes.h>
#include <string.h>

static const struct gt_cli_option *find_name(const struct gt_cli_option *table, const char *name,
                                             size_t len)
{
    for (const struct gt_cli_option *o = table; o && o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

/* True where a table before group `n` has the name. */
static bool stands_before(const struct gt_cli_options_spec *spec, size_t n, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < n; i++)
        if (find_name(spec->groups[i].table, name, len))
            return true;
    return find_name(spec->table, name, len) != NULL;
}

const struct gt_cli_option *gt_cli_options_at(const struct gt_cli_options_spec *spec, size_t index)
{
    for (const struct gt_cli_option *o = spec->table; o && o->name; o++)
        if (index-- == 0)
            return o;
    for (size_t g = 0; spec->groups && spec->groups[g].name; g++)
        for (const struct gt_cli_option *o = spec->groups[g].table; o->name; o++)
            if (!stands_before(spec, g, o->name) && index-- == 0)
                return o;
    return NULL;
}

const struct gt_cli_option_group *gt_cli_options_group(const struct gt_cli_options_spec *spec,
                                                       const char *name)
{
    for (const struct gt_cli_option_group *g = spec->groups; g && g->name; g++)
        if (!name || strcmp(g->name, name) == 0)
            return g;
    return NULL;
}

static const char *text_of(const struct gt_cli_option *o, const void *into)
{
    return *(const char *const *)(const void *)((const char *)into + o->offset);
}

const struct gt_cli_option_group *gt_cli_options_chosen(const struct gt_cli_options_spec *spec,
                                                        const void *into)
{
    if (!spec->groups)
        return NULL;
    const struct gt_cli_option *chooser =
        find_name(spec->table, spec->chooser, strlen(spec->chooser));
    const char *name = text_of(chooser, into);
    for (const struct gt_cli_option_group *g = spec->groups; !name && g->name; g++)
        for (const struct gt_cli_option *o = g->table; o->name && !name; o++)
            name = o->chooses && text_of(o, into) ? g->name : NULL;
    return gt_cli_options_group(spec, name);
}

static const struct gt_cli_option *find_long(const struct gt_cli_options_spec *spec,
                                             const char *name, size_t len)
{
    const struct gt_cli_option *o;
    for (size_t i = 0; (o = gt_cli_options_at(spec, i)); i++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static const struct gt_cli_option *find_letter(const struct gt_cli_options_spec *spec, char letter)
{
    const struct gt_cli_option *o;
    for (size_t i = 0; (o = gt_cli_options_at(spec, i)); i++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* Where the option had another spelling, with its dashes. */
static const struct gt_cli_option *find_old(const struct gt_cli_options_spec *spec,
                                            const char *word, size_t len)
{
    const struct gt_cli_option *o;
    for (size_t i = 0; (o = gt_cli_options_at(spec, i)); i++)
        for (const char *at = o->old; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
            if (strcspn(at, " ") == len && memcmp(at, word, len) == 0)
                return o;
    return NULL;
}

char *gt_cli_option_value_name(const struct gt_cli_option *o)
{
    if (o->type == GT_OPTION_CHOICE)
        return g_strjoinv("|", (char **)o->choices);
    return g_strdup(o->value);
}

/* Each once. */
static void add_choices(GPtrArray *out, const struct gt_cli_option *o)
{
    for (const char *const *c = o && o->type == GT_OPTION_CHOICE ? o->choices : NULL; c && *c; c++)
        if (!g_ptr_array_find_with_equal_func(out, *c, g_str_equal, NULL))
            g_ptr_array_add(out, (char *)*c);
}

char *gt_cli_options_choices(const struct gt_cli_options_spec *spec, const struct gt_cli_option *o)
{
    if (o->type != GT_OPTION_CHOICE)
        return NULL;
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    size_t len = strlen(o->name);
    add_choices(words, find_name(spec->table, o->name, len));
    for (const struct gt_cli_option_group *g = spec->groups; g && g->name; g++)
        add_choices(words, find_name(g->table, o->name, len));
    g_ptr_array_add(words, NULL);
    return g_strjoinv(" ", (char **)words->pdata);
}

const char *const *gt_cli_option_texts(GPtrArray *list)
{
    if (!list)
        return NULL;
    g_ptr_array_add(list, NULL);
    g_ptr_array_set_size(list, (gint)list->len - 1); /* it stays behind the last one */
    return (const char *const *)list->pdata;
}

static int store_choice(const struct gt_cli_option *o, const char *value, const char **field,
                        struct gt_error *err)
{
    for (const char *const *c = o->choices; *c; c++) {
        if (strcmp(*c, value) == 0) {
            *field = *c;
            return 0;
        }
    }
    g_autofree char *all = gt_cli_option_value_name(o);
    return gt_error_set(err, GT_E_USAGE, "option '--%s' takes one of %s, not '%s'", o->name, all,
                        value);
}

static int store_number(const struct gt_cli_option *o, const char *value, uint64_t *field,
                        struct gt_error *err)
{
    uint64_t n;
    if (gt_text_number_parse(value, &n) < 0)
        return gt_error_set(err, GT_E_USAGE, "option '--%s' takes a number, not '%s'", o->name,
                            value);
    if (n < o->min || n > o->max)
        return gt_error_set(err, GT_E_USAGE,
                            "option '--%s' takes a number from %" PRIu64 " to %" PRIu64 ", not %s",
                            o->name, o->min, o->max, value);
    *field = n;
    return 0;
}

struct parse {
    const struct gt_cli_options_spec *spec;
    void *into;
    GPtrArray *seen; /* options that were given */
    const struct gt_error_notices *notices;
};

/* The same, and says so. */
static const struct gt_cli_option *take_old(const struct parse *p, const char *word, size_t len)
{
    const struct gt_cli_option *o = find_old(p->spec, word, len);
    if (o && o->letter)
        gt_error_notice(p->notices, "%.*s is -%c, --%s now; it goes on until the next release",
                        (int)len, word, o->letter, o->name);
    else if (o)
        gt_error_notice(p->notices, "%.*s is --%s now; it goes on until the next release", (int)len,
                        word, o->name);
    return o;
}

static int store(struct parse *p, const struct gt_cli_option *o, const char *value,
                 struct gt_error *err)
{
    void *field = (char *)p->into + o->offset;
    g_ptr_array_add(p->seen, (void *)(uintptr_t)o);
    if (o->repeat) {
        GPtrArray **list = field;
        if (!*list)
            *list = g_ptr_array_new();
        g_autofree char *marked = o->prefix ? g_strconcat(o->prefix, value, NULL) : NULL;
        g_ptr_array_add(*list, (char *)(marked ? g_intern_string(marked) : value));
        return 0;
    }
    switch (o->type) {
    case GT_OPTION_FLAG:
        *(bool *)field = !o->off;
        return 0;
    case GT_OPTION_CHOICE:
        if (find_name(p->spec->table, o->name, strlen(o->name)))
            return store_choice(o, value, field, err);
        *(const char **)field = value; /* which group's choice it is, is known at the end */
        return 0;
    case GT_OPTION_NUMBER:
        return store_number(o, value, field, err);
    default:
        *(const char **)field = value;
        return 0;
    }
}

/* The letter of an option that takes a folder is another one's now, and the value is a folder. */
static bool was_folder(const struct parse *p, char letter, const char *value)
{
    const struct gt_cli_option *o = find_old(p->spec, (const char[]){'-', letter}, 2);
    return o && o->type == GT_OPTION_DIR && value && g_file_test(value, G_FILE_TEST_IS_DIR);
}

/* `--name[=VALUE]`; returns how many further arguments it took, or the error. */
static int parse_long(struct parse *p, const char *arg, const char *next, struct gt_error *err)
{
    const char *name = arg + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct gt_cli_option *o = find_long(p->spec, name, len);
    if (!o)
        o = take_old(p, arg, len + 2);
    if (!o)
        return gt_error_set(err, GT_E_USAGE, "unknown option '%.*s'", (int)len + 2, arg);
    if (o->type == GT_OPTION_FLAG) {
        if (equals)
            return gt_error_set(err, GT_E_USAGE, "option '--%s' takes no value ('%s')", o->name,
                                equals + 1);
        return store(p, o, NULL, err);
    }
    if (equals)
        return store(p, o, equals + 1, err);
    if (!next)
        return gt_error_set(err, GT_E_USAGE, "option '--%s' needs a value (%s)", o->name, o->value);
    int status = store(p, o, next, err);
    return status < 0 ? status : 1;
}

/* `-abc`, `-oVALUE` or `-o VALUE`; returns as parse_long, or GT_OPTIONS_HELP in *help. */
static int parse_letters(struct parse *p, const char *arg, const char *next, bool *help,
                         struct gt_error *err)
{
    for (const char *c = arg + 1; *c; c++) {
        if (*c == 'h') {
            *help = true;
            return 0;
        }
        const struct gt_cli_option *o = find_letter(p->spec, *c);
        if (!o || was_folder(p, *c, c[1] ? c + 1 : next))
            o = take_old(p, (const char[]){'-', *c}, 2);
        if (!o)
            return gt_error_set(err, GT_E_USAGE, "unknown option '-%c' in '%s'", *c, arg);
        int status;
        if (o->type == GT_OPTION_FLAG) {
            status = store(p, o, NULL, err);
            if (status < 0)
                return status;
            continue;
        }
        if (c[1])
            return store(p, o, c + 1, err);
        if (!next)
            return gt_error_set(err, GT_E_USAGE, "option '-%c' needs a value (%s)", *c, o->value);
        status = store(p, o, next, err);
        return status < 0 ? status : 1;
    }
    return 0;
}

static void set_initial(const struct gt_cli_options_spec *spec, void *into)
{
    const struct gt_cli_option *o;
    for (size_t i = 0; (o = gt_cli_options_at(spec, i)); i++)
        if (o->type == GT_OPTION_NUMBER)
            *(uint64_t *)(void *)((char *)into + o->offset) = o->initial;
        else if (o->type == GT_OPTION_FLAG && o->initial)
            *(bool *)(void *)((char *)into + o->offset) = true;
}

/* The chosen group's option of the name of one that was given. */
static int check_option(const struct parse *p, const struct gt_cli_option_group *chosen,
                        const struct gt_cli_option *o, struct gt_error *err)
{
    size_t len = strlen(o->name);
    const struct gt_cli_option *own = find_name(chosen->table, o->name, len);
    const char **field = (const char **)(void *)((char *)p->into + o->offset);
    if (own && own->type == GT_OPTION_CHOICE)
        return store_choice(own, *field, field, err);
    if (own)
        return 0;
    g_autoptr(GString) owners = g_string_new(NULL);
    for (const struct gt_cli_option_group *g = p->spec->groups; g->name; g++)
        if (find_name(g->table, o->name, len))
            g_string_append_printf(owners, "%s%s", owners->len ? " or " : "", g->name);
    return gt_error_set(err, GT_E_USAGE, "option '--%s' is for --%s %s, not %s", o->name,
                        p->spec->chooser, owners->str, chosen->name);
}

/* All that was given belongs to the chosen group, or to none. */
static int check_groups(const struct parse *p, struct gt_error *err)
{
    const struct gt_cli_option_group *chosen = gt_cli_options_chosen(p->spec, p->into);
    int status = 0;
    for (guint i = 0; chosen && i < p->seen->len && status == 0; i++) {
        const struct gt_cli_option *o = p->seen->pdata[i];
        if (!find_name(p->spec->table, o->name, strlen(o->name)))
            status = check_option(p, chosen, o, err);
    }
    return status;
}

int gt_cli_options_parse(const struct gt_cli_options_spec *spec, void *into, int argc, char **argv,
                         GPtrArray *operands, const struct gt_error_notices *notices,
                         struct gt_error *err)
{
    int i = 0;
    g_autoptr(GPtrArray) seen = g_ptr_array_new();
    struct parse p = {spec, into, seen, notices};
    set_initial(spec, into);
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
            taken = arg[1] == '-' ? parse_long(&p, arg, next, err)
                                  : parse_letters(&p, arg, next, &help, err);
        if (help)
            return next && strcmp(next, "all") == 0 ? GT_OPTIONS_HELP_ALL : GT_OPTIONS_HELP;
        if (taken < 0)
            return taken;
        i += taken;
    }
    for (; i < argc; i++)
        g_ptr_array_add(operands, argv[i]);
    return check_groups(&p, err);
}

void gt_cli_options_clear(const struct gt_cli_options_spec *spec, void *into)
{
    const struct gt_cli_option *o;
    for (size_t i = 0; (o = gt_cli_options_at(spec, i)); i++) {
        GPtrArray **list = (GPtrArray **)((char *)into + o->offset);
        if (o->repeat && *list) {
            g_ptr_array_free(*list, TRUE);
            *list = NULL;
        }
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: see options.h. */
#include "events/tracetool/options.h"
#include "events/tracetool/backends/backend.h"
#include "events/tracetool/formats/format.h"

#include <string.h>

typedef struct gt_tracetool_options options;

enum kind { FLAG, TEXT, LIST };

static const struct option {
    const char *name, *argument, *help;
    enum kind kind;
    size_t offset;
    bool ours; /* QEMU's tool has no such option */
} table[] = {
    {"format", "NAME", "what to generate", TEXT, offsetof(options, format_name), false},
    {"backends", "NAME,...", "where events go", TEXT, offsetof(options, backend_names), false},
    {"group", "NAME", "the group of the events", TEXT, offsetof(options, group), false},
    {"binary", "PATH", "the traced program (stap)", TEXT, offsetof(options, binary), false},
    {"probe-prefix", "PREFIX", "of SystemTap's probes, or", TEXT, offsetof(options, probe_prefix),
     false},
    {"target-type", "TYPE", "  the prefix is PROVIDER.TYPE.NAME", TEXT,
     offsetof(options, target_type), false},
    {"target-name", "NAME", "", TEXT, offsetof(options, target_name), false},
    {"list-backends", NULL, "print the names of the backends", FLAG,
     offsetof(options, list_backends), false},
    {"check-backends", NULL, "exit with 0 if all of --backends exist", FLAG,
     offsetof(options, check_backends), false},
    {"help", NULL, "print this", FLAG, offsetof(options, help), false},
    {"provider", "NAME", "of probes and tracepoints [qemu]", TEXT, offsetof(options, provider),
     true},
    {"header", "FILE", "what c includes: the output of h [trace-GROUP.h]", TEXT,
     offsetof(options, header), true},
    {"ust-header", "FILE", "the output of ust-events-h [trace-ust-GROUP.h]", TEXT,
     offsetof(options, ust_header), true},
    {"runtime-header", "FILE", "what h includes as <FILE> [guesttrace/events.h]", TEXT,
     offsetof(options, runtime_header), true},
    {"include", "FILE", "c begins with #include \"FILE\" (repeatable)", LIST,
     offsetof(options, include_list), true},
    {"grammar", "VERSION", "of QEMU, whose events files are read: 5.0 to 10.2 [any]", TEXT,
     offsetof(options, grammar_name), true},
};

static const struct option *end_of_table(void)
{
    return table + sizeof table / sizeof *table;
}

/* The option of that name or, if there is but one, whose name begins so: among QEMU's, then among
 * all. NULL: none, or `*ambiguous`. */
static const struct option *find(const char *name, size_t length, bool *ambiguous)
{
    const struct option *found[2] = {NULL, NULL};
    unsigned n[2] = {0, 0};
    for (const struct option *o = table; o < end_of_table(); o++) {
        if (strncmp(o->name, name, length))
            continue;
        if (!o->name[length])
            return o;
        found[o->ours] = o;
        n[o->ours]++;
    }
    *ambiguous = n[0] > 1 || (!n[0] && n[1] > 1);
    return *ambiguous ? NULL : found[n[0] ? 0 : 1];
}

static void store(options *o, const struct option *option, const char *value)
{
    void *at = (char *)o + option->offset;
    switch (option->kind) {
    case FLAG:
        *(bool *)at = true;
        break;
    case TEXT:
        *(const char **)at = value;
        break;
    case LIST:
        g_ptr_array_add(*(GPtrArray **)at, (char *)value);
        break;
    }
}

/* One long option; *i is its place in argv, and is left on its value. */
static int take(options *o, int argc, char **argv, int *i, struct gt_error *err)
{
    const char *name = argv[*i] + 2;
    size_t length = strcspn(name, "=");
    bool ambiguous = false;
    const struct option *option = find(name, length, &ambiguous);
    if (!option)
        return gt_error_set(err, GT_E_USAGE, "%s option '--%.*s'",
                            ambiguous ? "ambiguous" : "unknown", (int)length, name);
    const char *value = name[length] ? name + length + 1 : NULL;
    if (option->kind == FLAG && value)
        return gt_error_set(err, GT_E_USAGE, "option '--%s' takes no value", option->name);
    if (option->kind != FLAG && !value) {
        if (*i + 1 == argc)
            return gt_error_set(err, GT_E_USAGE, "option '--%s' needs a value: %s", option->name,
                                option->argument);
        value = argv[++*i];
    }
    store(o, option, value);
    return 0;
}

static int read_arguments(options *o, int argc, char **argv, struct gt_error *err)
{
    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        if (only_operands || argv[i][0] != '-' || !argv[i][1]) {
            g_ptr_array_add(o->operands, argv[i]);
        } else if (!strcmp(argv[i], "--")) {
            only_operands = true;
        } else if (argv[i][1] != '-') {
            return gt_error_set(err, GT_E_USAGE, "unknown option '%s'", argv[i]);
        } else {
            int status = take(o, argc, argv, &i, err);
            if (status)
                return status;
        }
    }
    return 0;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const char *keep(options *o, char *text)
{
    g_ptr_array_add(o->strings, text);
    return text;
}

static int read_backends(options *o, struct gt_error *err)
{
    if (!o->backend_names)
        return gt_error_set(err, GT_E_USAGE, "no backends: --backends=NAME,...");
    g_auto(GStrv) names = g_strsplit(o->backend_names, ",", -1);
    for (char **name = names; *name; name++) {
        const struct gt_tracetool_backend *b = gt_tracetool_backend_find(*name);
        if (!b)
            return gt_error_set(err, o->check_backends ? GT_E_NOT_FOUND : GT_E_USAGE,
                                "unknown backend '%s'", *name);
        if (!g_ptr_array_find(o->backend_list, b, NULL))
            g_ptr_array_add(o->backend_list, (void *)b);
    }
    if (!o->backend_list->len)
        return gt_error_set(err, GT_E_USAGE, "no backends: --backends=NAME,...");
    return 0;
}

static int read_grammar(options *o, struct gt_error *err)
{
    char *end;
    if (!o->grammar_name || !strcmp(o->grammar_name, "any"))
        return 0;
    guint64 major = g_ascii_strtoull(o->grammar_name, &end, 10);
    if (!g_ascii_isdigit(o->grammar_name[0]) || (*end && *end != '.') || major < 5 || major > 10)
        return gt_error_set(
            err, GT_E_USAGE,
            "unknown grammar '%s', expected a version of QEMU from 5.0 to 10.2, or any",
            o->grammar_name);
    o->grammar = major < 10 ? GT_GRAMMAR_OLD : GT_GRAMMAR_NEW;
    return 0;
}

static bool is_name(const char *text)
{
    bool good = *text && !g_ascii_isdigit(*text);
    for (; *text; text++)
        good = good && (g_ascii_isalnum(*text) || *text == '_');
    return good;
}

static int check_prefix(options *o, struct gt_error *err)
{
    const char *format = o->format->name;
    if (o->format->needs_binary && !o->binary)
        return gt_error_set(err, GT_E_USAGE, "format %s needs --binary", format);
    if (!o->format->needs_prefix || o->probe_prefix)
        return 0;
    if (!o->target_type || !o->target_name)
        return gt_error_set(err, GT_E_USAGE,
                            "format %s needs --probe-prefix, or --target-type and --target-name",
                            format);
    o->probe_prefix = keep(o, g_strjoin(".", o->provider, o->target_type, o->target_name, NULL));
    return 0;
}

static void set_defaults(options *o)
{
    if (!o->provider)
        o->provider = "qemu";
    if (!o->runtime_header)
        o->runtime_header = "guesttrace/events.h";
    if (!o->header)
        o->header = keep(o, g_strconcat("trace-", o->group, ".h", NULL));
    if (!o->ust_header)
        o->ust_header = keep(o, g_strconcat("trace-ust-", o->group, ".h", NULL));
    g_ptr_array_add(o->include_list, NULL);
    o->includes = (const char *const *)o->include_list->pdata;
    o->n_inputs = o->operands->len - 1;
    o->inputs = (const char *const *)o->operands->pdata;
    o->output = o->inputs[o->n_inputs];
}

static int check(options *o, struct gt_error *err)
{
    int status = read_backends(o, err);
    if (status || o->check_backends)
        return status;
    g_ptr_array_add(o->backend_list, NULL);
    o->backends = (const struct gt_tracetool_backend *const *)o->backend_list->pdata;
    if (!o->format_name)
        return gt_error_set(err, GT_E_USAGE, "no format: --format=NAME");
    o->format = gt_tracetool_format_find(o->format_name);
    if (!o->format)
        return gt_error_set(err, GT_E_USAGE, "unknown format '%s'", o->format_name);
    if (!o->group || !*o->group)
        return gt_error_set(err, GT_E_USAGE, "no group: --group=NAME");
    if (strpbrk(o->group, "\"\\\n"))
        return gt_error_set(err, GT_E_USAGE, "group '%s' cannot be in a name of C", o->group);
    if (o->operands->len < 2)
        return gt_error_set(err, GT_E_USAGE, "expected events files and an output file");
    set_defaults(o);
    if (!is_name(o->provider))
        return gt_error_set(err, GT_E_USAGE, "provider '%s' is not a C name", o->provider);
    status = read_grammar(o, err);
    return status ? status : check_prefix(o, err);
}

int gt_tracetool_options(options *o, int argc, char **argv, struct gt_error *err)
{
    *o = (options){.backend_list = g_ptr_array_new(),
                   .include_list = g_ptr_array_new(),
                   .operands = g_ptr_array_new(),
                   .strings = g_ptr_array_new_with_free_func(g_free)};
    int status = read_arguments(o, argc, argv, err);
    return status || o->help || o->list_backends ? status : check(o, err);
}

void gt_tracetool_options_free(options *o)
{
    g_ptr_array_free(o->backend_list, TRUE);
    g_ptr_array_free(o->include_list, TRUE);
    g_ptr_array_free(o->operands, TRUE);
    g_ptr_array_free(o->strings, TRUE);
}

void gt_tracetool_help(struct gt_text *out)
{
    const struct gt_tracetool_format *f;
    const struct gt_tracetool_backend *b;
    gt_text_printf(out,
                   "Usage: tracetool --format=NAME --backends=NAME,... --group=NAME [OPTION]... "
                   "EVENTS... OUTPUT\n\n"
                   "Generates code from trace-events files.\n\nOptions:\n");
    for (const struct option *o = table; o < end_of_table(); o++) {
        g_autofree char *name =
            g_strconcat("--", o->name, o->argument ? "=" : NULL, o->argument, NULL);
        gt_text_printf(out, "  %-24s %s\n", name, o->help);
    }
    gt_text_printf(out, "\nFormats:\n");
    for (size_t i = 0; (f = gt_tracetool_format_at(i)); i++)
        gt_text_printf(out, "  %-24s %s\n", f->name, f->summary);
    gt_text_printf(out, "\nBackends:\n");
    for (size_t i = 0; (b = gt_tracetool_backend_at(i)); i++)
        gt_text_printf(out, "  %-24s %s\n", b->name, b->summary);
}

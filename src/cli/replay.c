/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace replay`: the calls of a recording, in order of time. */
#include "calls/replay/replay.h"

#include "cli/function_pattern.h"
#include "cli/reading.h"
#include "guesttrace/control.h"

#include <string.h>

struct replay_options {
    struct gt_reading_options reader;
    GPtrArray *functions, *modules;
    const char *fields;
    uint64_t last;
    bool flat, json;
};

static const struct gt_option replay_table[] = {
    {"flat", .type = GT_OPTION_FLAG, .help = "print a line for each event, for other programs",
     .heading = GT_UNDER_OUTPUT, .offset = offsetof(struct replay_options, flat)},
    {"json", .type = GT_OPTION_FLAG, .help = "print JSON, a line for each call where it ends",
     .heading = GT_UNDER_OUTPUT | GT_OPTION_FIRST, .offset = offsetof(struct replay_options, json)},
    {"last", .type = GT_OPTION_NUMBER, .value = "N", .min = 1, .max = 10000000,
     .help = "only the last N calls, and what is open then",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST, .offset = offsetof(struct replay_options, last)},
    {"function", .type = GT_OPTION_TEXT, .repeat = true, .value = "PATTERN",
     .help = "only calls of these functions and what they call: NAME, a glob, MODULE:NAME",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct replay_options, functions)},
    {"module", 'm', GT_OPTION_TEXT, .repeat = true, .value = "NAME",
     .help = "only calls of functions of this module, a file's base name or a glob",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct replay_options, modules)},
    {"fields", 'f', GT_OPTION_TEXT, .value = "LIST",
     .help = "the columns: duration, tid, addr, time, delta, elapsed, at, task, module, joined by "
             "commas; +LIST adds to the default; none; all",
     .heading = GT_UNDER_SHOWN | GT_OPTION_FIRST,
     .offset = offsetof(struct replay_options, fields)},
    GT_READING_OPTIONS(struct replay_options, reader),
    {0},
};

/* ---- columns ------------------------------------------------------------------------------- */

struct fields {
    uint8_t field[GT_REPLAY_FIELDS];
    size_t n;
};

static void add_field(struct fields *f, uint8_t field)
{
    if (!memchr(f->field, field, f->n))
        f->field[f->n++] = field;
}

static int add_named(struct fields *f, const char *name, struct gt_error *err)
{
    for (uint8_t i = 0; i < GT_REPLAY_FIELDS; i++)
        if (strcmp(gt_replay_fields[i], name) == 0) {
            add_field(f, i);
            return 0;
        }
    g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)gt_replay_fields);
    return gt_error_set(err, GT_E_USAGE, "--fields: no field '%s'; there are: %s, none, all", name,
                        all);
}

static void add_default(struct fields *f, const struct replay_options *o)
{
    if (o->reader.window.from || o->reader.window.to || o->last)
        add_field(f, GT_REPLAY_AT);
    add_field(f, GT_REPLAY_DURATION);
    add_field(f, GT_REPLAY_TID);
}

static int choose_fields(struct fields *f, const struct replay_options *o, struct gt_error *err)
{
    const char *text = o->fields;
    int status = 0;
    f->n = 0;
    if (!text || *text == '+')
        add_default(f, o);
    if (!text || strcmp(text, "none") == 0)
        return 0;
    if (strcmp(text, "all") == 0) {
        for (uint8_t i = 0; i < GT_REPLAY_FIELDS; i++)
            add_field(f, i);
        return 0;
    }
    g_auto(GStrv) names = g_strsplit(text + (*text == '+'), ",", -1);
    for (char **name = names; *name && status == 0; name++)
        status = add_named(f, *name, err);
    return status;
}

/* ---- functions ----------------------------------------------------------------------------- */

struct wanted {
    const struct replay_options *o;
    bool *function, *module; /* by pattern: a call fits it */
};

static bool want_called(void *user, const struct gt_calls_function *f, const char *shown)
{
    const struct wanted *w = user;
    bool any = false;
    for (guint i = 0; i < w->o->functions->len; i++)
        if (gt_function_pattern_matches(w->o->functions->pdata[i], f, shown))
            any = w->function[i] = true;
    return any;
}

static bool want_inside(void *user, const struct gt_calls_function *f, const char *shown)
{
    const struct wanted *w = user;
    const char *module = gt_function_module(f);
    bool any = false;
    (void)shown;
    for (guint i = 0; i < w->o->modules->len; i++)
        if (gt_trace_match(w->o->modules->pdata[i], module))
            any = w->module[i] = true;
    return any;
}

/* A pattern that fits nothing is not what was meant. */
static int check_wanted(const struct wanted *w, const struct gt_calls *c, struct gt_demangler *d,
                        struct gt_error *err)
{
    const size_t n = gt_calls_n_functions(c);
    for (guint i = 0; w->function && i < w->o->functions->len; i++) {
        g_autofree bool *chosen = g_new0(bool, n + 1);
        if (!w->function[i])
            return gt_function_pattern_choose(c, n, d, w->o->functions->pdata[i], chosen, err);
    }
    for (guint i = 0; w->module && i < w->o->modules->len; i++)
        if (!w->module[i])
            return gt_error_set(err, GT_E_NOT_FOUND, "%s: no function of a module '%s' was called",
                                gt_calls_facts(c)->path, (char *)w->o->modules->pdata[i]);
    return 0;
}

/* ---- the command --------------------------------------------------------------------------- */

static int print(struct gt_reading *r, struct gt_replay_options *to, struct gt_error *err)
{
    const bool color = r->pager->color;
    const char *const colors[GT_REPLAY_COLORS] = {
        [GT_REPLAY_COLOR_END] = gt_color(color, GT_COLOR_NONE),
        [GT_REPLAY_COLOR_MS] = gt_color(color, GT_COLOR_GREEN),
        [GT_REPLAY_COLOR_S] = gt_color(color, GT_COLOR_YELLOW),
        [GT_REPLAY_COLOR_MINUTES] = gt_color(color, GT_COLOR_RED),
        [GT_REPLAY_COLOR_COMMENT] = gt_color(color, GT_COLOR_GRAY),
        [GT_REPLAY_COLOR_EVENT] = gt_color(color, GT_COLOR_GREEN),
        [GT_REPLAY_COLOR_LOST] = gt_color(color, GT_COLOR_RED),
    };
    struct gt_error write_err = {0};
    bool any = false;
    to->color = colors;
    to->any = &any;
    int status = gt_replay_write(r->calls, &r->window.calls, to, &r->pager->out, err);
    const bool closed = gt_pager_closed(r->pager);
    if (gt_reading_finish(r, &write_err) < 0 && status == 0)
        status = gt_error_set(err, GT_E_IO, "%s", write_err.text);
    if (status == 0 && !any && !closed)
        status = gt_reading_nothing(r, err);
    return status < 0 ? status : closed;
}

static int replay(struct gt_reading *r, const void *user, struct gt_error *err)
{
    const struct replay_options *o = user;
    struct fields fields;
    int status = choose_fields(&fields, o, err);
    if (status < 0)
        return status;
    struct wanted wanted = {.o = o,
                            .function = o->functions ? g_new0(bool, o->functions->len) : NULL,
                            .module = o->modules ? g_new0(bool, o->modules->len) : NULL};
    struct gt_replay_options to = {.form = o->json   ? GT_REPLAY_JSON
                                           : o->flat ? GT_REPLAY_FLAT
                                                     : GT_REPLAY_TREE,
                                   .last = (uint32_t)o->last,
                                   .called = o->functions ? want_called : NULL,
                                   .inside = o->modules ? want_inside : NULL,
                                   .user = &wanted,
                                   .field = fields.field,
                                   .n_fields = fields.n,
                                   .demangler = r->demangler};
    status = gt_reading_start(r, err);
    if (status == 0)
        status = print(r, &to, err);
    if (status == 0)
        status = check_wanted(&wanted, r->calls, r->demangler, err);
    g_free(wanted.function);
    g_free(wanted.module);
    return status;
}

static int run_replay(const struct gt_command *self, const void *options, size_t n, char **operands)
{
    const struct replay_options *o = options;
    if (o->flat && o->json)
        return gt_command_usage_error(self, "takes one of --flat and --json");
    return gt_reading_run(self, &o->reader, n, operands, replay, o);
}

const struct gt_command gt_command_replay = {
    .name = "replay",
    .summary = "print the calls of a recording in order of time",
    .usage =
        (const char *const[]){"[--from TIME] [--to TIME] [--task TASK] [OPTION]... [RECORDING]",
                              NULL},
    .paragraphs =
        (const char *const[]){
            GT_RECORDING_HELP,
            "The layout is that of uftrace replay: how long a call took, its task, and the "
            "function, indented by its callers. A call in which nothing else happened is one line. "
            "Events, lost records and lines of a machine's console are comments. With --from the "
            "calls that a task had open at that time come before its first line.",
            "--flat prints \"TIME TID DEPTH EVENT DURATION FUNCTION\" for each entry and exit, "
            "times in seconds. EVENT is enter, leave, open (the recording ends in this call), "
            "event, name (the task has this name from here on), lost, console, or mark (of a "
            "trigger in a program).",
            "--json prints an object a line: docs/readers.md has its keys.",
            "Control characters in names are shown as \\xNN.", NULL},
    .spec = {.table = replay_table},
    .options_size = sizeof(struct replay_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_replay,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: the calls of a recording as text, in order of time. */
#include "calls/replay/replay.h"
#include "base/text.h"
#include "calls/read/function_pattern.h"
#include "gtrace/private.h"

#include <errno.h>
#include <string.h>

_Static_assert((int)GTRACE_REPLAY_TREE == (int)GT_REPLAY_TREE &&
                   (int)GTRACE_REPLAY_FLAT == (int)GT_REPLAY_FLAT &&
                   (int)GTRACE_REPLAY_JSON == (int)GT_REPLAY_JSON &&
                   (int)GTRACE_COLOR_END == (int)GT_REPLAY_COLOR_END &&
                   (int)GTRACE_COLOR_MS == (int)GT_REPLAY_COLOR_MS &&
                   (int)GTRACE_COLOR_LOST == (int)GT_REPLAY_COLOR_LOST &&
                   (int)GTRACE_COLORS == (int)GT_REPLAY_COLORS,
               "the same");

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

/* Of a part of the time, or of the last calls, lines say when they are. */
static int choose_fields(struct fields *f, const char *text, bool of_part, struct gt_error *err)
{
    int status = 0;
    f->n = 0;
    if (!text || *text == '+') {
        if (of_part)
            add_field(f, GT_REPLAY_AT);
        add_field(f, GT_REPLAY_DURATION);
        add_field(f, GT_REPLAY_TID);
    }
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

/* Patterns, and which of them have fitted. */
struct wanted {
    const char *const *pattern;
    bool *fits;
};
struct choice {
    struct wanted function, module;
};

static struct wanted wanted_of(const char *const *patterns)
{
    return (struct wanted){
        patterns, patterns ? g_new0(bool, g_strv_length((char **)(uintptr_t)patterns) + 1) : NULL};
}

static bool want_called(void *user, const struct gt_calls_function *f, const char *shown)
{
    const struct wanted *w = &((const struct choice *)user)->function;
    bool any = false;
    for (size_t i = 0; w->pattern[i]; i++)
        if (gt_calls_function_pattern_matches(w->pattern[i], f, shown))
            any = w->fits[i] = true;
    return any;
}

static bool want_inside(void *user, const struct gt_calls_function *f, const char *shown)
{
    const struct wanted *w = &((const struct choice *)user)->module;
    const char *module = gt_calls_function_module(f);
    bool any = false;
    (void)shown;
    for (size_t i = 0; w->pattern[i]; i++)
        if (gt_text_glob_fits(w->pattern[i], module))
            any = w->fits[i] = true;
    return any;
}

/* A pattern that fits nothing is a mistake of the user. */
static int check(struct gtrace *t, const struct choice *c, struct gtrace_error *err)
{
    const size_t n = gt_calls_n_functions(t->calls);
    struct gt_error e = {0};
    for (size_t i = 0; c->function.pattern && c->function.pattern[i]; i++) {
        g_autofree bool *chosen = g_new0(bool, n + 1);
        if (!c->function.fits[i])
            return gtrace_choose_functions(t, c->function.pattern[i], chosen, n, err);
    }
    for (size_t i = 0; c->module.pattern && c->module.pattern[i]; i++)
        if (!c->module.fits[i])
            return gt_gtrace_fail(
                err,
                gt_error_set(&e, GT_E_NOT_FOUND, "%s: no function of a module '%s' was called",
                             gt_calls_facts(t->calls)->path, c->module.pattern[i]),
                &e);
    return 0;
}

/* ---- all ----------------------------------------------------------------------------------- */

API int gtrace_replay(struct gtrace *t, const struct gtrace_window *w,
                      const struct gtrace_replay_options *o, int fd, struct gtrace_error *err)
{
    struct gt_gtrace_pass pass;
    struct gtrace_replay_options asked;
    struct fields fields;
    struct gt_error e = {0};
    bool any = false;
    gt_gtrace_get(&asked, sizeof asked, o);
    if (asked.form > GTRACE_REPLAY_JSON)
        return gt_gtrace_usage(err, "gtrace_replay: no such form");
    int status = gt_gtrace_pass_init(&pass, t, w, err);
    if (status < 0)
        return status;
    status =
        choose_fields(&fields, asked.fields, pass.asked.from || pass.asked.to || asked.last, &e);
    if (status < 0) {
        gt_gtrace_pass_finish(&pass);
        return gt_gtrace_fail(err, status, &e);
    }
    struct choice choice = {wanted_of(pass.asked.functions), wanted_of(asked.modules)};
    const struct gt_replay_options how = {.form = (enum gt_replay_form)asked.form,
                                          .last = asked.last,
                                          .called = pass.asked.functions ? want_called : NULL,
                                          .inside = asked.modules ? want_inside : NULL,
                                          .user = &choice,
                                          .field = fields.field,
                                          .n_fields = fields.n,
                                          .color = asked.colors,
                                          .demangler = asked.symbols ? NULL : t->demangler,
                                          .any = &any};
    g_autofree struct gt_output *out = g_new(struct gt_output, 1);
    gt_output_init(out, fd);
    status = gt_replay_write(t->calls, &pass.window, &how, out, &e);
    gt_gtrace_pass_finish(&pass);
    status = gt_gtrace_written(out, status, &e);
    status = status < 0 ? gt_gtrace_fail(err, status, &e) : check(t, &choice, err);
    g_free(choice.function.fits);
    g_free(choice.module.fits);
    errno = out->failed;
    return status < 0 ? status : any;
}

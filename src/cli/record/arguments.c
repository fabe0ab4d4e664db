/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments and return values of a recording: see arguments.h. */
#include "cli/record/arguments.h"

#include "base/file.h"
#include "calls/arguments/auto.h"
#include "cli/record/qemu.h"
#include "names/image/program.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gt_record_arguments {
    struct gt_arguments_auto *automatic;
    GString *plugin; /* ",argument=..." */
    char *file;      /* the values file; NULL: none */
};

/* ---- options ------------------------------------------------------------------------------- */

/* What one FUNC@ITEM,... asks for: of prototypes, and of the plugin alone. */
struct asked {
    struct gt_arguments_auto_request request;
    GString *items;
};

static int take_item(struct asked *to, const char *item, struct gt_error *err)
{
    size_t n = strlen(item);
    bool fields = g_str_has_suffix(item, "/*");
    if (strcmp(item, "auto-args") == 0) {
        to->request.all = true;
        return 0;
    }
    const char *rest = fields ? item + strcspn(item, "/%") : item + n;
    if (fields) {
        uint64_t number = g_str_has_prefix(item, "arg") ? g_ascii_strtoull(item + 3, NULL, 10) : 0;
        if (number < 1 || number > 31)
            return gt_error_set(err, GT_E_USAGE, "'%.100s': expected argN/*, N from 1 to 31", item);
        to->request.fields |= 1u << number;
        if (strcmp(rest, "/*") == 0)
            return 0;
    }
    g_string_append_printf(to->items, "%s%.*s", to->items->len ? "," : "",
                           (int)(fields ? n - 2 : n), item);
    return 0;
}

static int check_items(const char *items, struct gt_error *err)
{
    struct gt_value_request request[2 * GT_VALUES_MOST];
    void *storage;
    size_t n;
    int status = gt_value_parse(items, request, &n, &storage, err);
    free(storage);
    return status;
}

static int take_rule(struct gt_record_recording *r, const char *argument, const char *text,
                     struct gt_error *err)
{
    g_autofree char *pattern = g_strdup(text);
    char *at = strrchr(pattern, '@');
    struct asked asked = {0};
    size_t place = 0;
    if (!at || at == pattern || !at[1])
        return gt_error_set(err, GT_E_USAGE,
                            "expected FUNC@arg1,..., FUNC@retval or FUNC@auto-args");
    *at = 0;
    g_auto(GStrv) items = g_strsplit(at + 1, ",", 0);
    g_autoptr(GString) own = asked.items = g_string_new(NULL);
    int status = 0;
    for (char **item = items; *item && status == 0; item++)
        status = take_item(&asked, *item, err);
    if (status == 0 && own->len)
        status = check_items(own->str, err);
    if (status == 0 && (asked.request.all || asked.request.fields))
        status = gt_arguments_auto_select(r->arguments->automatic, pattern,
                                          gt_filter_match_of(r->opt->filters.match), &asked.request,
                                          &place, err);
    if (status == 0 && own->len) {
        g_autofree char *rule = g_strdup_printf("%s@%s", pattern, own->str);
        g_string_append_printf(r->arguments->plugin, ",%s=", argument);
        gt_record_qemu_append_value(r->arguments->plugin, rule);
    }
    return status;
}

/* Several, separated by semicolons. */
static int take_list(struct gt_record_recording *r, const char *option, const char *argument,
                     const GPtrArray *list, struct gt_error *err)
{
    struct gt_error why = {0};
    for (guint i = 0; list && i < list->len; i++) {
        g_auto(GStrv) rules = g_strsplit(list->pdata[i], ";", 0);
        for (char **rule = rules; *rule; rule++)
            if (**rule && take_rule(r, argument, *rule, &why) < 0)
                return gt_error_set(err, GT_E_USAGE, "%s %.200s: %.250s", option, *rule, why.text);
    }
    return 0;
}

static void put_notice(void *self, const char *line)
{
    const struct gt_record_recording *r = self;
    if (!r->opt->quiet)
        gt_record_say("note: %s", line);
}

int gt_record_arguments_read(struct gt_record_recording *r, struct gt_error *err)
{
    static const struct gt_arguments_auto_request all = {.all = true};
    const struct gt_record_filters *f = &r->opt->filters;
    if (!f->arguments && !f->results && !f->auto_args && !f->system_calls && !f->object_names &&
        !f->prototypes)
        return 0;
    if (f->system_calls && !r->user_mode)
        return gt_error_set(err, GT_E_USAGE,
                            "--syscalls is for programs in user mode, this is a machine");
    if ((f->object_names || f->prototypes) && !f->arguments && !f->auto_args)
        return gt_error_set(err, GT_E_USAGE, "%s needs -a or -A",
                            f->object_names ? "--object-names" : "--prototypes");
    r->arguments = g_new0(struct gt_record_arguments, 1);
    r->arguments->automatic = gt_arguments_auto_new(&(struct gt_error_notices){put_notice, r});
    r->arguments->plugin = g_string_new(NULL);
    size_t place;
    int status = 0;
    if (f->auto_args)
        status = gt_arguments_auto_select(r->arguments->automatic, NULL, GT_FILTER_MATCH_REGEX,
                                          &all, &place, err);
    for (guint i = 0; f->object_names && i < f->object_names->len && status == 0; i++)
        status =
            gt_arguments_auto_read_names(r->arguments->automatic, f->object_names->pdata[i], err);
    for (guint i = 0; f->prototypes && i < f->prototypes->len && status == 0; i++)
        status = gt_arguments_auto_read_prototypes(r->arguments->automatic, f->prototypes->pdata[i],
                                                   err);
    if (status == 0)
        status = take_list(r, "-A", "argument", f->arguments, err);
    return status == 0 ? take_list(r, "-R", "retval", f->results, err) : status;
}

/* ---- files --------------------------------------------------------------------------------- */

static bool is_wanted(const struct gt_record_recording *r)
{
    return r->arguments && gt_arguments_auto_wanted(r->arguments->automatic);
}

int gt_record_arguments_add(struct gt_record_recording *r,
                            const struct gt_image_symbol_source *source, size_t n,
                            struct gt_error *err)
{
    int status = 0;
    if (!is_wanted(r))
        return 0;
    for (int modules = 0; modules < 2; modules++) /* after the kernel */
        for (size_t i = 0; i < n && status == 0; i++)
            if ((source[i].kind == GT_SOURCE_MODULE) == modules)
                status = gt_arguments_auto_add(r->arguments->automatic, &source[i], false, err);
    return status;
}

static int add_file(struct gt_record_recording *r, const char *path, struct gt_error *err)
{
    struct gt_image_symbol_source source;
    struct gt_error why = {0};
    g_autofree char *plain = g_strconcat(path, ":0", NULL); /* whatever its name */
    if (gt_image_symbol_source_load(plain, &source, &why) < 0)
        return 0; /* it has no code, or the run will report the fault */
    int status = gt_arguments_auto_add(r->arguments->automatic, &source, true, err);
    gt_image_symbol_source_clear(&source);
    return status;
}

static int add_program(struct gt_record_recording *r, struct gt_error *err)
{
    if (!r->program.path)
        return gt_error_set(err, GT_E_USAGE,
                            "auto-args: no program of this QEMU is known; name one: "
                            "guesttrace record -a PROGRAM, or -a -- qemu-ARCH PROGRAM");
    int status = add_file(r, r->program.path, err);
    g_autoptr(GPtrArray) libraries =
        gt_image_libraries_of(r->program.path, r->program.root, r->program.triples);
    for (guint i = 0; i < libraries->len && status == 0; i++)
        status = add_file(r, libraries->pdata[i], err);
    return status;
}

int gt_record_arguments_write(struct gt_record_recording *r, struct gt_error *err)
{
    struct gt_text text = {0};
    if (!r->arguments)
        return 0;
    bool calls = r->opt->filters.system_calls && r->user_mode;
    int status =
        calls ? gt_arguments_auto_add_syscalls(r->arguments->automatic, r->target, err) : 0;
    if (!is_wanted(r) && !calls)
        return status;
    if (status == 0 && is_wanted(r) && r->user_mode)
        status = add_program(r, err);
    if (status == 0 && !gt_arguments_auto_count(r->arguments->automatic)) {
        if (!r->opt->quiet)
            gt_record_say("note: auto-args: no prototypes of selected functions were found");
        return 0;
    }
    if (status == 0)
        status = gt_arguments_auto_write(r->arguments->automatic, &text, err);
    if (status == 0) {
        r->arguments->file = g_strconcat(r->output, ".values", NULL);
        status = gt_file_replace_text(r->arguments->file, &text, err);
    }
    gt_text_free(&text);
    return status;
}

/* ---- the plugin's arguments ---------------------------------------------------------------- */

void gt_record_arguments_append(const struct gt_record_recording *r, GString *out)
{
    if (!r->arguments)
        return;
    g_string_append(out, r->arguments->plugin->str);
    if (r->opt->filters.system_calls && r->user_mode)
        g_string_append(out, ",syscalls=on");
    gt_record_qemu_append_path(out, "values", r->arguments->file);
}

void gt_record_arguments_clear(struct gt_record_recording *r)
{
    if (!r->arguments)
        return;
    if (r->arguments->file)
        unlink(r->arguments->file);
    g_free(r->arguments->file);
    g_string_free(r->arguments->plugin, TRUE);
    gt_arguments_auto_free(r->arguments->automatic);
    g_clear_pointer(&r->arguments, g_free);
}

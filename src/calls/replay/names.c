/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions as lines show them, made when a function is met first. */
#include "base/text.h"
#include "calls/replay/state.h"

/* Where the parameters begin that the name ends with: values stand there instead. */
static uint32_t stem_of(const char *text, uint32_t n)
{
    uint32_t open = 0;
    for (uint32_t i = n; i-- > 0 && text[n - 1] == ')';) {
        open += text[i] == ')';
        open -= text[i] == '(';
        if (open == 0)
            return i ? i : n;
    }
    return n;
}

static struct gt_replay_name *make(struct gt_replay *r, uint32_t function)
{
    const struct gt_calls_function *f = gt_calls_function(r->calls, function);
    struct gt_replay_name *name = g_new0(struct gt_replay_name, 1);
    const char *shown = gt_image_demangle(r->o->demangler, f->name);
    size_t n = strlen(shown);
    g_autofree char *text = g_malloc(GT_ESCAPE_GROWTH * n + 1);
    char *end = gt_text_escape_put(text, shown, n);
    name->n = (uint32_t)(end - text);
    name->text = g_string_chunk_insert_len(r->texts, text, name->n);
    name->stem = stem_of(name->text, name->n);
    name->plain = end == text || end[-1] != ')';
    name->schedule = strcmp(f->name, "linux:schedule") == 0 && !*f->module;
    name->called = !r->o->called || r->o->called(r->o->user, f, shown);
    name->inside = !r->o->inside || r->o->inside(r->o->user, f, shown);
    return name;
}

const struct gt_replay_name *gt_replay_name_find(struct gt_replay *r, uint32_t function)
{
    if (function >= r->n_names) {
        size_t n = MAX((size_t)function + 1, 2 * r->n_names);
        r->names = g_renew(struct gt_replay_name *, r->names, n);
        memset(r->names + r->n_names, 0, (n - r->n_names) * sizeof *r->names);
        r->n_names = n;
    }
    if (!r->names[function])
        r->names[function] = make(r, function);
    return r->names[function];
}

bool gt_replay_values(struct gt_replay *r, const struct gt_call *e, struct gt_text *out)
{
    const struct gt_value_list *values = gt_calls_values_at(r->calls);
    out->len = 0;
    if (!values)
        return false;
    gt_calls_show_values(r->calls, e, values, out);
    return out->len > 0 && !out->failed;
}

void gt_replay_names_clear(struct gt_replay *r)
{
    for (size_t i = 0; i < r->n_names; i++)
        g_free(r->names[i]);
    g_free(r->names);
    g_string_chunk_free(r->texts);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events files, line by line: see parser.h. */
#include "events/tracetool/parser_private.h"

#include <string.h>

/* Where a name was declared. */
struct place {
    const char *path;
    unsigned line;
    const char *name;
};

static const char *copy(struct gt_parser *p, const struct gt_token *t)
{
    return gt_event_list_string(&p->events, t->at, t->length);
}

/* ---- what a declaration stands for ----------------------------------------------------------- */

static const char *with_cpu(struct gt_parser *p, const char *format)
{
    g_autofree char *text = g_strconcat("\"cpu=%p \"", format ? " " : NULL, format, NULL);
    return gt_event_list_string(&p->events, text, strlen(text));
}

/* One event of a declaration, without its TCG arguments if so wanted. */
static void declare(struct gt_parser *p, const struct gt_declaration *d, const char *suffix,
                    const char *format, bool with_tcg)
{
    static const struct gt_argument cpu = {
        .type = "void *", .name = "__cpu", .base = GT_TYPE_VOID, .stars = 1};
    bool has_cpu = d->vcpu && p->grammar != GT_GRAMMAR_NEW;
    g_autofree char *name = g_strconcat(d->name, suffix, NULL);
    struct gt_event *e = gt_event_list_add(&p->events);
    e->path = p->line.path;
    e->line = p->line.number;
    e->name = gt_event_list_string(&p->events, name, strlen(name));
    e->disable = d->disable;
    e->vcpu = d->vcpu;
    e->format = has_cpu ? with_cpu(p, format) : format;
    struct gt_argument arguments[GT_EVENT_ARGUMENTS] = {cpu};
    unsigned n = has_cpu;
    for (unsigned i = 0; i < d->n_arguments; i++)
        if (with_tcg || !d->arguments[i].is_tcg)
            arguments[n++] = d->arguments[i].argument;
    e->n_arguments = n;
    e->arguments = g_memdup2(arguments, n * sizeof *arguments);
}

static void declare_all(struct gt_parser *p, const struct gt_declaration *d)
{
    if (d->tcg) {
        declare(p, d, "_trans", d->formats[0], false);
        declare(p, d, "_exec", d->formats[1], true);
    } else {
        declare(p, d, NULL, d->n_formats ? d->formats[0] : NULL, true);
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The name of a generated macro is the event's in upper case, so that two names must differ in more
 * than case. */
static bool take_name(struct gt_parser *p, const struct gt_token *t, const char *name)
{
    char *upper = g_ascii_strup(name, -1);
    const struct place *old = g_hash_table_lookup(p->names, upper);
    if (!old) {
        struct place *new = g_new(struct place, 1);
        *new = (struct place){p->line.path, p->line.number, name};
        g_hash_table_insert(p->names, upper, new);
        return true;
    }
    if (!strcmp(old->name, name))
        gt_diagnose(&p->errors, &p->line, t->at, "event '%s' is declared before, at %s:%u", name,
                    old->path, old->line);
    else
        gt_diagnose(
            &p->errors, &p->line, t->at,
            "event '%s' differs from '%s' at %s:%u in case alone, and TRACE_%s is one macro", name,
            old->name, old->path, old->line, upper);
    g_free(upper);
    return false;
}

static bool take_names(struct gt_parser *p, const struct gt_token *t,
                       const struct gt_declaration *d)
{
    if (!d->tcg)
        return take_name(p, t, d->name);
    g_autofree char *trans = g_strconcat(d->name, "_trans", NULL);
    g_autofree char *exec = g_strconcat(d->name, "_exec", NULL);
    bool good = take_name(p, t, gt_event_list_string(&p->events, trans, strlen(trans)));
    return take_name(p, t, gt_event_list_string(&p->events, exec, strlen(exec))) && good;
}

/* ---- an event -------------------------------------------------------------------------------- */

/* property = "disable" | "vcpu" | "tcg" */
static bool property(struct gt_parser *p, const struct gt_token *t, struct gt_declaration *d)
{
    bool *flag = gt_token_is_word(t, "disable") ? &d->disable
                 : gt_token_is_word(t, "vcpu")  ? &d->vcpu
                 : gt_token_is_word(t, "tcg")   ? &d->tcg
                                                : NULL;
    if (flag == &d->tcg && p->grammar == GT_GRAMMAR_NEW)
        gt_diagnose(&p->errors, &p->line, t->at, "property 'tcg' is not in this grammar");
    else if (!flag)
        gt_diagnose(&p->errors, &p->line, t->at,
                    "unknown property '%.*s', expected disable, vcpu or tcg", (int)t->length,
                    t->at);
    else if (*flag)
        gt_diagnose(&p->errors, &p->line, t->at, "property '%.*s' is given twice", (int)t->length,
                    t->at);
    else
        return *flag = true;
    return false;
}

/* { property } name "(": the last word before the parenthesis is the name. */
static bool head(struct gt_parser *p, struct gt_declaration *d, struct gt_token *name)
{
    bool good = true;
    const struct gt_token *t = &p->lexer.token;
    for (*name = (struct gt_token){0}; t->kind == GT_TOKEN_WORD || t->kind == GT_TOKEN_NUMBER;
         gt_lexer_next(&p->lexer)) {
        if (name->at)
            good = property(p, name, d) && good;
        *name = *t;
    }
    if (!name->at) {
        gt_parser_error(p, "expected an event's name");
        return false;
    }
    if (name->kind == GT_TOKEN_NUMBER) {
        gt_diagnose(&p->errors, &p->line, name->at, "event name '%.*s' begins with a digit",
                    (int)name->length, name->at);
        good = false;
    }
    d->name = copy(p, name);
    if (gt_token_is(t, '('))
        return good;
    gt_parser_error(p, "expected '(' and the arguments of event '%s'", d->name);
    p->lexer.next = p->lexer.end;
    return false;
}

/* event = { property } name "(" arguments ")" [ formats ] */
static void event(struct gt_parser *p)
{
    struct gt_declaration d = {0};
    struct gt_token name;
    bool good = head(p, &d, &name);
    if (!gt_token_is(&p->lexer.token, '('))
        return;
    gt_lexer_next(&p->lexer);
    good = gt_parse_arguments(p, &d) && good;
    good = gt_parse_formats(p, &d) && good;
    if (d.tcg && d.n_formats != 2 && good) {
        gt_diagnose(&p->errors, &p->line, name.at,
                    "tcg event '%s' needs two formats, of translation and of execution", d.name);
        good = false;
    }
    if ((d.vcpu || d.tcg) && p->grammar == GT_GRAMMAR_ANY)
        p->is_old = true;
    if (name.kind == GT_TOKEN_WORD && take_names(p, &name, &d) && good)
        declare_all(p, &d);
}

/* ---- a file ---------------------------------------------------------------------------------- */

static void line(struct gt_parser *p)
{
    gt_lexer_init(&p->lexer, p->line.text, p->line.end);
    const struct gt_token *t = &p->lexer.token;
    if (t->kind != GT_TOKEN_END && !gt_token_is(t, '#'))
        event(p);
}

static void judge_newlines(struct gt_parser *p)
{
    bool allowed = p->grammar == GT_GRAMMAR_OLD || p->is_old;
    for (guint i = 0; i < p->newlines->len && !allowed; i++) {
        const struct gt_newline *n = &g_array_index(p->newlines, struct gt_newline, i);
        gt_diagnose(&p->errors, &n->line, n->at, "newline in a format: an event is one line%s",
                    p->grammar == GT_GRAMMAR_ANY
                        ? " (files of QEMU before 9.1 may have one: --grammar=5.0)"
                        : "");
    }
    g_array_set_size(p->newlines, 0);
}

void gt_parser_init(struct gt_parser *p, enum gt_grammar grammar)
{
    *p = (struct gt_parser){.grammar = grammar};
    p->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    p->newlines = g_array_new(FALSE, FALSE, sizeof(struct gt_newline));
}

void gt_parser_read(struct gt_parser *p, const char *path, const char *text, size_t size)
{
    const char *end = text + size;
    p->line = (struct gt_line){.path = gt_event_list_string(&p->events, path, strlen(path)),
                               .file = ++p->errors.files};
    p->is_old = false;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        p->line.text = text;
        p->line.end = stop ? stop : end;
        p->line.number++;
        line(p);
        text = stop ? stop + 1 : end;
    }
    judge_newlines(p);
}

void gt_parser_free(struct gt_parser *p)
{
    g_hash_table_destroy(p->names);
    g_array_free(p->newlines, TRUE);
    gt_event_list_free(&p->events);
    gt_diagnostics_free(&p->errors);
}

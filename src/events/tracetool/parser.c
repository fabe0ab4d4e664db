/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events files, line by line: see parser.h. */
#include "events/tracetool/parser_private.h"

#include "events/tracetool/event.h"

#include <string.h>

/* Where a name was declared. */
struct place {
    const char *path;
    unsigned line;
    const char *name;
};

static const char *copy(struct gt_tracetool_parser *p, const struct gt_tracetool_token *t)
{
    return gt_tracetool_event_list_string(&p->events, t->at, t->length);
}

/* ---- what a declaration stands for ----------------------------------------------------------- */

static const char *with_cpu(struct gt_tracetool_parser *p, const char *format)
{
    g_autofree char *text = g_strconcat("\"cpu=%p \"", format ? " " : NULL, format, NULL);
    return gt_tracetool_event_list_string(&p->events, text, strlen(text));
}

/* One event of a declaration, without its TCG arguments if so wanted. */
static void declare(struct gt_tracetool_parser *p, const struct gt_tracetool_declaration *d,
                    const char *suffix, const char *format, bool with_tcg)
{
    static const struct gt_tracetool_argument cpu = {
        .type = "void *", .name = "__cpu", .base = GT_TYPE_VOID, .stars = 1};
    bool has_cpu = d->vcpu && p->grammar != GT_GRAMMAR_NEW;
    g_autofree char *name = g_strconcat(d->name, suffix, NULL);
    struct gt_tracetool_event *e = gt_tracetool_event_list_add(&p->events);
    e->path = p->line.path;
    e->line = p->line.number;
    e->name = gt_tracetool_event_list_string(&p->events, name, strlen(name));
    e->disable = d->disable;
    e->vcpu = d->vcpu;
    e->format = has_cpu ? with_cpu(p, format) : format;
    struct gt_tracetool_argument arguments[GT_EVENT_ARGUMENTS] = {cpu};
    unsigned n = has_cpu;
    for (unsigned i = 0; i < d->n_arguments; i++)
        if (with_tcg || !d->arguments[i].is_tcg)
            arguments[n++] = d->arguments[i].argument;
    e->n_arguments = n;
    e->arguments = g_memdup2(arguments, n * sizeof *arguments);
}

static void declare_all(struct gt_tracetool_parser *p, const struct gt_tracetool_declaration *d)
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
static bool take_name(struct gt_tracetool_parser *p, const struct gt_tracetool_token *t,
                      const char *name)
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
        gt_tracetool_diagnose(&p->errors, &p->line, t->at,
                              "event '%s' is declared before, at %s:%u", name, old->path,
                              old->line);
    else
        gt_tracetool_diagnose(
            &p->errors, &p->line, t->at,
            "event '%s' differs from '%s' at %s:%u in case alone, and TRACE_%s is one macro", name,
            old->name, old->path, old->line, upper);
    g_free(upper);
    return false;
}

static bool take_names(struct gt_tracetool_parser *p, const struct gt_tracetool_token *t,
                       const struct gt_tracetool_declaration *d)
{
    if (!d->tcg)
        return take_name(p, t, d->name);
    g_autofree char *trans = g_strconcat(d->name, "_trans", NULL);
    g_autofree char *exec = g_strconcat(d->name, "_exec", NULL);
    bool good = take_name(p, t, gt_tracetool_event_list_string(&p->events, trans, strlen(trans)));
    return take_name(p, t, gt_tracetool_event_list_string(&p->events, exec, strlen(exec))) && good;
}

/* ---- an event -------------------------------------------------------------------------------- */

/* property = "disable" | "vcpu" | "tcg" */
static bool property(struct gt_tracetool_parser *p, const struct gt_tracetool_token *t,
                     struct gt_tracetool_declaration *d)
{
    bool *flag = gt_tracetool_token_is_word(t, "disable") ? &d->disable
                 : gt_tracetool_token_is_word(t, "vcpu")  ? &d->vcpu
                 : gt_tracetool_token_is_word(t, "tcg")   ? &d->tcg
                                                          : NULL;
    if (flag == &d->tcg && p->grammar == GT_GRAMMAR_NEW)
        gt_tracetool_diagnose(&p->errors, &p->line, t->at, "property 'tcg' is not in this grammar");
    else if (!flag)
        gt_tracetool_diagnose(&p->errors, &p->line, t->at,
                              "unknown property '%.*s', expected disable, vcpu or tcg",
                              (int)t->length, t->at);
    else if (*flag)
        gt_tracetool_diagnose(&p->errors, &p->line, t->at, "property '%.*s' is given twice",
                              (int)t->length, t->at);
    else
        return *flag = true;
    return false;
}

/* { property } name "(": the last word before the parenthesis is the name. */
static bool head(struct gt_tracetool_parser *p, struct gt_tracetool_declaration *d,
                 struct gt_tracetool_token *name)
{
    bool good = true;
    const struct gt_tracetool_token *t = &p->lexer.token;
    for (*name = (struct gt_tracetool_token){0};
         t->kind == GT_TOKEN_WORD || t->kind == GT_TOKEN_NUMBER;
         gt_tracetool_lexer_next(&p->lexer)) {
        if (name->at)
            good = property(p, name, d) && good;
        *name = *t;
    }
    if (!name->at) {
        gt_tracetool_parser_error(p, "expected an event's name");
        return false;
    }
    if (name->kind == GT_TOKEN_NUMBER) {
        gt_tracetool_diagnose(&p->errors, &p->line, name->at,
                              "event name '%.*s' begins with a digit", (int)name->length, name->at);
        good = false;
    }
    d->name = copy(p, name);
    if (gt_tracetool_token_is(t, '('))
        return good;
    gt_tracetool_parser_error(p, "expected '(' and the arguments of event '%s'", d->name);
    p->lexer.next = p->lexer.end;
    return false;
}

/* event = { property } name "(" arguments ")" [ formats ] */
static void event(struct gt_tracetool_parser *p)
{
    struct gt_tracetool_declaration d = {0};
    struct gt_tracetool_token name;
    bool good = head(p, &d, &name);
    if (!gt_tracetool_token_is(&p->lexer.token, '('))
        return;
    gt_tracetool_lexer_next(&p->lexer);
    good = gt_tracetool_parse_arguments(p, &d) && good;
    good = gt_tracetool_parse_formats(p, &d) && good;
    if (d.tcg && d.n_formats != 2 && good) {
        gt_tracetool_diagnose(&p->errors, &p->line, name.at,
                              "tcg event '%s' needs two formats, of translation and of execution",
                              d.name);
        good = false;
    }
    if ((d.vcpu || d.tcg) && p->grammar == GT_GRAMMAR_ANY)
        p->is_old = true;
    if (name.kind == GT_TOKEN_WORD && take_names(p, &name, &d) && good)
        declare_all(p, &d);
}

/* ---- a file ---------------------------------------------------------------------------------- */

static void line(struct gt_tracetool_parser *p)
{
    gt_tracetool_lexer_init(&p->lexer, p->line.text, p->line.end);
    const struct gt_tracetool_token *t = &p->lexer.token;
    if (t->kind != GT_TOKEN_END && !gt_tracetool_token_is(t, '#'))
        event(p);
}

static void judge_newlines(struct gt_tracetool_parser *p)
{
    bool allowed = p->grammar == GT_GRAMMAR_OLD || p->is_old;
    for (guint i = 0; i < p->newlines->len && !allowed; i++) {
        const struct gt_tracetool_newline *n =
            &g_array_index(p->newlines, struct gt_tracetool_newline, i);
        gt_tracetool_diagnose(
            &p->errors, &n->line, n->at, "newline in a format: an event is one line%s",
            p->grammar == GT_GRAMMAR_ANY ? " (files of QEMU before 9.1 may have one: --grammar=5.0)"
                                         : "");
    }
    g_array_set_size(p->newlines, 0);
}

void gt_tracetool_parser_init(struct gt_tracetool_parser *p, enum gt_tracetool_grammar grammar)
{
    *p = (struct gt_tracetool_parser){.grammar = grammar};
    p->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    p->newlines = g_array_new(FALSE, FALSE, sizeof(struct gt_tracetool_newline));
}

void gt_tracetool_parser_read(struct gt_tracetool_parser *p, const char *path, const char *text,
                              size_t size)
{
    const char *end = text + size;
    p->line = (struct gt_tracetool_line){
        .path = gt_tracetool_event_list_string(&p->events, path, strlen(path)),
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

void gt_tracetool_parser_free(struct gt_tracetool_parser *p)
{
    g_hash_table_destroy(p->names);
    g_array_free(p->newlines, TRUE);
    gt_tracetool_event_list_free(&p->events);
    gt_tracetool_diagnostics_free(&p->errors);
}

/* Arguments and their types: see parser.h. */

/* ---- types ----------------------------------------------------------------------------------- */

/* What a type's words come to while they are read. */
struct type {
    const char *start; /* its first token */
    unsigned count[GT_WORD_KINDS];
    enum gt_tracetool_type_base fixed; /* of a type of one word */
    unsigned stars, words;
    bool is_tcg_pointer; /* its star is not written */
    GString *text;
};

static void add_word(struct type *t, const struct gt_tracetool_token *token)
{
    if (t->text->len && t->text->str[t->text->len - 1] != '*')
        g_string_append_c(t->text, ' ');
    g_string_append_len(t->text, token->at, (gssize)token->length);
}

/* int, with what may go with it */
static int integer_base(const struct type *t)
{
    unsigned is_unsigned = t->count[GT_WORD_UNSIGNED], is_short = t->count[GT_WORD_SHORT];
    if (is_unsigned + t->count[GT_WORD_SIGNED] > 1 || is_short > 1 || t->count[GT_WORD_INT] > 1)
        return -1;
    switch (t->count[GT_WORD_LONG]) {
    case 0:
        return is_short ? (is_unsigned ? GT_TYPE_USHORT : GT_TYPE_SHORT)
                        : (is_unsigned ? GT_TYPE_UINT : GT_TYPE_INT);
    case 1:
        return is_short ? -1 : is_unsigned ? GT_TYPE_ULONG : GT_TYPE_LONG;
    case 2:
        return is_short ? -1 : is_unsigned ? GT_TYPE_ULONG_LONG : GT_TYPE_LONG_LONG;
    default:
        return -1;
    }
}

/* The type that the words make, or -1. */
static int base_of(const struct type *t)
{
    if (t->count[GT_WORD_FIXED] || t->count[GT_WORD_TCG])
        return t->words == 1 ? (int)t->fixed : -1;
    if (t->count[GT_WORD_CHAR]) {
        if (t->words == 1)
            return GT_TYPE_CHAR;
        if (t->words == 2 && t->count[GT_WORD_UNSIGNED])
            return GT_TYPE_UCHAR;
        return t->words == 2 && t->count[GT_WORD_SIGNED] ? GT_TYPE_SCHAR : -1;
    }
    return integer_base(t);
}

/* What code that QEMU translates has in a TCGv when it runs. */
static void add_tcg(struct type *t, enum gt_tracetool_type_base fixed)
{
    t->is_tcg_pointer = fixed == GT_TYPE_VOID;
    t->stars += t->is_tcg_pointer;
    g_string_append_printf(t->text, "%s%s", t->text->len ? " " : "",
                           t->is_tcg_pointer         ? "void *"
                           : fixed == GT_TYPE_UINT32 ? "uint32_t"
                                                     : "uint64_t");
}

/* { word } { "*" | "const" }: stops at the first token that is not a part of a type. */
static void type(struct gt_tracetool_parser *p, struct type *t)
{
    const struct gt_tracetool_token *token = &p->lexer.token;
    for (t->start = token->at;; gt_tracetool_lexer_next(&p->lexer)) {
        enum gt_tracetool_type_base fixed = GT_TYPE_INT;
        enum gt_tracetool_word_kind kind = gt_tracetool_word_kind(token, &fixed);
        if (gt_tracetool_token_is(token, '*') && t->words) {
            if (t->text->str[t->text->len - 1] != '*')
                g_string_append_c(t->text, ' ');
            g_string_append_c(t->text, '*');
            t->stars++;
        } else if (kind == GT_WORD_CONST) {
            add_word(t, token);
            t->count[kind] += !t->stars;
        } else if (kind != GT_WORD_OTHER && !t->stars) {
            if (kind == GT_WORD_TCG)
                add_tcg(t, fixed);
            else
                add_word(t, token);
            t->fixed = fixed;
            t->count[kind]++;
            t->words++;
        } else {
            return;
        }
    }
}

/* ---- an argument ----------------------------------------------------------------------------- */

static bool at_end_of_argument(const struct gt_tracetool_token *t)
{
    return t->kind == GT_TOKEN_END || gt_tracetool_token_is(t, ',') ||
           gt_tracetool_token_is(t, ')');
}

/* To the argument's "," or ")", past parentheses inside it. */
static void skip_argument(struct gt_tracetool_parser *p)
{
    const struct gt_tracetool_token *t = &p->lexer.token;
    for (unsigned depth = 0; depth || !at_end_of_argument(t); gt_tracetool_lexer_next(&p->lexer)) {
        if (t->kind == GT_TOKEN_END)
            return;
        depth += gt_tracetool_token_is(t, '(');
        depth -= gt_tracetool_token_is(t, ')') && depth;
    }
}

static void explain_no_type(struct gt_tracetool_parser *p)
{
    const struct gt_tracetool_token *t = &p->lexer.token;
    struct gt_tracetool_lexer ahead = p->lexer;
    gt_tracetool_lexer_next(&ahead);
    if (at_end_of_argument(t))
        gt_tracetool_parser_error(p, "expected an argument");
    else if (t->kind != GT_TOKEN_WORD)
        gt_tracetool_parser_error(p, "expected an argument's type");
    else if (at_end_of_argument(&ahead.token))
        gt_tracetool_parser_error(p, "argument '%.*s' has no type", (int)t->length, t->at);
    else
        gt_tracetool_parser_error(
            p,
            "type '%.*s' is not allowed: integers of C and <stdint.h>, bool, char and "
            "pointers to them are; others are passed as 'void *'",
            (int)t->length, t->at);
}

/* The readers of traces, QEMU's and ours, know a string by just these spellings. */
static bool begins_as_string(const struct gt_tracetool_parser *p, const struct type *t)
{
    static const char *const spellings[] = {"char *", "char*", "const char *", "const char*"};
    size_t left = (size_t)(p->line.end - t->start);
    for (size_t i = 0; i < G_N_ELEMENTS(spellings); i++)
        if (left >= strlen(spellings[i]) && !memcmp(t->start, spellings[i], strlen(spellings[i])))
            return true;
    return false;
}

static bool check_type(struct gt_tracetool_parser *p, const struct gt_tracetool_declaration *d,
                       const struct type *t, struct gt_tracetool_declared_argument *out)
{
    int base = base_of(t);
    const char *problem = NULL;
    if (base < 0)
        problem = "is not a C type";
    else if (base == GT_TYPE_VOID && !t->stars)
        problem = "has no value: a pointer is 'void *', and no arguments are '(void)'";
    else if (t->count[GT_WORD_TCG] && !d->tcg)
        problem = "is for events with the property tcg";
    else if (t->count[GT_WORD_TCG] && t->stars > t->is_tcg_pointer)
        problem = "is not a value: TCGv is passed as it is";
    if (problem) {
        gt_tracetool_diagnose(&p->errors, &p->line, t->start, "type '%s' %s",
                              t->count[GT_WORD_TCG] ? "TCGv" : t->text->str, problem);
        return false;
    }
    out->is_tcg = t->count[GT_WORD_TCG];
    out->argument.base = (enum gt_tracetool_type_base)base;
    out->argument.stars = t->stars;
    out->argument.is_const = t->count[GT_WORD_CONST];
    out->argument.is_string = base == GT_TYPE_CHAR && t->stars == 1 && begins_as_string(p, t);
    out->argument.type = gt_tracetool_event_list_string(&p->events, t->text->str, t->text->len);
    return true;
}

static bool check_name(struct gt_tracetool_parser *p, const struct gt_tracetool_declaration *d,
                       const struct type *t)
{
    const struct gt_tracetool_token *name = &p->lexer.token;
    enum gt_tracetool_type_base unused;
    if (at_end_of_argument(name))
        gt_tracetool_parser_error(p, "argument of type '%s' has no name", t->text->str);
    else if (name->kind == GT_TOKEN_NUMBER)
        gt_tracetool_parser_error(p, "argument name '%.*s' begins with a digit", (int)name->length,
                                  name->at);
    else if (name->kind != GT_TOKEN_WORD)
        gt_tracetool_parser_error(p, "expected the name of the argument of type '%s'",
                                  t->text->str);
    else if (gt_tracetool_word_kind(name, &unused) != GT_WORD_OTHER)
        gt_tracetool_parser_error(
            p, "'%.*s' is a type, expected the name of the argument of type '%s'",
            (int)name->length, name->at, t->text->str);
    else if (name->length > 3 && !memcmp(name->at, "_gt_", 4))
        gt_tracetool_parser_error(p, "names that begin with _gt_ are kept for generated code");
    else {
        for (unsigned i = 0; i < d->n_arguments; i++)
            if (gt_tracetool_token_is_word(name, d->arguments[i].argument.name)) {
                gt_tracetool_parser_error(p, "a second argument is named '%.*s'", (int)name->length,
                                          name->at);
                return false;
            }
        return true;
    }
    return false;
}

static bool check_end(struct gt_tracetool_parser *p, const struct gt_tracetool_token *name)
{
    const struct gt_tracetool_token *t = &p->lexer.token;
    if (at_end_of_argument(t))
        return true;
    if (gt_tracetool_token_is(t, '['))
        gt_tracetool_parser_error(p, "arrays are not allowed, pass a pointer");
    else
        gt_tracetool_parser_error(p, "expected ',' or ')' after argument '%.*s'", (int)name->length,
                                  name->at);
    return false;
}

/* argument = type name */
static bool argument(struct gt_tracetool_parser *p, struct gt_tracetool_declaration *d)
{
    g_autoptr(GString) text = g_string_new(NULL);
    struct type t = {.text = text};
    struct gt_tracetool_declared_argument a = {0};
    type(p, &t);
    if (!t.words) {
        explain_no_type(p);
        return false;
    }
    bool good = check_type(p, d, &t, &a);
    struct gt_tracetool_token name = p->lexer.token;
    if ((!good && at_end_of_argument(&name)) || !check_name(p, d, &t))
        return false;
    gt_tracetool_lexer_next(&p->lexer);
    if (!check_end(p, &name) || !good)
        return false;
    a.argument.name = gt_tracetool_event_list_string(&p->events, name.at, name.length);
    d->arguments[d->n_arguments++] = a;
    return true;
}

/* "void" | argument { "," argument }, then ")" */
bool gt_tracetool_parse_arguments(struct gt_tracetool_parser *p, struct gt_tracetool_declaration *d)
{
    const struct gt_tracetool_token *t = &p->lexer.token;
    struct gt_tracetool_lexer ahead = p->lexer;
    gt_tracetool_lexer_next(&ahead);
    bool good = true;
    if (gt_tracetool_token_is_word(t, "void") && gt_tracetool_token_is(&ahead.token, ')')) {
        gt_tracetool_lexer_next(&p->lexer);
    } else if (gt_tracetool_token_is(t, ')')) {
        gt_tracetool_parser_error(p, "expected arguments, or 'void' for none");
        good = false;
    } else {
        for (unsigned n = 0;; n++) {
            if (n == GT_EVENT_DECLARED) {
                gt_tracetool_parser_error(p, "an event has at most %d arguments",
                                          GT_EVENT_DECLARED);
                good = false;
            }
            if (n >= GT_EVENT_DECLARED || !argument(p, d)) {
                good = false;
                skip_argument(p);
            }
            if (!gt_tracetool_token_is(t, ','))
                break;
            gt_tracetool_lexer_next(&p->lexer);
        }
    }
    if (!gt_tracetool_token_is(t, ')')) {
        if (good)
            gt_tracetool_parser_error(p, "expected ')' after the arguments");
        return false;
    }
    gt_tracetool_lexer_next(&p->lexer);
    return good;
}

/* Formats: see parser.h. The checks are those that a compiler does not make, or reports unclearly;
 * the compiler checks that conversions match arguments. */

/* How far a format was followed. */
struct scan {
    bool in_conversion; /* after a '%' whose letter has not come yet */
    bool good;
    const char *percent;
};

/* macro = "PRI" ( "d" | "i" | "o" | "u" | "x" | "X" ) width */
static bool is_macro(const struct gt_tracetool_token *t)
{
    static const char *const widths[] = {"8",     "16",     "32",      "64",      "MAX",
                                         "PTR",   "LEAST8", "LEAST16", "LEAST32", "LEAST64",
                                         "FAST8", "FAST16", "FAST32",  "FAST64"};
    if (t->kind != GT_TOKEN_WORD || t->length < 5 || memcmp(t->at, "PRI", 3) ||
        !strchr("diouxX", t->at[3]))
        return false;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (strlen(widths[i]) == t->length - 4 && !memcmp(widths[i], t->at + 4, t->length - 4))
            return true;
    return false;
}

static void found_newline(struct gt_tracetool_parser *p, struct scan *s, const char *at,
                          bool is_last)
{
    if (is_last) {
        gt_tracetool_diagnose(&p->errors, &p->line, at, "a format must not end with a newline");
        s->good = false;
    } else {
        const struct gt_tracetool_newline n = {p->line, at};
        g_array_append_val(p->newlines, n);
    }
}

static void follow(struct gt_tracetool_parser *p, struct scan *s, int c, const char *at)
{
    if (!s->in_conversion) {
        if (c == '%')
            *s = (struct scan){true, s->good, at};
        return;
    }
    if (c == 'm') {
        gt_tracetool_diagnose(&p->errors, &p->line, s->percent,
                              "%%m is forbidden, pass the error as an argument");
        s->good = false;
    }
    /* flags, width, precision and length go on */
    s->in_conversion = c && strchr("#0- +'I123456789.*$hlLqjzt", c);
}

/* Nothing follows the token in this format. */
static bool is_last_token(const struct gt_tracetool_parser *p)
{
    struct gt_tracetool_lexer ahead = p->lexer;
    gt_tracetool_lexer_next(&ahead);
    return ahead.token.kind == GT_TOKEN_END || gt_tracetool_token_is(&ahead.token, ',');
}

static void literal(struct gt_tracetool_parser *p, struct scan *s)
{
    const struct gt_tracetool_token *t = &p->lexer.token;
    const char *end = t->at + t->length - 1;
    for (const char *c = t->at + 1; c < end; c++) {
        const char *at = c;
        int value = (unsigned char)*c;
        if (*c == '\\') {
            c++;
            value = gt_tracetool_literal_escape(&c, end);
        }
        if (value == '\n')
            found_newline(p, s, at, c + 1 == end && is_last_token(p));
        follow(p, s, value, at);
    }
}

static void macro(struct gt_tracetool_parser *p, struct scan *s)
{
    const struct gt_tracetool_token *t = &p->lexer.token;
    if (!is_macro(t)) {
        gt_tracetool_parser_error(p, "'%.*s' is neither a string nor a macro like PRIx64",
                                  (int)t->length, t->at);
        s->good = false;
    }
    s->in_conversion = false;
}

/* format = literal { literal | macro }; NULL: there were errors */
static const char *format(struct gt_tracetool_parser *p)
{
    const struct gt_tracetool_token *t = &p->lexer.token;
    struct scan s = {.good = true};
    g_autoptr(GString) text = g_string_new(NULL);
    for (; t->kind == GT_TOKEN_LITERAL || t->kind == GT_TOKEN_WORD;
         gt_tracetool_lexer_next(&p->lexer)) {
        if (t->kind == GT_TOKEN_LITERAL)
            literal(p, &s);
        else
            macro(p, &s);
        if (text->len)
            g_string_append_c(text, ' ');
        g_string_append_len(text, t->at, (gssize)t->length);
    }
    if (t->kind == GT_TOKEN_OPEN_LITERAL) {
        gt_tracetool_parser_error(p, "the format has no closing quote");
        p->lexer.next = p->lexer.end;
        gt_tracetool_lexer_next(&p->lexer);
        return NULL;
    }
    if (s.in_conversion && s.good) {
        gt_tracetool_diagnose(&p->errors, &p->line, s.percent,
                              "the format ends within this conversion");
        s.good = false;
    }
    return s.good ? gt_tracetool_event_list_string(&p->events, text->str, text->len) : NULL;
}

/* [ format [ "," format ] ] */
bool gt_tracetool_parse_formats(struct gt_tracetool_parser *p, struct gt_tracetool_declaration *d)
{
    const struct gt_tracetool_token *t = &p->lexer.token;
    bool good = true;
    if (t->kind == GT_TOKEN_END)
        return true;
    if (t->kind != GT_TOKEN_LITERAL && t->kind != GT_TOKEN_OPEN_LITERAL) {
        gt_tracetool_parser_error(p,
                                  "expected a format in quotes, or nothing, after the arguments");
        return false;
    }
    for (;;) {
        const char *f = format(p);
        good = good && f;
        d->formats[d->n_formats++] = f;
        if (!gt_tracetool_token_is(t, ',') || d->n_formats == 2)
            break;
        if (!d->tcg) {
            gt_tracetool_parser_error(p, "a second format is for events with the property tcg");
            return false;
        }
        gt_tracetool_lexer_next(&p->lexer);
        if (t->kind != GT_TOKEN_LITERAL && t->kind != GT_TOKEN_OPEN_LITERAL) {
            gt_tracetool_parser_error(p, "expected the format of execution in quotes");
            return false;
        }
    }
    if (t->kind != GT_TOKEN_END && good) {
        gt_tracetool_parser_error(p, "expected nothing after the format");
        return false;
    }
    return good;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Templates: see generator.h. */
#include "events/tracetool/generator.h"
#include "events/tracetool/backends/backend.h"
#include "events/tracetool/event.h"

#include <stdarg.h>
#include <string.h>

static const char *const slot_names[GT_SLOTS] = {
    [GT_SLOT_ARGUMENTS] = "arguments",
    [GT_SLOT_COUNT] = "count",
    [GT_SLOT_GROUP] = "group",
    [GT_SLOT_GROUP_UPPER] = "GROUP",
    [GT_SLOT_HEADER] = "header",
    [GT_SLOT_LINE] = "line",
    [GT_SLOT_MORE_ARGUMENTS] = "more_arguments",
    [GT_SLOT_MORE_PARAMETERS] = "more_parameters",
    [GT_SLOT_NAME] = "name",
    [GT_SLOT_NAME_UPPER] = "NAME",
    [GT_SLOT_OUT_PATH] = "out_path",
    [GT_SLOT_PARAMETERS] = "parameters",
    [GT_SLOT_PATH] = "path",
    [GT_SLOT_PREFIX] = "prefix",
    [GT_SLOT_PROVIDER] = "provider",
    [GT_SLOT_RUNTIME] = "runtime",
    [GT_SLOT_UNUSED] = "unused",
    [GT_SLOT_UST_HEADER] = "ust_header",
};

static void upper(GString *s)
{
    for (char *c = s->str; *c; c++)
        *c = g_ascii_toupper(*c);
}

/* A string of C without its quotes. */
static void quote(GString *out, const char *text)
{
    g_string_truncate(out, 0);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            g_string_append_c(out, '\\');
        g_string_append_c(out, *text);
    }
}

const char *gt_tracetool_c_suffix(const char *name)
{
    return gt_tracetool_word_is_reserved(GT_LANGUAGE_C, name) ? "_" : "";
}

void gt_tracetool_generator_init(struct gt_tracetool_generator *g,
                                 const struct gt_tracetool_options *options,
                                 const struct gt_tracetool_event_list *events)
{
    *g =
        (struct gt_tracetool_generator){.options = options, .events = events->list, .n = events->n};
    for (size_t i = 0; i < GT_SLOTS; i++)
        g->slots[i] = g_string_sized_new(128);
    g_string_assign(g->slots[GT_SLOT_GROUP], options->group);
    for (char *c = g->slots[GT_SLOT_GROUP]->str; *c; c++)
        *c = g_ascii_isalnum(*c) ? g_ascii_tolower(*c) : '_';
    g_string_assign(g->slots[GT_SLOT_GROUP_UPPER], g->slots[GT_SLOT_GROUP]->str);
    upper(g->slots[GT_SLOT_GROUP_UPPER]);
    quote(g->slots[GT_SLOT_OUT_PATH], options->output);
    g_string_assign(g->slots[GT_SLOT_PROVIDER], options->provider);
    g_string_assign(g->slots[GT_SLOT_HEADER], options->header);
    g_string_assign(g->slots[GT_SLOT_RUNTIME], options->runtime_header);
    g_string_assign(g->slots[GT_SLOT_UST_HEADER], options->ust_header);
    if (options->probe_prefix)
        g_string_assign(g->slots[GT_SLOT_PREFIX], options->probe_prefix);
}

void gt_tracetool_generator_free(struct gt_tracetool_generator *g)
{
    for (size_t i = 0; i < GT_SLOTS; i++)
        g_string_free(g->slots[i], TRUE);
    gt_text_free(&g->out);
}

/* printf would take most of the time of a run: strings, until NULL, and numbers are put by hand. */
static void __attribute__((sentinel)) append(GString *s, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    for (; text; text = va_arg(ap, const char *))
        g_string_append_len(s, text, (gssize)strlen(text));
    va_end(ap);
}

enum { NUMBER = 24 }; /* room for one */

/* The digits, from where they begin in the room. */
static const char *digits(char room[NUMBER], size_t number)
{
    char *at = room + NUMBER - 1;
    *at = 0;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    return at;
}

static void set_number(GString *s, size_t number)
{
    char room[NUMBER];
    g_string_assign(s, digits(room, number));
}

static void set_arguments(struct gt_tracetool_generator *g, const struct gt_tracetool_event *e)
{
    GString *arguments = g->slots[GT_SLOT_MORE_ARGUMENTS];
    GString *parameters = g->slots[GT_SLOT_MORE_PARAMETERS], *unused = g->slots[GT_SLOT_UNUSED];
    g_string_truncate(arguments, 0);
    g_string_truncate(parameters, 0);
    g_string_truncate(unused, 0);
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const struct gt_tracetool_argument *a = &e->arguments[i];
        const char *suffix = gt_tracetool_c_suffix(a->name);
        append(arguments, ", ", a->name, suffix, NULL);
        append(parameters, ", ", a->type, gt_tracetool_argument_blank(a), a->name, suffix, NULL);
        append(unused, "    (void)", a->name, suffix, ";\n", NULL);
    }
    if (e->n_arguments)
        set_number(g->slots[GT_SLOT_COUNT], e->n_arguments);
    else
        g_string_truncate(g->slots[GT_SLOT_COUNT], 0);
    g_string_assign(g->slots[GT_SLOT_ARGUMENTS], arguments->str + (arguments->len ? 2 : 0));
    g_string_assign(g->slots[GT_SLOT_PARAMETERS], parameters->len ? parameters->str + 2 : "void");
}

void gt_tracetool_generator_name(struct gt_tracetool_generator *g,
                                 const struct gt_tracetool_event *e)
{
    g_string_assign(g->slots[GT_SLOT_NAME], e->name);
    g_string_assign(g->slots[GT_SLOT_NAME_UPPER], e->name);
    upper(g->slots[GT_SLOT_NAME_UPPER]);
}

void gt_tracetool_generator_event(struct gt_tracetool_generator *g,
                                  const struct gt_tracetool_event *e)
{
    gt_tracetool_generator_name(g, e);
    set_number(g->slots[GT_SLOT_LINE], e->line);
    if (e->path != g->path)
        quote(g->slots[GT_SLOT_PATH], g->path = e->path);
    set_arguments(g, e);
}

/* ---- output ---------------------------------------------------------------------------------- */

static void add(struct gt_tracetool_generator *g, const char *text, size_t n)
{
    gt_text_add(&g->out, text, n);
    for (const char *end = text + n; (text = memchr(text, '\n', (size_t)(end - text))); text++)
        g->lines++;
}

static const GString *slot(const struct gt_tracetool_generator *g, const char *name, size_t length)
{
    for (size_t i = 0; i < GT_SLOTS; i++)
        if (*slot_names[i] == *name && !strncmp(slot_names[i], name, length) &&
            !slot_names[i][length])
            return g->slots[i];
    return NULL;
}

void gt_tracetool_emit(struct gt_tracetool_generator *g, const char *template)
{
    while (template && *template) {
        const char *at = strchrnul(template, '@');
        add(g, template, (size_t)(at - template));
        if (!*at)
            break;
        const char *end = strchrnul(++at, '@');
        const GString *value = slot(g, at, (size_t)(end - at));
        g_assert(value);
        add(g, value->str, value->len);
        template = end + 1;
    }
}

void gt_tracetool_emit_text(struct gt_tracetool_generator *g, const char *text)
{
    add(g, text, strlen(text));
}

void gt_tracetool_emit_strings(struct gt_tracetool_generator *g, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    for (; text; text = va_arg(ap, const char *))
        gt_tracetool_emit_text(g, text);
    va_end(ap);
}

void gt_tracetool_emit_number(struct gt_tracetool_generator *g, size_t number)
{
    char room[NUMBER];
    gt_tracetool_emit_text(g, digits(room, number));
}

void gt_tracetool_emit_printf(struct gt_tracetool_generator *g, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    gt_tracetool_emit_text(g, text);
}

void gt_tracetool_emit_line_of_event(struct gt_tracetool_generator *g)
{
    gt_tracetool_emit(g, "#line @line@ \"@path@\"\n");
}

void gt_tracetool_emit_line_of_output(struct gt_tracetool_generator *g)
{
    gt_tracetool_emit_text(g, "#line ");
    gt_tracetool_emit_number(g, g->lines + 2);
    gt_tracetool_emit(g, " \"@out_path@\"\n");
}

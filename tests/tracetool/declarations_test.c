/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The generator and the reader of traces have parsers of their own (the reader's is in a library
 * under another licence): of the files named, they must see the same events and arguments.
 */
#include "base/file.h"
#include "events/tracetool/parser.h"
#include "guesttrace/simpletrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum gt_trace_kind kind_of(const struct gt_tracetool_argument *a)
{
    if (a->is_string)
        return GT_TRACE_STRING;
    if (a->stars)
        return GT_TRACE_POINTER;
    switch (a->base) {
    case GT_TYPE_BOOL:
        return GT_TRACE_BOOL;
    case GT_TYPE_UINT:
    case GT_TYPE_USHORT:
    case GT_TYPE_ULONG:
    case GT_TYPE_ULONG_LONG:
    case GT_TYPE_UCHAR:
    case GT_TYPE_UINT8:
    case GT_TYPE_UINT16:
    case GT_TYPE_UINT32:
    case GT_TYPE_UINT64:
    case GT_TYPE_SIZE:
    case GT_TYPE_UINTPTR:
        return GT_TRACE_UNSIGNED;
    default:
        return GT_TRACE_SIGNED;
    }
}

/* What differs, or NULL. */
static const char *compare(const struct gt_tracetool_event *e, const struct gt_trace_declaration *d)
{
    unsigned cpu = e->vcpu; /* the reader's declaration does not count it */
    if (strcmp(e->name, d->name))
        return "name";
    if (e->line != d->line || e->disable != d->disabled || e->vcpu != d->vcpu)
        return "line or properties";
    if (e->n_arguments - cpu != d->n_arguments)
        return "number of arguments";
    for (unsigned i = 0; i < d->n_arguments; i++) {
        const struct gt_tracetool_argument *a = &e->arguments[i + cpu];
        if (strcmp(a->name, d->arguments[i].name))
            return "name of an argument";
        if (kind_of(a) != d->arguments[i].kind)
            return a->name;
    }
    return NULL;
}

static int check(const struct gt_tracetool_parser *p, const struct gt_trace_declarations *d,
                 const char *path)
{
    int bad = 0;
    for (size_t i = 0; i < p->events.n && gt_trace_declarations_at(d, i) && !bad; i++) {
        const struct gt_tracetool_event *e = &p->events.list[i];
        const char *what = compare(e, gt_trace_declarations_at(d, i));
        if (what) {
            printf("%s:%u: %s: %s\n", path, e->line, e->name, what);
            bad = 1;
        }
    }
    printf("%s: %zu events, %s\n", path, p->events.n, bad ? "not the same" : "the same");
    return bad || p->errors.n || !p->events.n || gt_trace_declarations_count(d) != p->events.n;
}

static int check_file(const char *path)
{
    struct gt_trace_error error;
    struct gt_trace_declarations *declarations;
    struct gt_tracetool_parser parser;
    char *text;
    size_t size;
    if (gt_file_read(path, 16 << 20, &text, &size, NULL)) {
        printf("SKIP: no %s\n", path);
        return 0;
    }
    if (gt_trace_declarations_read(&declarations, path, &error)) {
        printf("%s\n", error.text);
        return 1;
    }
    gt_tracetool_parser_init(&parser, GT_GRAMMAR_ANY);
    gt_tracetool_parser_read(&parser, path, text, size);
    int status = check(&parser, declarations, path);
    gt_tracetool_parser_free(&parser);
    gt_trace_declarations_free(declarations);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    int status = argc < 2;
    for (int i = 1; i < argc; i++)
        status |= check_file(argv[i]);
    return status;
}

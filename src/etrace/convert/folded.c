/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An etrace stream as folded stacks, for flame graphs: a line "a;b;c N" for each call stack, where
 * N is the time that c itself spent. If there are several units a stack begins with the unit.
 */
#include "etrace/convert/convert.h"
#include "etrace/dump/exec_stack.h"

#include <glib.h>

enum { UNITS = 1 << 16 };

struct node {
    const char *name;
    struct node *parent, *next, **tail; /* next: of the same parent; tail: where a child goes */
    struct node *child;
    GHashTable *by_name; /* the children; NULL while there are none */
    uint64_t self;
};

struct folded {
    struct gt_output *out;
    struct gt_etrace_exec_codes *codes;
    struct gt_etrace_exec_stacks *stacks;
    struct node *root[UNITS], *now[UNITS]; /* NULL: a unit that was not seen */
};

static struct node *new_node(const char *name, struct node *parent)
{
    struct node *n = g_new0(struct node, 1);
    n->name = name;
    n->parent = parent;
    n->tail = &n->child;
    return n;
}

static void enter(void *self, uint16_t unit, const char *name, uint64_t time)
{
    struct folded *f = self;
    (void)time;
    if (!f->now[unit])
        f->root[unit] = f->now[unit] = new_node(NULL, NULL);
    struct node *parent = f->now[unit];
    if (!parent->by_name)
        parent->by_name = g_hash_table_new(NULL, NULL);
    struct node *child = g_hash_table_lookup(parent->by_name, name);
    if (!child) {
        child = new_node(name, parent);
        *parent->tail = child;
        parent->tail = &child->next;
        g_hash_table_insert(parent->by_name, (void *)name, child);
    }
    f->now[unit] = child;
}

static void leave(void *self, uint16_t unit, const char *name, uint64_t time)
{
    struct folded *f = self;
    (void)name;
    (void)time;
    f->now[unit] = f->now[unit]->parent;
}

static void spend(void *self, uint16_t unit, uint64_t duration)
{
    const struct folded *f = self;
    f->now[unit]->self += duration;
}

static int folded_begin(struct gt_output *out, struct gt_etrace_names *names, void **self,
                        struct gt_error *err)
{
    struct gt_etrace_exec_codes *codes;
    int status = gt_etrace_exec_codes_create(names, &codes, err);
    if (status < 0)
        return status;
    struct folded *f = g_new0(struct folded, 1);
    const struct gt_etrace_exec_sink sink = {f, enter, leave, spend};
    f->out = out;
    f->codes = codes;
    f->stacks = gt_etrace_exec_stacks_create(codes, &sink);
    *self = f;
    return 0;
}

static void folded_exec(void *self, uint16_t unit, const struct gt_etrace_exec *x)
{
    gt_etrace_exec_stacks_add(((struct folded *)self)->stacks, unit, x);
}

/* A semicolon stands between functions. */
static void add_name(GString *path, const char *name)
{
    if (path->len)
        g_string_append_c(path, ';');
    for (const char *c = name; *c; c++)
        g_string_append_c(path, *c == ';' ? ':' : *c);
}

/* Prints a node and what it called, and frees them; no deeper than GT_EXEC_STACK_DEPTH. */
static void print_node(struct folded *f, struct node *n, GString *path)
{
    gsize before = path->len;
    if (n->name)
        add_name(path, n->name);
    if (n->self) {
        gt_output_bytes(f->out, path->str, path->len);
        gt_output_text(f->out, " ");
        gt_output_decimal(f->out, n->self);
        gt_output_text(f->out, "\n");
    }
    for (struct node *child = n->child, *next; child; child = next) {
        next = child->next;
        print_node(f, child, path);
    }
    g_string_truncate(path, before);
    if (n->by_name)
        g_hash_table_destroy(n->by_name);
    g_free(n);
}

static void folded_end(void *self)
{
    struct folded *f = self;
    size_t units = 0;
    gt_etrace_exec_stacks_destroy(f->stacks);
    for (size_t i = 0; i < UNITS; i++)
        units += f->root[i] != NULL;
    for (size_t i = 0; i < UNITS; i++) {
        if (!f->root[i])
            continue;
        g_autoptr(GString) path = g_string_new(NULL);
        if (units > 1)
            g_string_printf(path, "CPU %zu", i);
        print_node(f, f->root[i], path);
    }
    gt_etrace_exec_codes_destroy(f->codes);
    g_free(f);
}

const struct gt_etrace_convert_format gt_etrace_convert_folded = {
    .name = "folded",
    .begin = folded_begin,
    .exec = folded_exec,
    .end = folded_end,
};

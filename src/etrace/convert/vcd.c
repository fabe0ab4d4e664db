/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An etrace stream's events as a value change dump (IEEE 1364): a scope for each device, a variable
 * of 64 bits for each event, whose value is unknown until the event first happens. Time is in
 * nanoseconds.
 *
 * A dump begins with its variables, and its times ascend; so everything is kept until the end and
 * events are sorted by time, and at the same time in the order of the stream.
 */
#include "etrace/convert/convert.h"

#include <glib.h>

struct variable {
    char *device, *name;
    size_t index;
};

struct change {
    uint64_t time, value;
    size_t variable;
};

struct vcd {
    struct gt_output *out;
    GHashTable *by_name;  /* "DEVICE\1EVENT" to struct variable, whose key it is */
    GPtrArray *variables; /* in the order of their first event */
    GArray *changes;
};

static void free_variable(void *p)
{
    struct variable *v = p;
    g_free(v->device);
    g_free(v->name);
    g_free(v);
}

static int vcd_begin(struct gt_output *out, struct gt_etrace_names *names, void **self,
                     struct gt_error *err)
{
    (void)names, (void)err;
    struct vcd *v = g_new0(struct vcd, 1);
    v->out = out;
    v->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    v->variables = g_ptr_array_new_with_free_func(free_variable);
    v->changes = g_array_new(FALSE, FALSE, sizeof(struct change));
    *self = v;
    return 0;
}

/* A name is a word of printable characters; brackets would be a range of bits. */
static char *word_of(const char *text)
{
    char *word = g_strdup(*text ? text : "_");
    for (char *c = word; *c; c++)
        if (!g_ascii_isgraph(*c) || *c == '[' || *c == ']' || *c == '$')
            *c = '_';
    return word;
}

static void vcd_event(void *self, const struct gt_etrace_event *event)
{
    struct vcd *v = self;
    char *key = g_strconcat(event->device, "\1", event->name, NULL);
    struct variable *var = g_hash_table_lookup(v->by_name, key);
    if (var) {
        g_free(key);
    } else {
        var = g_new(struct variable, 1);
        *var = (struct variable){word_of(event->device), word_of(event->name), v->variables->len};
        g_ptr_array_add(v->variables, var);
        g_hash_table_insert(v->by_name, key, var);
    }
    const struct change change = {event->time, event->value, var->index};
    g_array_append_val(v->changes, change);
}

/* The short name of a variable: printable characters, to the base of their number. */
static void put_code(struct gt_output *out, size_t index)
{
    do {
        const char digit = (char)('!' + index % ('~' - '!' + 1));
        gt_output_bytes(out, &digit, 1);
        index /= '~' - '!' + 1;
    } while (index);
}

static int by_device(const void *a, const void *b)
{
    const struct variable *const *x = a, *const *y = b;
    int order = strcmp((*x)->device, (*y)->device);
    return order ? order : ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

static void put_variables(struct vcd *v)
{
    gt_output_text(v->out, "$version guesttrace $end\n$timescale 1 ns $end\n");
    g_ptr_array_sort(v->variables, by_device);
    const char *scope = NULL;
    for (size_t i = 0; i < v->variables->len; i++) {
        const struct variable *var = v->variables->pdata[i];
        if (!scope || strcmp(scope, var->device) != 0) {
            gt_output_text(v->out, scope ? "$upscope $end\n$scope module " : "$scope module ");
            gt_output_text(v->out, var->device);
            gt_output_text(v->out, " $end\n");
            scope = var->device;
        }
        gt_output_text(v->out, "$var wire 64 ");
        put_code(v->out, var->index);
        gt_output_text(v->out, " ");
        gt_output_text(v->out, var->name);
        gt_output_text(v->out, " $end\n");
    }
    gt_output_text(v->out, scope ? "$upscope $end\n" : "");
    gt_output_text(v->out, "$enddefinitions $end\n");
}

static void put_value(struct gt_output *out, uint64_t value, size_t variable)
{
    char bits[64 + 2], *p = bits;
    *p++ = 'b';
    for (int i = 63 - __builtin_clzll(value | 1); i >= 0; i--)
        *p++ = (char)('0' + (value >> i & 1));
    *p++ = ' ';
    gt_output_bytes(out, bits, (size_t)(p - bits));
    put_code(out, variable);
    gt_output_text(out, "\n");
}

/* A merge sort: what has the same time stays in order. */
static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct change *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static void put_changes(struct vcd *v)
{
    g_array_sort(v->changes, by_time);
    const struct change *change = (const struct change *)v->changes->data;
    for (size_t i = 0; i < v->changes->len; i++) {
        if (i == 0 || change[i].time != change[i - 1].time) {
            gt_output_text(v->out, "#");
            gt_output_decimal(v->out, change[i].time);
            gt_output_text(v->out, "\n");
        }
        put_value(v->out, change[i].value, change[i].variable);
    }
}

static void vcd_end(void *self)
{
    struct vcd *v = self;
    put_variables(v);
    put_changes(v);
    g_array_free(v->changes, TRUE);
    g_hash_table_destroy(v->by_name);
    g_ptr_array_free(v->variables, TRUE);
    g_free(v);
}

const struct gt_etrace_convert_format gt_etrace_convert_vcd = {
    .name = "vcd",
    .begin = vcd_begin,
    .event = vcd_event,
    .end = vcd_end,
};

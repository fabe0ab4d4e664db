/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places of events, and where their values are.
 *
 *     PLACE = [MODULE:]FUNCTION ["+" OFFSET | "@return"] | "0x" ADDRESS | "console" LITERAL
 *
 * Without at= it is the function of the event's name. The arguments are the function's, by
 * the calling convention; after @return one, the result; at an offset or an address registers, by
 * their names; at a text of the console one, the line, which `guesttrace record` has found.
 */
#include "events/plugin/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int fail(const struct gt_points *p, const struct gt_point *point, const char *why,
                const char *what, struct gt_error *err)
{
    return gt_error_set(err, GT_E_USAGE, "%.200s:%u: event '%.100s'%s%.100s: %s%.100s",
                        p->options.file, point->event->line, point->event->event.name,
                        point->event->at ? ", at=" : "", point->event->at ? point->event->at : "",
                        why, what ? what : "");
}

static struct gt_host_register *find_register(struct gt_points *p, const char *name)
{
    struct gt_host_register *reg = g_hash_table_lookup(p->registers, name);
    if (!reg) {
        reg = g_new0(struct gt_host_register, 1);
        g_hash_table_insert(p->registers, (gpointer)name, reg);
    }
    return reg;
}

/* ---- values -------------------------------------------------------------------------------- */

static uint32_t type_of(struct gt_types *types, const struct gt_events_dynamic_argument *a)
{
    struct gt_type t = {
        .name = "", .kind = GT_TYPE_INT, .size = a->size, .is_signed = a->kind == GT_TRACE_SIGNED};
    if (a->kind == GT_TRACE_POINTER || a->kind == GT_TRACE_STRING)
        t.kind = GT_TYPE_POINTER;
    else if (a->kind == GT_TRACE_BOOL)
        t.kind = GT_TYPE_BOOL;
    return gt_types_add(types, &t);
}

static void take_pieces(struct gt_points *p, const struct gt_abi_value *from,
                        struct gt_point_value *to)
{
    to->n = from->unknown || from->n > G_N_ELEMENTS(to->piece) ? 0 : from->n;
    for (unsigned i = 0; i < to->n; i++) {
        const struct gt_abi_piece *piece = &from->piece[i];
        to->piece[i] = (struct gt_point_piece){
            .reg = piece->reg ? find_register(p, piece->reg) : NULL,
            .name = piece->reg,
            .offset = piece->reg ? (int32_t)piece->in_reg : piece->stack,
            .size = (uint8_t)MIN(piece->size, 8),
        };
    }
}

/* By the convention: the event's arguments are a function's parameters, or its result. */
static void place_by_abi(struct gt_points *p, struct gt_point *point, struct gt_types *types)
{
    const struct gt_events_dynamic_event *e = point->event;
    struct gt_abi_value result = {0}, param[GT_TRACE_ARGUMENTS_MAX];
    bool returns = point->kind == GT_POINT_RETURN;
    uint32_t arguments[GT_TRACE_ARGUMENTS_MAX] = {0};
    for (unsigned i = 0; i < e->n_arguments; i++)
        arguments[i] = type_of(types, &e->argument[i]);
    struct gt_type type = {.name = "", .kind = GT_TYPE_FUNCTION, .of = returns ? arguments[0] : 0};
    uint32_t id = gt_types_add(types, &type);
    for (unsigned i = 0; i < e->n_arguments && !returns; i++)
        gt_types_add_param(types, id, &(struct gt_type_param){"", arguments[i]});
    gt_abi_place(p->abi, types, id, &result, param);
    for (unsigned i = 0; i < e->n_arguments; i++)
        take_pieces(p, returns ? &result : &param[i], &point->value[i]);
}

static void place_by_name(struct gt_points *p, struct gt_point *point)
{
    const struct gt_events_dynamic_event *e = point->event;
    for (unsigned i = 0; i < e->n_arguments; i++) {
        const char *name = e->argument[i].name;
        point->value[i] = (struct gt_point_value){
            .n = 1, .piece = {{find_register(p, name), name, 0, e->argument[i].size}}};
    }
}

/* ---- places -------------------------------------------------------------------------------- */

static bool read_hex(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 16);
    return g_ascii_isxdigit(*text) && !*end && !errno;
}

static void list(GHashTable *table, gpointer key, struct gt_point *point)
{
    GPtrArray *all = g_hash_table_lookup(table, key);
    if (!all) {
        all = g_ptr_array_new();
        g_hash_table_insert(table, key, all);
    }
    g_ptr_array_add(all, point);
}

/* The function's pattern, of which one name is left. */
static int take_function(struct gt_points *p, struct gt_point *point, const char *text,
                         struct gt_error *err)
{
    struct gt_error why;
    size_t at;
    /* "[...]" and the like are of expressions; a dot is of names like f.constprop.0 */
    if (strpbrk(text, "?*^$|()[]{}"))
        return fail(p, point, "expected the name of one function", NULL, err);
    g_autofree char *escaped = g_strdup(text);
    if (gt_filter_pattern_parse(escaped, strlen(escaped), GT_FILTER_MATCH_GLOB, &point->pattern,
                                &at, &why) < 0)
        return fail(p, point, why.text, NULL, err);
    if (gt_filter_pattern_needs_lines(point->pattern))
        return fail(p, point, "source lines are not places", NULL, err);
    const char *colon = strrchr(text, ':');
    point->name = g_strdup(colon ? colon + 1 : text);
    list(p->names, (gpointer)point->name, point);
    return 0;
}

static int take_offset(struct gt_points *p, struct gt_point *point, char *plus,
                       struct gt_error *err)
{
    *plus++ = '\0';
    point->kind = GT_POINT_INSIDE;
    if (g_ascii_strncasecmp(plus, "0x", 2) != 0 || !read_hex(plus + 2, &point->address))
        return fail(p, point, "expected an offset as +0x1c, not +", plus, err);
    place_by_name(p, point);
    return 0;
}

/* The expression was read by who sends the events. */
static int take_console(const struct gt_points *p, struct gt_point *point, struct gt_error *err)
{
    const struct gt_events_dynamic_event *e = point->event;
    point->kind = GT_POINT_CONSOLE;
    if (!p->options.console && e->event.enabled)
        return fail(p, point,
                    "only 'guesttrace record' sees the console: expected a function or an address",
                    NULL, err);
    if (e->n_arguments > 1 || (e->n_arguments && e->argument[0].kind != GT_TRACE_STRING))
        return fail(p, point, "expected no argument, or one that gets the line: const char *", NULL,
                    err);
    return 0;
}

static int take_place(struct gt_points *p, struct gt_point *point, struct gt_types *types,
                      struct gt_error *err)
{
    const char *at = point->event->at;
    if (at && g_str_has_prefix(at, "console") && (!at[7] || strchr(" \t\r\v\f\"", at[7])))
        return take_console(p, point, err);
    if (at && g_ascii_strncasecmp(at, "0x", 2) == 0) {
        point->kind = GT_POINT_ADDRESS;
        if (!read_hex(at + 2, &point->address))
            return fail(p, point, "expected an address as 0xffff800080123456", NULL, err);
        place_by_name(p, point);
        list(p->addresses, &point->address, point);
        return 0;
    }
    g_autofree char *text = g_strdup(at ? at : point->event->event.name);
    char *sign = strpbrk(text, "@+");
    if (sign && *sign == '+') {
        int status = take_offset(p, point, sign, err);
        return status < 0 ? status : take_function(p, point, text, err);
    }
    if (sign) {
        if (strcmp(sign, "@return") != 0)
            return fail(p, point, "expected @return, not ", sign, err);
        if (point->event->n_arguments > 1)
            return fail(p, point, "a return has one value: expected one argument", NULL, err);
        *sign = '\0';
        point->kind = GT_POINT_RETURN;
    }
    place_by_abi(p, point, types);
    return take_function(p, point, text, err);
}

int gt_points_place(struct gt_points *p, struct gt_error *err)
{
    struct gt_types *types = gt_types_new(NULL);
    int status = types ? 0 : gt_error_set(err, GT_E_NOMEM, "out of memory");
    p->point = g_new0(struct gt_point, p->events.n + 1);
    p->placed =
        mmap(NULL, p->events.n + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p->placed == MAP_FAILED)
        status = gt_error_set(err, GT_E_NOMEM, "out of memory");
    p->names = g_hash_table_new(g_str_hash, g_str_equal);
    p->addresses = g_hash_table_new(g_int64_hash, g_int64_equal);
    p->registers = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < p->events.n && status == 0; i++) {
        p->point[i].event = &p->events.event[i];
        p->point[i].index = i;
        status = take_place(p, &p->point[i], types, err);
    }
    if (status == 0 && gt_types_status(types) < 0)
        status = gt_error_set(err, GT_E_NOMEM, "%.200s: too many arguments", p->options.file);
    gt_types_free(types);
    return status;
}

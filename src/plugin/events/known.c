/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events have a place: a function of a program's files, or of a machine's code map, has the
 * name; code at the address has run. The others are reported at the end, with the names that are
 * near.
 */
#include "filter/nearest.h"
#include "plugin/common/code_modules.h"
#include "plugin/events/recorder.h"

#include <stdlib.h>

void gt_points_know(struct gt_points *p, const struct gt_point *point)
{
    __atomic_store_n(&p->placed[point->index], true, __ATOMIC_RELAXED);
}

static void know_name(struct gt_points *p, const char *name, const char *module, uint64_t addr)
{
    const GPtrArray *named = g_hash_table_lookup(p->names, name);
    const struct gt_filter_function what = {
        .name = name, .module = module, .kernel = !p->user && addr >> 63};
    for (guint i = 0; named && i < named->len; i++) {
        const struct gt_point *point = named->pdata[i];
        if (gt_pattern_match(point->pattern, &what))
            gt_points_know(p, point);
    }
}

void gt_points_on_module(void *self, struct gt_module *m)
{
    const struct gt_symbols *s = m->symbols;
    for (size_t i = 0; s && i < s->n_sym; i++)
        if (s->sym[i].type != 'P')
            know_name(self, s->sym[i].name, m->path, m->lo + s->sym[i].addr);
    for (size_t i = 0; s && i < s->n_alias; i++)
        know_name(self, s->alias[i].name, m->path, m->lo + s->alias[i].addr);
}

void gt_points_know_map(struct gt_points *p)
{
    const struct gt_code_map *map = gt_code_modules_map(p->modules.code);
    for (size_t i = 0; i < map->n_modules; i++) {
        const struct gt_code_module *m = &map->module[i];
        for (size_t k = m->first; k < m->first + m->n; k++)
            know_name(p, map->function[k].name, m->path, map->function[k].addr);
    }
}

/* ---- the end ------------------------------------------------------------------------------- */

static void offer_all(const struct gt_points *p, struct gt_nearest *near)
{
    const struct gt_code_map *map = p->modules.code ? gt_code_modules_map(p->modules.code) : NULL;
    for (size_t i = 0; map && i < map->n_functions; i++)
        gt_nearest_offer(near, map->function[i].name);
    for (guint i = 0; i < p->modules.all->len; i++) {
        const struct gt_module *m = p->modules.all->pdata[i];
        for (size_t k = 0; m->symbols && k < m->symbols->n_sym; k++)
            gt_nearest_offer(near, m->symbols->sym[k].name);
    }
}

static void report(const struct gt_points *p, const struct gt_point *point)
{
    const struct gt_dynamic_event *e = point->event;
    if (!point->name) {
        gt_host_message("%.200s:%u: event '%.100s': no code at its address has run",
                        p->options.file, e->line, e->event.name);
        return;
    }
    struct gt_nearest near = {.wanted = point->name};
    offer_all(p, &near);
    char *text = gt_nearest_text(&near);
    gt_host_message("%.200s:%u: event '%.100s': no function %.100s%s", p->options.file, e->line,
                    e->event.name, e->at ? e->at : point->name, text ? text : "");
    free(text);
}

void gt_points_report(const struct gt_points *p)
{
    enum { MOST = 10 };
    size_t unknown = 0;
    for (size_t i = 0; i < p->events.n; i++)
        if (!p->placed[i] && unknown++ < MOST)
            report(p, &p->point[i]);
    if (unknown > MOST)
        gt_host_message("%zu more events have no place", unknown - MOST);
}

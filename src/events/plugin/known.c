/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events have a place: a function of a program's files, or of a machine's code map, has the
 * name; code at the address has run; the console has had the text. The others are reported at the
 * end, with the names that are near.
 */
#include "events/plugin/recorder.h"
#include "filter/nearest.h"
#include "qemu/support/code_modules.h"

#include <stdlib.h>

void gt_points_know(struct gt_points *p, const struct gt_point *point)
{
    __atomic_store_n(&p->placed[point->index], true, __ATOMIC_RELAXED);
}

/* ---- names --------------------------------------------------------------------------------- */

typedef void on_name(void *self, const char *name, const char *module, uint64_t addr);

static void each_of_module(const struct gt_support_module *m, on_name *visit, void *self)
{
    const struct gt_elf_symbols *s = m->symbols;
    for (size_t i = 0; s && i < s->n_sym; i++)
        if (s->sym[i].type != 'P')
            visit(self, s->sym[i].name, m->path, m->lo + s->sym[i].addr);
    for (size_t i = 0; s && i < s->n_alias; i++)
        visit(self, s->alias[i].name, m->path, m->lo + s->alias[i].addr);
}

static void each_of_map(const struct gt_recording_code_map *map, on_name *visit, void *self)
{
    for (size_t i = 0; i < map->n_modules; i++) {
        const struct gt_recording_code_module *m = &map->module[i];
        for (size_t k = m->first; k < m->first + m->n; k++)
            visit(self, map->function[k].name, m->path, map->function[k].addr);
    }
}

static void know_name(void *self, const char *name, const char *module, uint64_t addr)
{
    struct gt_points *p = self;
    const GPtrArray *named = g_hash_table_lookup(p->names, name);
    const struct gt_filter_function what = {
        .name = name, .module = module, .kernel = !p->user && addr >> 63};
    for (guint i = 0; named && i < named->len; i++) {
        const struct gt_point *point = named->pdata[i];
        if (gt_filter_pattern_match(point->pattern, &what))
            gt_points_know(p, point);
    }
}

void gt_points_on_module(void *self, struct gt_support_module *m)
{
    each_of_module(m, know_name, self);
}

void gt_points_know_map(struct gt_points *p)
{
    each_of_map(gt_support_code_modules_map(p->modules.code), know_name, p);
}

/* ---- the end ------------------------------------------------------------------------------- */

static void offer_name(void *near, const char *name, const char *module, uint64_t addr)
{
    (void)module, (void)addr;
    gt_filter_nearest_offer(near, name);
}

static void offer_all(const struct gt_points *p, struct gt_filter_nearest *near)
{
    if (p->modules.code)
        each_of_map(gt_support_code_modules_map(p->modules.code), offer_name, near);
    for (guint i = 0; i < p->modules.all->len; i++)
        each_of_module(p->modules.all->pdata[i], offer_name, near);
}

static void report(const struct gt_points *p, const struct gt_point *point)
{
    const struct gt_events_dynamic_event *e = point->event;
    if (point->kind == GT_POINT_CONSOLE) {
        gt_host_message("%.200s:%u: event '%.100s': no line of the console before the end had "
                        "such a text",
                        p->options.file, e->line, e->event.name);
        return;
    }
    if (!point->name) {
        gt_host_message("%.200s:%u: event '%.100s': no code at its address has run",
                        p->options.file, e->line, e->event.name);
        return;
    }
    struct gt_filter_nearest near = {.wanted = point->name};
    offer_all(p, &near);
    char *text = gt_filter_nearest_text(&near);
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

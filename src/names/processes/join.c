/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of one process: see join.h. */
#include "names/processes/join.h"

#include "names/placement/locate.h"

#include <stdlib.h>
#include <string.h>

static bool same_place(const struct gt_place *a, const struct gt_place *b)
{
    return a->part == b->part && a->start == b->start && a->end == b->end && a->lo == b->lo;
}

static bool has_place(const GArray *places, const struct gt_place *p)
{
    for (guint i = 0; i < places->len; i++)
        if (same_place(&g_array_index(places, struct gt_place, i), p))
            return true;
    return false;
}

static bool has_part(const GArray *places, const struct gt_source_part *part)
{
    for (guint i = 0; i < places->len; i++)
        if (g_array_index(places, struct gt_place, i).part == part)
            return true;
    return false;
}

/* Something of a is where b, and not a, has a file. */
static bool is_across(const struct gt_sysroot_process *a, const struct gt_sysroot_process *b)
{
    for (guint i = 0; i < b->places->len; i++) {
        const struct gt_place *p = &g_array_index(b->places, struct gt_place, i);
        size_t first = gt_entries_at(&a->left, p->start);
        if (first < a->left.n && a->left.addr[first] < p->end)
            return true;
        for (guint k = 0; k < a->places->len; k++) {
            const struct gt_place *other = &g_array_index(a->places, struct gt_place, k);
            if (!same_place(p, other) && other->start < p->end && p->start < other->end)
                return true;
        }
    }
    return false;
}

static void add_entries(struct gt_entries *to, const struct gt_entries *from)
{
    uint64_t *addr = g_new(uint64_t, to->n + from->n + 1);
    size_t n = 0;
    for (size_t i = 0, k = 0; i < to->n || k < from->n;) {
        const bool first = k == from->n || (i < to->n && to->addr[i] <= from->addr[k]);
        const uint64_t next = first ? to->addr[i++] : from->addr[k++];
        if (n == 0 || addr[n - 1] != next)
            addr[n++] = next;
    }
    gt_entries_free(to);
    *to = (struct gt_entries){addr, n};
}

/* A file that is at two places has its further name at the second. */
static void absorb(struct gt_sysroot_process *to, const struct gt_sysroot_process *from)
{
    for (guint i = 0; i < from->places->len; i++) {
        struct gt_place p = g_array_index(from->places, struct gt_place, i);
        if (has_place(to->places, &p))
            continue;
        p.further = p.further || has_part(to->places, p.part);
        g_array_append_val(to->places, p);
    }
    add_entries(&to->entries, &from->entries);
    add_entries(&to->left, &from->left);
    memcpy(to->name, from->name, sizeof to->name);
}

static void join_following(GArray *processes, guint at)
{
    while (at + 1 < processes->len) {
        struct gt_sysroot_process *p = &g_array_index(processes, struct gt_sysroot_process, at);
        if (p[1].pid != p->pid || is_across(p, &p[1]) || is_across(&p[1], p))
            return;
        absorb(p, &p[1]);
        g_array_remove_index(processes, at + 1);
    }
}

static void remove_unplaced(GArray *processes)
{
    for (guint i = 0, n; i < processes->len; i += n) {
        const struct gt_sysroot_process *p =
            &g_array_index(processes, struct gt_sysroot_process, i);
        bool any = false;
        for (n = 0; i + n < processes->len && p[n].pid == p->pid; n++)
            any = any || p[n].places->len;
        if (any)
            continue;
        g_array_remove_range(processes, i, n);
        n = 0;
    }
}

void gt_sysroot_join(GArray *processes)
{
    for (guint i = 0; i < processes->len; i++)
        join_following(processes, i);
    remove_unplaced(processes);
}

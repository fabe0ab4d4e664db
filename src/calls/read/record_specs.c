/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Specs of records: see record_specs.h. */
#include "calls/read/record_specs.h"

#include "calls/read/recording.h"

struct gt_calls_record_specs {
    const struct gt_calls *c;
    uint32_t task, space;
    uint64_t until;      /* the space is another one from then on */
    GHashTable *by_addr; /* struct gt_value_spec; of that space */
};

struct gt_calls_record_specs *gt_calls_record_specs_create(const struct gt_calls *c, uint32_t tid)
{
    struct gt_calls_record_specs *s = g_new0(struct gt_calls_record_specs, 1);
    s->c = c;
    s->task = gt_calls_tasks_find(&c->tasks, tid);
    return s;
}

void gt_calls_record_specs_destroy(struct gt_calls_record_specs *s)
{
    if (s && s->by_addr)
        g_hash_table_destroy(s->by_addr);
    g_free(s);
}

static void arrive(struct gt_calls_record_specs *s, uint64_t time)
{
    if (s->by_addr && time < s->until)
        return;
    if (!s->by_addr)
        s->by_addr = g_hash_table_new(NULL, NULL);
    g_hash_table_remove_all(s->by_addr);
    s->space = gt_calls_tasks_space(&s->c->tasks, s->c->spaces, s->task, time, &s->until);
}

const struct gt_value_spec *gt_calls_record_specs_at(struct gt_calls_record_specs *s, uint64_t time,
                                                     uint64_t word)
{
    void *address = (void *)(word >> 16), *known;
    if ((word & 3) > GT_UFTRACE_EXIT || s->c->values.n_modules == 0 || s->task == UINT32_MAX)
        return NULL;
    arrive(s, time);
    if (g_hash_table_lookup_extended(s->by_addr, address, NULL, &known))
        return known;
    uint32_t function = gt_calls_spaces_resolve(s->c->spaces, s->space, word >> 16);
    const struct gt_value_spec *spec =
        function == UINT32_MAX ? NULL : gt_calls_value_spec(s->c, function);
    g_hash_table_insert(s->by_addr, address, (void *)spec);
    return spec;
}

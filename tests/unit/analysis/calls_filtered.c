/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recorder with filters: see calls_filtered.h. */
#include "calls_filtered.h"

#include "filter/state.h"

struct recorder {
    struct gt_filter_state s;
    GArray *open;    /* uint32_t: functions */
    GArray *records; /* struct gt_compact_record */
    guint at;        /* steps done */
};

static void put(struct recorder *r, uint64_t time, uint64_t word)
{
    const struct gt_compact_record record = {time, word};
    g_array_append_val(r->records, record);
}

static void put_enter(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    struct recorder *r = self;
    put(r, time, gt_uftrace_entry(shown, address_of(g_array_index(r->open, uint32_t, f->depth))));
}

static void put_leave(void *self, const struct gt_filter_frame *f, uint32_t shown, uint64_t time)
{
    struct recorder *r = self;
    put(r, time, gt_uftrace_exit(shown, address_of(g_array_index(r->open, uint32_t, f->depth))));
}

static void put_event(struct recorder *r, uint64_t time, uint64_t id)
{
    put(r, time, gt_uftrace_event(r->s.shown, id));
}

static void put_suspended(void *self, uint32_t shown, uint64_t time)
{
    (void)shown;
    put_event(self, time, GT_UFTRACE_EV_SCHED_OUT);
}

static void put_resumed(void *self, uint32_t shown, uint64_t time)
{
    (void)shown;
    put_event(self, time, GT_UFTRACE_EV_SCHED_IN);
}

static const struct gt_filter_sink sink = {
    .enter = put_enter, .leave = put_leave, .suspended = put_suspended, .resumed = put_resumed};

static void take_step(struct recorder *r, const struct model_call *c, bool end,
                      const struct gt_filter_verdict *v)
{
    uint64_t time = end ? c->end : c->begin;
    if (c->event) {
        if (gt_filter_takes_event(&r->s, time))
            put_event(r, time, EVENT);
    } else if (c->function == SCHEDULE) {
        (end ? gt_filter_resume : gt_filter_suspend)(&r->s, time);
    } else if (end) {
        gt_filter_leave(&r->s, time);
    } else {
        g_array_set_size(r->open, r->s.depth);
        g_array_append_val(r->open, c->function);
        gt_filter_enter(&r->s, &v[c->function], 0, 0, time);
    }
}

static const struct model_call *next_of(const struct model *m, unsigned task, guint at, bool *end,
                                        uint64_t *time)
{
    const struct model_task *t = &m->task[task];
    if (at == t->step->len)
        return NULL;
    const struct model_step *s = &g_array_index(t->step, struct model_step, at);
    const struct model_call *c = &g_array_index(t->call, struct model_call, s->call);
    *end = s->end;
    *time = s->end ? c->end : c->begin;
    return c;
}

/* All tasks by time; of one time the task with the lower number first. */
static void play(const struct model *m, struct recorder *r, const struct gt_filter_verdict *v)
{
    for (;;) {
        unsigned first = TASKS;
        const struct model_call *c = NULL;
        uint64_t least = UINT64_MAX, time;
        bool end, ends = false;
        for (unsigned i = 0; i < TASKS; i++) {
            const struct model_call *next = next_of(m, i, r[i].at, &end, &time);
            if (next && time < least) {
                first = i;
                c = next;
                ends = end;
                least = time;
            }
        }
        if (!c)
            return;
        take_step(&r[first], c, ends, v);
        r[first].at++;
    }
}

static void get_verdicts(const struct gt_filter_set *set, struct gt_filter_verdict *v)
{
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        char name[8];
        sprintf(name, "f%u", i);
        const struct gt_filter_function f = {.name = name, .module = PROGRAM, .size = FUNCTION};
        assert_int_equal(gt_filter_verdict(set, &f, &v[i]), 0);
    }
}

struct gt_uftrace_dir filtered_record(struct model *m, const struct gt_filter_set *set,
                                      uint64_t last)
{
    struct gt_uftrace_dir d = make_dir("filtered.dir");
    struct gt_filter_live *live = gt_filter_live_new(set);
    struct gt_filter_verdict v[FUNCTIONS];
    struct recorder r[TASKS] = {0};
    gt_uftrace_dir_add_session(&d, 1, FIRST_TID, SID, PROGRAM, NULL);
    for (unsigned i = 0; i < TASKS; i++)
        gt_uftrace_dir_add_task(&d, 1, FIRST_TID + i, FIRST_TID, NULL);
    put_info(&d);
    put_program(&d);
    get_verdicts(set, v);
    for (unsigned i = 0; i < TASKS; i++) {
        assert_int_equal(gt_filter_state_init(&r[i].s, set, live, &sink, &r[i]), 0);
        gt_filter_state_task(&r[i].s, "prog", FIRST_TID + i, FIRST_TID);
        r[i].open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        r[i].records = g_array_new(FALSE, FALSE, sizeof(struct gt_compact_record));
    }
    play(m, r, v);
    for (unsigned i = 0; i < TASKS; i++) {
        const struct gt_compact_record end = {last, gt_uftrace_event(0, EVENT)};
        put_records(&m->dir, FIRST_TID + i, &end, 1);
        gt_filter_takes_event(&r[i].s, last);
        gt_filter_until(&r[i].s, last);
        put(&r[i], last, end.word);
        put_records(&d, FIRST_TID + i, (const void *)r[i].records->data, r[i].records->len);
        gt_filter_state_finish(&r[i].s);
        g_array_free(r[i].open, TRUE);
        g_array_free(r[i].records, TRUE);
    }
    gt_filter_live_free(live);
    return d;
}

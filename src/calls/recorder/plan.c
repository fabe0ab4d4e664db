/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of how calls are recorded: see plan.h.
 *
 * Hosts with a scoreboard call only where a transfer may be: translated code keeps the last exit
 * and the clock. Others call at each block, or with `sparse` at each that a transfer may reach.
 */
#include "calls/recorder/plan.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/transfer.h"
#include "calls/recorder/select/filtered.h"
#include "calls/recorder/select/level.h"
#include "calls/recorder/translate/stack_pointer.h"

enum when { ANY, NO, YES };

enum registers {
    NEVER,
    ALWAYS,
    IF_READ, /* where values are read at entries of functions, or the stack pointer is */
};

/* What decides. */
struct situation {
    bool scoreboard, filters, values, levels;
};

/* The first row of an entry that fits is the one. */
static const struct {
    enum gt_recorder_entry entry;
    enum when scoreboard, filters, values;
    gt_host_exec_fn fn;
    enum registers registers;
} entries[] = {
    {GT_ENTRY_BLOCK, YES, YES, ANY, gt_run_on_filtered_transfer, IF_READ},
    {GT_ENTRY_BLOCK, YES, NO, ANY, gt_run_on_transfer, IF_READ},
    {GT_ENTRY_BLOCK, NO, ANY, ANY, gt_run_on_block, NEVER},
    {GT_ENTRY_BLOCK_COUNTED, YES, YES, ANY, gt_run_on_filtered_counted_transfer, IF_READ},
    {GT_ENTRY_BLOCK_COUNTED, YES, NO, ANY, gt_run_on_counted_transfer, IF_READ},
    {GT_ENTRY_INSIDE, YES, ANY, ANY, gt_run_on_transfer_inside, ALWAYS},
    {GT_ENTRY_INSIDE, NO, ANY, ANY, gt_run_on_block, NEVER},
    {GT_ENTRY_SLOW, YES, ANY, ANY, gt_run_on_slow_block, ALWAYS},
    {GT_ENTRY_SLOW, NO, ANY, ANY, gt_run_on_slow_block, NEVER},
    {GT_ENTRY_UNKNOWN, ANY, ANY, ANY, gt_run_on_unknown_block, NEVER},
    {GT_ENTRY_UNKNOWN_COUNTED, YES, ANY, ANY, gt_run_on_counted_unknown_block, NEVER},
    {GT_ENTRY_VALUED, YES, ANY, YES, gt_run_on_valued_transfer, ALWAYS},
    {GT_ENTRY_RESULT, YES, ANY, YES, gt_run_on_valued_return, ALWAYS},
};

static const struct {
    enum when levels, filters;
    const struct gt_track_sink *sink;
} sinks[] = {
    {YES, ANY, &gt_select_level_sink},
    {NO, YES, &gt_select_filtered_sink},
    {NO, NO, &gt_run_sink},
};

static bool fits(enum when when, bool is)
{
    return when == ANY || (when == YES) == is;
}

static struct gt_recorder_plan plan_for(const struct situation *s, bool reads)
{
    struct gt_recorder_plan p = {.asks = s->filters};
    for (size_t i = 0; i < G_N_ELEMENTS(entries); i++) {
        struct gt_recorder_plan_entry *e = &p.entry[entries[i].entry];
        if (!e->fn && fits(entries[i].scoreboard, s->scoreboard) &&
            fits(entries[i].filters, s->filters) && fits(entries[i].values, s->values))
            *e = (struct gt_recorder_plan_entry){entries[i].fn,
                                                 entries[i].registers == ALWAYS ||
                                                     (entries[i].registers == IF_READ && reads)};
    }
    for (size_t i = 0; i < G_N_ELEMENTS(sinks) && !p.sink; i++)
        if (fits(sinks[i].levels, s->levels) && fits(sinks[i].filters, s->filters))
            p.sink = sinks[i].sink;
    return p;
}

void gt_recorder_plan_choose(struct gt_recorder *r)
{
    struct situation s = {.filters = gt_select_filters_current(&r->filters) != NULL,
                          .values = r->arguments.in_code,
                          .levels = r->options.privilege_levels};
    /* A depth that was asked for is the filters', where there are some: they hide deeper calls. The
     * default one is a limit of each recording, and deeper calls are counted. */
    r->hot.max_depth = s.filters ? GT_TRACK_MAX_DEPTH : (uint32_t)r->options.depth;
    r->filters.depth = r->options.has_depth ? GT_TRACK_MAX_DEPTH : (uint32_t)r->options.depth;
    /* After a call, the results of a tail call are read. */
    const bool reads = r->arguments.in_code || gt_translate_stack_pointer_is_read(r);
    for (int i = 0; i < 2; i++) {
        s.scoreboard = i;
        r->plan[i] = plan_for(&s, reads);
    }
}

void gt_recorder_plan_clock(struct gt_recorder *r)
{
    const int clock = r->options.clock;
    /* A machine to which vCPUs may be added has the clock of several from the beginning. */
    r->hot.host_clock = clock == GT_CLOCK_HOST || (clock == GT_CLOCK_AUTO && r->host.max_vcpus > 1);
    if (gt_host_can(GT_HOST_CONDITIONAL))
        r->hot.scoreboard = gt_host_scoreboard_new(sizeof(struct gt_recorder_score));
    r->hot.sparse =
        !r->hot.scoreboard &&
        (r->guest.user ? clock == GT_CLOCK_AUTO : r->hot.host_clock || r->host.max_vcpus == 1);
}

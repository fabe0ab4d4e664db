/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of `guesttrace top`: see top.h. */
#include "cli/amount.h"
#include "cli/top/top.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum kind { SHARE, SHARE_OF_ALL, TIME, COUNT, RATE };

struct column {
    const char *heading; /* NULL: there are no more */
    int width, least;    /* columns of the terminal that it takes */
    enum kind kind;
    size_t offset; /* in struct gt_calls_follow_sums */
    bool is_total; /* may have time in which tasks were suspended: --wall */
};

#define NOW(member) offsetof(struct gt_calls_follow_sums, now.member)
#define ALL(member) offsetof(struct gt_calls_follow_sums, all.member)

/* A narrow terminal leaves columns out: the name is more than the numbers. */
static const struct column of_functions[] = {
    {"SELF%", 5, 0, SHARE, NOW(self)},
    {"SELF", GT_AMOUNT_TIME_WIDTH, 36, TIME, NOW(self)},
    {"TOTAL%", 6, 80, SHARE, NOW(total), .is_total = true},
    {"TOTAL", GT_AMOUNT_TIME_WIDTH, 76, TIME, NOW(total)},
    {"SLEPT", GT_AMOUNT_TIME_WIDTH, 154, TIME, NOW(slept)},
    {"CALLS", 11, 56, COUNT, NOW(calls)},
    {"CALLS/S", 11, 132, RATE, NOW(calls)},
    {"ALL SELF%", 9, 106, SHARE_OF_ALL, ALL(self)},
    {"ALL SELF", GT_AMOUNT_TIME_WIDTH, 94, TIME, ALL(self)},
    {"ALL TOTAL", GT_AMOUNT_TIME_WIDTH, 143, TIME, ALL(total)},
    {"ALL CALLS", 12, 119, COUNT, ALL(calls)},
    {0},
};

/* All of a task's self time is the time that it ran. */
static const struct column of_tasks[] = {
    {"RAN%", 5, 0, SHARE, NOW(self)},
    {"RAN", GT_AMOUNT_TIME_WIDTH, 36, TIME, NOW(self)},
    {"SLEPT", GT_AMOUNT_TIME_WIDTH, 68, TIME, NOW(slept)},
    {"CALLS", 11, 56, COUNT, NOW(calls)},
    {"CALLS/S", 11, 132, RATE, NOW(calls)},
    {"ALL RAN%", 8, 94, SHARE_OF_ALL, ALL(self)},
    {"ALL RAN", GT_AMOUNT_TIME_WIDTH, 84, TIME, ALL(self)},
    {"ALL SLEPT", GT_AMOUNT_TIME_WIDTH, 106, TIME, ALL(slept)},
    {"ALL CALLS", 12, 119, COUNT, ALL(calls)},
    {0},
};

static const struct column *columns_of(const struct gt_cli_top *t)
{
    return t->follow->by_task ? of_tasks : of_functions;
}

void gt_cli_top_put_heading(const struct gt_cli_top *t, int room, GString *out)
{
    for (const struct column *c = columns_of(t); c->heading; c++)
        if (room >= c->least)
            g_string_append_printf(out, "%*s ", c->width, c->heading);
    g_string_append(out, t->follow->by_task ? "TASK" : "FUNCTION");
}

/* Of the time that ran in all tasks. */
static char *share_of(const struct gt_cli_top *t, const struct gt_cli_follow_row *row,
                      const struct column *c, uint64_t value)
{
    const uint64_t whole = c->kind == SHARE ? t->follow->sums.now.self : t->follow->sums.all.self;
    return row->suspends || !whole || (c->is_total && t->follow->wall)
               ? g_strdup("-")
               : g_strdup_printf("%.1f", 100.0 * (double)value / (double)whole);
}

static char *text_of(const struct gt_cli_top *t, const struct gt_cli_follow_row *row,
                     const struct column *c)
{
    char text[GT_AMOUNT_TIME_WIDTH + 8];
    const uint64_t value = *(const uint64_t *)(const void *)((const char *)&row->sums + c->offset);
    switch (c->kind) {
    case SHARE:
    case SHARE_OF_ALL:
        return share_of(t, row, c, value);
    case TIME:
        *gt_cli_amount_put_time(text, value) = '\0';
        return g_strdup(text);
    case RATE:
        return t->follow->seconds > 0
                   ? gt_cli_amount_exact((uint64_t)((double)value / t->follow->seconds))
                   : g_strdup("-");
    default:
        return gt_cli_amount_exact(value);
    }
}

void gt_cli_top_put_numbers(const struct gt_cli_top *t, const struct gt_cli_follow_row *row,
                            int room, GString *out)
{
    for (const struct column *c = columns_of(t); c->heading; c++) {
        if (room < c->least)
            continue;
        g_autofree char *text = text_of(t, row, c);
        g_string_append_printf(out, "%*s ", c->width, text);
    }
}

char *gt_cli_top_name(const struct gt_cli_top *t, const struct gt_cli_follow_row *row)
{
    if (!row->module)
        return g_strdup_printf("%" PRIu32 " %s", row->task, row->name);
    const char *slash = strrchr(row->module, '/'),
               *name = gt_image_demangle(t->follow->demangler, row->name);
    return *row->module ? g_strdup_printf("%s  [%s]", name, slash ? slash + 1 : row->module)
                        : g_strdup(name);
}

const char *gt_cli_top_state_name(const struct gt_cli_top *t)
{
    static const char *const names[] = {[GT_FOLLOW_GOES_ON] = "disconnected",
                                        [GT_FOLLOW_INTERRUPTED] = "interrupted",
                                        [GT_FOLLOW_ENDED] = "ended"};
    return t->follow->state != GT_FOLLOW_CONNECTED ? names[t->follow->state]
           : t->is_on                              ? "on"
                                                   : "off";
}

char *gt_cli_top_title(const struct gt_cli_top *t)
{
    static const char *const more[] = {
        [GT_FOLLOW_CONNECTED] = "",
        [GT_FOLLOW_GOES_ON] = " (the recording goes on)",
        [GT_FOLLOW_INTERRUPTED] = " (run guesttrace repair)",
        [GT_FOLLOW_ENDED] = "",
    };
    const size_t tasks = gt_calls_follow_n_tasks(t->follow->calls);
    const uint64_t lost = gt_calls_follow_lost(t->follow->calls);
    const bool part = gt_calls_follow_is_part(t->follow->calls);
    g_autofree char *all = gt_cli_amount_exact(t->follow->sums.all.calls);
    g_autoptr(GString) out = g_string_new(NULL);
    g_string_printf(out, "%s%s: %s calls%s%s in %zu task%s", gt_cli_top_state_name(t),
                    more[t->follow->state], all, part ? " since " : "",
                    part ? t->follow->since : "", tasks, tasks == 1 ? "" : "s");
    if (t->follow->task)
        g_string_append_printf(out, ", only %s", t->follow->task);
    if (lost)
        g_string_append_printf(out, ", records were lost %" PRIu64 " times", lost);
    if (t->held && t->held->len)
        g_string_append_printf(out, ", %u message%s at the end", t->held->len,
                               t->held->len == 1 ? "" : "s");
    g_string_append_printf(out, ", %s", t->follow->path);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

int gt_cli_top_delay(const char *seconds)
{
    char *end;
    double value = g_ascii_strtod(seconds, &end);
    return end == seconds || *end || !(value >= 0.01 && value <= 3600) ? -1
                                                                       : (int)lrint(value * 1000);
}

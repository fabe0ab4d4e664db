/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a recording as text: see info.h. */
#include "cli/amount.h"
#include "cli/info/info.h"
#include "cli/terminal_text.h"

#include <inttypes.h>
#include <string.h>

static void put(struct gt_cli_pager *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(struct gt_cli_pager *p, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_autofree char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    gt_output_text(&p->out, text);
}

/* A fact; control characters in it are shown. "" and NULL are not known. */
static void put_fact(struct gt_cli_pager *p, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    g_autofree char *shown = gt_cli_shown(value);
    put(p, "%-14s: %s\n", name, shown);
}

static void put_title(struct gt_cli_pager *p, const char *title)
{
    put(p, "\n%s%s%s\n", gt_cli_color(p->color, GT_COLOR_BOLD), title,
        gt_cli_color(p->color, GT_COLOR_NONE));
}

/* ---- the recording ------------------------------------------------------------------------- */

static void put_when(const struct gt_cli_info *i, struct gt_cli_pager *p)
{
    char text[64] = "";
    struct tm tm;
    if (i->when && localtime_r(&i->when, &tm))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    put_fact(p, "recorded", *i->facts.date ? i->facts.date : text);
    put_fact(p, "elapsed", i->facts.elapsed);
}

static void put_size(const struct gt_cli_info *i, struct gt_cli_pager *p)
{
    const struct gtrace_facts *f = &i->facts;
    g_autofree char *bytes = gt_cli_amount_short(f->bytes);
    g_autofree char *records = gt_cli_amount_exact(f->records);
    g_autofree char *each =
        f->records
            ? g_strdup_printf(", %.2f bytes each", (double)f->record_bytes / (double)f->records)
            : g_strdup("");
    put(p, "%-14s: %sB\n", "size", bytes);
    put(p, "%-14s: %s%s\n", "records", records, each);
}

static void put_calls(const struct gt_cli_info *i, struct gt_cli_pager *p)
{
    g_autofree char *calls = gt_cli_amount_exact(i->all.calls);
    put(p, "%-14s: %s, up to %" PRIu32 " deep\n", "calls", calls, i->all.deepest);
    g_autofree char *functions = gt_cli_amount_exact(i->all.functions);
    put(p, "%-14s: %s\n", "functions", functions);
    if (i->all.events) {
        g_autofree char *events = gt_cli_amount_exact(i->all.events);
        put(p, "%-14s: %s\n", "events", events);
    }
}

static const char *clock_words(const char *clock)
{
    if (!clock)
        return NULL;
    return strcmp(clock, "insn") == 0   ? "instructions of the guest, 1 ns each"
           : strcmp(clock, "host") == 0 ? "the host's"
                                        : "the host's; of some processes instructions, 1 ns each";
}

static void put_time(const struct gt_cli_info *i, struct gt_cli_pager *p)
{
    const struct gtrace_facts *f = &i->facts;
    g_autofree char *length = gt_cli_amount_time(f->last - f->first);
    put(p, "%-14s: %s, from %" PRIu64 ".%09" PRIu64 " s to %" PRIu64 ".%09" PRIu64 " s\n", "time",
        length, f->first / 1000000000, f->first % 1000000000, f->last / 1000000000,
        f->last % 1000000000);
    put_fact(p, "clock", clock_words(gt_cli_info_clock(i)));
}

static void put_recording(const struct gt_cli_info *i, struct gt_cli_pager *p)
{
    const struct gtrace_facts *f = &i->facts;
    g_autofree char *form = gt_cli_info_form(f);
    g_autofree char *ended = f->has_exit_status ? gt_cli_info_exit(f->exit_status) : NULL;
    put_fact(p, "recording", f->path);
    put_fact(p, "form", form);
    if (f->incomplete)
        put(p, "%-14s: %sno: it was cut, or is still being written%s\n", "complete",
            gt_cli_color(p->color, GT_COLOR_RED), gt_cli_color(p->color, GT_COLOR_NONE));
    put_fact(p, "command", f->command);
    put_fact(p, "program", f->program);
    put_fact(p, "ended", ended);
    put_fact(p, "recorded by", f->version);
    put_when(i, p);
    put_fact(p, "cpu", f->cpu);
    put_fact(p, "host", f->host);
    put_time(i, p);
    put_calls(i, p);
    put_size(i, p);
}

/* ---- tasks and processes ------------------------------------------------------------------- */

static void put_processes(const struct gt_cli_info *i, struct gt_cli_pager *p)
{
    const size_t n = gtrace_n_processes(i->trace);
    g_autofree uint64_t *tasks = g_new0(uint64_t, n + 1), *calls = g_new0(uint64_t, n + 1);
    for (uint32_t t = 0; t < gtrace_n_tasks(i->trace); t++) {
        const uint32_t process = gt_cli_info_task(i, t).process;
        tasks[process]++;
        calls[process] += i->counts[t].calls;
    }
    put_title(p, "Processes");
    put(p, "%10s %10s %16s  %s\n", "PID", "TASKS", "CALLS", "PROGRAM");
    for (uint32_t k = 0; k < n && !gt_cli_pager_closed(p); k++) {
        const struct gtrace_process process = gt_cli_info_process(i, k);
        g_autofree char *number = gt_cli_amount_exact(calls[k]);
        g_autofree char *shown = gt_cli_shown(process.program);
        put(p, "%10" PRIu32 " %10" PRIu64 " %16s  %s\n", process.pid, tasks[k], number, shown);
    }
}

static void put_tasks(const struct gt_cli_info *i, struct gt_cli_pager *p)
{
    put_title(p, "Tasks");
    put(p, "%10s %10s %16s %10s  %s\n", "TID", "PID", "CALLS", "TIME", "NAME");
    for (uint32_t k = 0; k < gtrace_n_tasks(i->trace) && !gt_cli_pager_closed(p); k++) {
        const struct gtrace_task t = gt_cli_info_task(i, k);
        const struct gtrace_counts *n = &i->counts[k];
        char time[GT_AMOUNT_TIME_WIDTH + 1];
        *gt_cli_amount_put_time(time, n->last > n->first ? n->last - n->first : 0) = '\0';
        g_autofree char *calls = gt_cli_amount_exact(n->calls);
        g_autofree char *shown = gt_cli_shown(t.name);
        put(p, "%10" PRIu32 " %10" PRIu32 " %16s %s  %s\n", t.id,
            gt_cli_info_process(i, t.process).pid, calls, time, shown);
    }
}

/* ---- how exact it is ----------------------------------------------------------------------- */

static bool is_counter(const struct gtrace_statistic *s, const char *prefix)
{
    return g_str_has_prefix(s->name, prefix) && strspn(s->value, "0") != strlen(s->value);
}

/* "NAME N: explanation", a line each. */
static void put_counters(const struct gt_cli_info *i, struct gt_cli_pager *p, const char *prefix,
                         const char *title)
{
    bool any = false;
    for (size_t k = 0; k < gtrace_n_statistics(i->trace); k++) {
        const struct gtrace_statistic s = gt_cli_info_statistic(i, k);
        if (!is_counter(&s, prefix))
            continue;
        if (!any)
            put_title(p, title);
        any = true;
        g_autofree char *shown = gt_cli_shown(s.name + strlen(prefix));
        g_autofree char *count = gt_cli_amount_exact(s.number);
        put(p, "%16s  %s%s%s\n", count, shown, s.about ? ": " : "", s.about ? s.about : "");
    }
}

static void put_exactness(const struct gt_cli_info *i, struct gt_cli_pager *p)
{
    uint64_t lost = gtrace_statistic(i->trace, "lost_records");
    const char *error = gt_cli_info_error(i);
    if (lost || i->all.lost) {
        g_autofree char *n = gt_cli_amount_exact(lost);
        put_title(p, "Lost records");
        put(p, "%16s  in %" PRIu64 " places%s%s\n", lost ? n : "", i->all.lost, error ? ": " : "",
            error ? error : "");
    }
    if (gtrace_n_statistics(i->trace) && gtrace_n_anomalies(i->trace) == 0)
        put(p, "\nNo anomalies: the calls are exact.\n");
    put_counters(i, p, GT_INFO_ANOMALY, "Anomalies");
    put_counters(i, p, GT_INFO_COUNT, "Counts");
}

void gt_cli_info_text(const struct gt_cli_info *i, struct gt_cli_pager *p)
{
    put_recording(i, p);
    put_exactness(i, p);
    put_processes(i, p);
    put_tasks(i, p);
}

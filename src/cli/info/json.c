/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a recording as JSON: see info.h. */
#include "base/json.h"
#include "cli/info/info.h"
#include "track/counters.h"

#include <string.h>

static void put_text(struct gt_json *j, const char *key, const char *value)
{
    if (!value || !*value)
        return;
    gt_json_member_text(j, key, value);
}

static void begin(struct gt_json *j, const char *key)
{
    gt_json_newline(j);
    gt_json_key(j, key);
}

static void put_when(struct gt_json *j, const struct gt_info *i)
{
    char text[64] = "";
    struct tm tm;
    if (i->when && gmtime_r(&i->when, &tm))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    put_text(j, "written", text);
    put_text(j, "record_date", i->date);
    put_text(j, "elapsed", i->elapsed);
}

static void put_recording(struct gt_json *j, const struct gt_info *i)
{
    static const char *const forms[] = {[GT_CALLS_COMPACT] = "compact",
                                        [GT_CALLS_DIRECTORY] = "uftrace",
                                        [GT_CALLS_ETRACE] = "etrace"};
    const struct gt_calls_facts *f = i->facts;
    put_text(j, "path", f->path);
    put_text(j, "form", forms[f->form]);
    if (f->form == GT_CALLS_COMPACT) {
        g_autofree char *version = g_strdup_printf("%u.%u", f->major, f->minor);
        put_text(j, "format_version", version);
    }
    gt_json_key(j, "incomplete");
    gt_json_bool(j, f->incomplete);
    put_text(j, "command", f->command);
    put_text(j, "program", f->exename);
    if (f->has_exit_status)
        gt_json_member_u64(j, "wait_status", (uint64_t)(unsigned)f->exit_status);
    put_text(j, "version", f->version);
    put_when(j, i);
    put_text(j, "cpu", f->cpu);
    put_text(j, "host", f->host);
    put_text(j, "clock", gt_info_clock(i));
    gt_json_member_u64(j, "first_ns", f->first);
    gt_json_member_u64(j, "last_ns", f->last);
    gt_json_member_u64(j, "calls", i->calls);
    gt_json_member_u64(j, "deepest", i->deepest);
    gt_json_member_u64(j, "functions", i->counts.functions);
    gt_json_member_u64(j, "events", i->events);
    gt_json_member_u64(j, "records", f->records);
    gt_json_member_u64(j, "record_bytes", f->record_bytes);
    gt_json_member_u64(j, "bytes", f->bytes);
    gt_json_member_u64(j, "lost_records", gt_stats_number(&i->stats, "lost_records"));
    put_text(j, "error", gt_stats_text(&i->stats, "error"));
}

/* [{"name", "count", "text"}] of those that are not 0. */
static void put_counters(struct gt_json *j, const struct gt_info *i, const char *key,
                         const char *prefix)
{
    begin(j, key);
    gt_json_begin_array(j);
    for (size_t k = 0; k < i->stats.n; k++) {
        const struct gt_stat *s = &i->stats.item[k];
        uint64_t count = g_ascii_strtoull(s->value, NULL, 10);
        if (!g_str_has_prefix(s->key, prefix) || count == 0)
            continue;
        gt_json_begin_object(j);
        put_text(j, "name", s->key + strlen(prefix));
        gt_json_member_u64(j, "count", count);
        put_text(j, "text", gt_counter_text(s->key + strlen(prefix)));
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
}

static void put_processes(struct gt_json *j, const struct gt_calls *c)
{
    begin(j, "processes");
    gt_json_begin_array(j);
    for (uint32_t k = 0; k < gt_calls_n_processes(c); k++) {
        const struct gt_calls_process *p = gt_calls_process(c, k);
        gt_json_newline(j);
        gt_json_begin_object(j);
        gt_json_member_u64(j, "pid", p->pid);
        put_text(j, "program", p->exename);
        gt_json_member_u64(j, "start_ns", p->start);
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
}

static void put_names(struct gt_json *j, const struct gt_calls_task *t)
{
    gt_json_key(j, "names");
    gt_json_begin_array(j);
    for (size_t k = 0; k < t->n_names; k++) {
        gt_json_begin_object(j);
        gt_json_member_u64(j, "from_ns", t->names[k].time);
        put_text(j, "name", t->names[k].name);
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
}

static void put_tasks(struct gt_json *j, const struct gt_info *i)
{
    const struct gt_calls *c = i->reader->calls;
    begin(j, "tasks");
    gt_json_begin_array(j);
    for (uint32_t k = 0; k < gt_calls_n_tasks(c); k++) {
        const struct gt_calls_task *t = gt_calls_task(c, k);
        const struct gt_task_counts *n = &i->counts.task[k];
        gt_json_newline(j);
        gt_json_begin_object(j);
        gt_json_member_u64(j, "tid", t->id);
        gt_json_member_u64(j, "pid", gt_calls_process(c, t->process)->pid);
        gt_json_key(j, "name");
        gt_json_text(j, t->name);
        if (t->n_names > 1)
            put_names(j, t);
        gt_json_member_u64(j, "calls", n->calls);
        gt_json_member_u64(j, "deepest", n->deepest);
        gt_json_member_u64(j, "events", n->events);
        if (n->first <= n->last) {
            gt_json_member_u64(j, "first_ns", n->first);
            gt_json_member_u64(j, "last_ns", n->last);
        }
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
}

void gt_info_json(const struct gt_info *i, struct gt_output *out)
{
    struct gt_json j;
    gt_json_init(&j, out, GT_JSON_REPLACE);
    gt_json_resume(&j);
    gt_json_begin_object(&j);
    put_recording(&j, i);
    put_counters(&j, i, "anomalies", GT_STATS_ANOMALY);
    put_counters(&j, i, "counts", GT_STATS_COUNT);
    put_counters(&j, i, "rules", GT_STATS_RULE);
    put_processes(&j, i->reader->calls);
    put_tasks(&j, i);
    gt_json_newline(&j);
    gt_json_end_object(&j);
    gt_json_end_line(&j);
    gt_json_commit(&j);
}

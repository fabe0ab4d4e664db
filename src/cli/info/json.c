/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts about a recording as JSON: see info.h. */
#include "base/json.h"
#include "cli/info/info.h"

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

static void put_when(struct gt_json *j, const struct gt_cli_info *i)
{
    char text[64] = "";
    struct tm tm;
    if (i->when && gmtime_r(&i->when, &tm))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    put_text(j, "written", text);
    put_text(j, "record_date", i->facts.date);
    put_text(j, "elapsed", i->facts.elapsed);
}

static void put_recording(struct gt_json *j, const struct gt_cli_info *i)
{
    static const char *const forms[] = {
        [GTRACE_FILE] = "compact", [GTRACE_DIRECTORY] = "uftrace", [GTRACE_ETRACE] = "etrace"};
    const struct gtrace_facts *f = &i->facts;
    put_text(j, "path", f->path);
    put_text(j, "form", forms[f->form]);
    if (f->form == GTRACE_FILE) {
        g_autofree char *version = g_strdup_printf("%u.%u", f->major, f->minor);
        put_text(j, "format_version", version);
    }
    gt_json_key(j, "incomplete");
    gt_json_bool(j, f->incomplete);
    put_text(j, "command", f->command);
    put_text(j, "program", f->program);
    if (f->has_exit_status)
        gt_json_member_u64(j, "wait_status", (uint64_t)(unsigned)f->exit_status);
    put_text(j, "version", f->version);
    put_when(j, i);
    put_text(j, "cpu", f->cpu);
    put_text(j, "host", f->host);
    put_text(j, "clock", gt_cli_info_clock(i));
    gt_json_member_u64(j, "first_ns", f->first);
    gt_json_member_u64(j, "last_ns", f->last);
    gt_json_member_u64(j, "calls", i->all.calls);
    gt_json_member_u64(j, "deepest", i->all.deepest);
    gt_json_member_u64(j, "functions", i->all.functions);
    gt_json_member_u64(j, "events", i->all.events);
    gt_json_member_u64(j, "records", f->records);
    gt_json_member_u64(j, "record_bytes", f->record_bytes);
    gt_json_member_u64(j, "bytes", f->bytes);
    gt_json_member_u64(j, "lost_records", gtrace_statistic(i->trace, "lost_records"));
    put_text(j, "error", gt_cli_info_error(i));
}

/* [{"name", "count", "text"}] of those that are not 0. */
static void put_counters(struct gt_json *j, const struct gt_cli_info *i, const char *key,
                         const char *prefix)
{
    begin(j, key);
    gt_json_begin_array(j);
    for (size_t k = 0; k < gtrace_n_statistics(i->trace); k++) {
        const struct gtrace_statistic s = gt_cli_info_statistic(i, k);
        if (!g_str_has_prefix(s.name, prefix) || s.number == 0)
            continue;
        gt_json_begin_object(j);
        put_text(j, "name", s.name + strlen(prefix));
        gt_json_member_u64(j, "count", s.number);
        put_text(j, "text", s.about);
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
}

static void put_processes(struct gt_json *j, const struct gt_cli_info *i)
{
    begin(j, "processes");
    gt_json_begin_array(j);
    for (uint32_t k = 0; k < gtrace_n_processes(i->trace); k++) {
        const struct gtrace_process p = gt_cli_info_process(i, k);
        gt_json_newline(j);
        gt_json_begin_object(j);
        gt_json_member_u64(j, "pid", p.pid);
        put_text(j, "program", p.program);
        gt_json_member_u64(j, "start_ns", p.start);
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
}

static void put_names(struct gt_json *j, const struct gt_cli_info *i, uint32_t task, size_t n)
{
    gt_json_key(j, "names");
    gt_json_begin_array(j);
    for (size_t k = 0; k < n; k++) {
        struct gtrace_task_name name = {.size = sizeof name};
        gtrace_task_name(i->trace, task, k, &name);
        gt_json_begin_object(j);
        gt_json_member_u64(j, "from_ns", name.time);
        put_text(j, "name", name.name);
        gt_json_end_object(j);
    }
    gt_json_end_array(j);
}

static void put_tasks(struct gt_json *j, const struct gt_cli_info *i)
{
    begin(j, "tasks");
    gt_json_begin_array(j);
    for (uint32_t k = 0; k < gtrace_n_tasks(i->trace); k++) {
        const struct gtrace_task t = gt_cli_info_task(i, k);
        const struct gtrace_counts *n = &i->counts[k];
        gt_json_newline(j);
        gt_json_begin_object(j);
        gt_json_member_u64(j, "tid", t.id);
        gt_json_member_u64(j, "pid", gt_cli_info_process(i, t.process).pid);
        gt_json_key(j, "name");
        gt_json_text(j, t.name);
        if (t.n_names > 1)
            put_names(j, i, k, t.n_names);
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

void gt_cli_info_json(const struct gt_cli_info *i, struct gt_output *out)
{
    struct gt_json j;
    gt_json_init(&j, out, GT_JSON_REPLACE);
    gt_json_resume(&j);
    gt_json_begin_object(&j);
    put_recording(&j, i);
    put_counters(&j, i, "anomalies", GT_INFO_ANOMALY);
    put_counters(&j, i, "counts", GT_INFO_COUNT);
    put_counters(&j, i, "rules", GT_INFO_RULE);
    put_processes(&j, i);
    put_tasks(&j, i);
    gt_json_newline(&j);
    gt_json_end_object(&j);
    gt_json_end_line(&j);
    gt_json_commit(&j);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text that `perf script` prints, for readers of that: a sample is a line that names the task,
 * the time, the event and its period, then a line a call, the innermost first, then an empty line.
 *
 * The event is perf's task-clock, whose period is the time that ran in ns, or instructions.
 */
#include "base/output.h"
#include "calls/export/frames.h"
#include "calls/export/samples.h"

#include <inttypes.h>

struct perf {
    struct gt_output *out;
    const struct gt_calls *calls;
    struct gt_image_demangler *demangler;
    const char *event;
    GString *line;
};

/* Readers split the first line at blanks. */
static void add_comm(GString *line, const char *name)
{
    const gsize start = line->len;
    gt_export_frames_add_clean(line, name, ' ', '_');
    if (line->len == start)
        g_string_append_c(line, '?');
}

static void put_call(struct perf *p, uint32_t function)
{
    const struct gt_calls_function *f = gt_calls_function(p->calls, function);
    g_string_append_printf(p->line, "\t%16" PRIx64 " ", f->address);
    gt_export_frames_add_clean(
        p->line, *f->name ? gt_image_demangle(p->demangler, f->name) : "[unknown]", '\0', '\0');
    g_string_append(p->line, " (");
    gt_export_frames_add_clean(p->line, *f->module ? f->module : "[unknown]", '\0', '\0');
    g_string_append(p->line, ")\n");
}

static void put_sample(struct perf *p, const struct gt_export_sample_task *task,
                       const struct gt_export_sample *s, const char *who)
{
    g_string_printf(p->line, "%s %" PRIu64 ".%09" PRIu64 ": %" PRIu64 " %s: \n", who,
                    s->time / 1000000000, s->time % 1000000000, s->weight, p->event);
    for (uint32_t i = s->stack; i != GT_TREE_NONE;) {
        const struct gt_export_sample_stack *stack =
            &g_array_index(task->stacks, struct gt_export_sample_stack, i);
        put_call(p, stack->function);
        i = stack->parent;
    }
    g_string_append_c(p->line, '\n');
    gt_output_bytes(p->out, p->line->str, p->line->len);
}

static void put_task(struct perf *p, const struct gt_export_samples *samples, uint32_t index)
{
    const struct gt_export_sample_task *task = &samples->task[index];
    const struct gt_calls_task *t = gt_calls_task(p->calls, index);
    g_autofree char *name = gt_export_frames_task_name(p->calls, index);
    g_autoptr(GString) who = g_string_new(NULL);
    add_comm(who, name);
    g_string_append_printf(who, " %5" PRIu32 "/%" PRIu32,
                           gt_calls_process(p->calls, t->process)->pid, t->id);
    for (guint i = 0; i < task->samples->len && !p->out->failed; i++) {
        const struct gt_export_sample *s =
            &g_array_index(task->samples, struct gt_export_sample, i);
        if (s->stack != GT_TREE_NONE)
            put_sample(p, task, s, who->str);
    }
}

int gt_export_perf(struct gt_calls *c, const struct gt_export_sums_options *o,
                   struct gt_output *out, struct gt_error *err)
{
    struct gt_export_samples samples;
    int status = gt_export_samples_make(c, o, out, &samples, err);
    if (status < 0)
        return status;
    struct perf p = {out, c, gt_image_demangler_create(),
                     gt_export_frames_in_instructions(c) ? "instructions" : "task-clock",
                     g_string_new(NULL)};
    for (uint32_t i = 0; i < samples.n && !out->failed; i++)
        if (samples.task[i].stacks)
            put_task(&p, &samples, i);
    g_string_free(p.line, TRUE);
    gt_image_demangler_destroy(p.demangler);
    gt_export_samples_clear(&samples);
    return 0;
}

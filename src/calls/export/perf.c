/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text that `perf script` prints, for readers of that: a sample is a line that names the task,
 * the time, the event and its period, then a line a call, the innermost first, then an empty line.
 *
 * The event is perf's task-clock, whose period is the time that ran in ns, or instructions. A stack
 * has its innermost STACK_MOST calls, as perf's has (kernel.perf_event_max_stack): a line each, the
 * text grows with the square of the depth otherwise.
 */
#include "base/output.h"
#include "calls/export/frames.h"
#include "calls/export/samples.h"

#include <inttypes.h>

enum { STACK_MOST = 127 };

struct perf {
    struct gt_output *out;
    const struct gt_calls *calls;
    struct gt_image_demangler *demangler;
    const char *event;
    GPtrArray *lines; /* of calls, by function; NULL: not yet made */
    GString *stack;
    bool cut; /* a stack was deeper */
};

/* Readers split the first line at blanks. */
static void add_comm(GString *line, const char *name)
{
    const gsize start = line->len;
    gt_export_frames_add_clean(line, name, ' ', '_');
    if (line->len == start)
        g_string_append_c(line, '?');
}

/* The line of a call of the function. */
static const char *line_of(struct perf *p, uint32_t function)
{
    char **line = (char **)&p->lines->pdata[function];
    if (*line)
        return *line;
    const struct gt_calls_function *f = gt_calls_function(p->calls, function);
    GString *s = g_string_new(NULL);
    g_string_append_printf(s, "\t%16" PRIx64 " ", f->address);
    gt_export_frames_add_clean(s, *f->name ? gt_image_demangle(p->demangler, f->name) : "[unknown]",
                               '\0', '\0');
    g_string_append(s, " (");
    gt_export_frames_add_clean(s, *f->module ? f->module : "[unknown]", '\0', '\0');
    g_string_append(s, ")\n");
    return *line = g_string_free(s, FALSE);
}

static void put_sample(struct perf *p, const struct gt_export_sample_task *task,
                       const struct gt_export_sample *s, const char *who)
{
    g_string_printf(p->stack, "%s %" PRIu64 ".%09" PRIu64 ": %" PRIu64 " %s: \n", who,
                    s->time / 1000000000, s->time % 1000000000, s->weight, p->event);
    int n = 0;
    uint32_t i = s->stack;
    for (; i != GT_TREE_NONE && n < STACK_MOST; n++) {
        const struct gt_export_sample_stack *stack =
            &g_array_index(task->stacks, struct gt_export_sample_stack, i);
        g_string_append(p->stack, line_of(p, stack->function));
        i = stack->parent;
    }
    p->cut |= i != GT_TREE_NONE;
    g_string_append_c(p->stack, '\n');
    gt_output_bytes(p->out, p->stack->str, p->stack->len);
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
    struct perf p = {out,
                     c,
                     gt_image_demangler_create(),
                     gt_export_frames_in_instructions(c) ? "instructions" : "task-clock",
                     g_ptr_array_new_with_free_func(g_free),
                     g_string_new(NULL),
                     false};
    g_ptr_array_set_size(p.lines, (gint)gt_calls_n_functions(c));
    for (uint32_t i = 0; i < samples.n && !out->failed; i++)
        if (samples.task[i].stacks)
            put_task(&p, &samples, i);
    if (p.cut)
        gt_error_notice(
            &o->notices,
            "%s: stacks of more than %d calls have their innermost %d; --depth N leaves "
            "deeper calls out, --format folded has whole paths",
            gt_calls_facts(c)->path, STACK_MOST, STACK_MOST);
    g_string_free(p.stack, TRUE);
    g_ptr_array_free(p.lines, TRUE);
    gt_image_demangler_destroy(p.demangler);
    gt_export_samples_clear(&samples);
    return 0;
}

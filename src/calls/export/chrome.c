/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of calls as trace events in JSON: a thread a task, under its process, whose calls
 * begin ("B") and end ("E"); lines of the console are instants ("i") of the whole trace. Names of
 * processes and threads come first.
 */
#include "base/chrome_events.h"
#include "calls/export/recording.h"
#include "calls/export/slices.h"
#include "names/image/demangle.h"

#include <glib.h>

struct chrome {
    struct gt_json json;
    struct gt_calls *calls;
    struct gt_image_demangler *demangler;
};

static void begin_event(struct chrome *c, const char *phase, uint32_t task, uint64_t time)
{
    const struct gt_calls_task *t = gt_calls_task(c->calls, task);
    const struct gt_calls_process *p = gt_calls_process(c->calls, t->process);
    gt_json_chrome_event_begin(&c->json, phase, p->pid, t->id, time);
}

/* Readers show the values of both events of a slice. Numbers that not all of them read exactly are
 * texts. */
static void put_values(struct chrome *c, const struct gt_export_slice_value *v, size_t n)
{
    const uint64_t exact = UINT64_C(1) << 53;
    if (n == 0)
        return;
    gt_json_key(&c->json, "args");
    gt_json_begin_object(&c->json);
    for (size_t i = 0; i < n; i++) {
        gt_json_key(&c->json, v[i].name);
        if (v[i].kind == GT_SLICE_UNSIGNED && v[i].word < exact)
            gt_json_u64(&c->json, v[i].word);
        else if (v[i].kind == GT_SLICE_SIGNED && v[i].word + exact < 2 * exact)
            gt_json_i64(&c->json, (int64_t)v[i].word);
        else
            gt_json_text(&c->json, v[i].text ? v[i].text : "");
    }
    gt_json_end_object(&c->json);
}

/* An end has the name, too: some readers take it for that of the slice that has it. */
static void put_event(struct chrome *c, const char *phase, const struct gt_call *e,
                      const struct gt_export_slice_value *v, size_t n)
{
    const char *name = gt_calls_function(c->calls, e->function)->name;
    begin_event(c, phase, e->task, e->time);
    gt_json_key(&c->json, "name");
    gt_json_text(&c->json, gt_image_demangle(c->demangler, name));
    put_values(c, v, n);
    gt_json_chrome_event_end(&c->json);
}

static void put_begin(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                      size_t n)
{
    put_event(self, "B", e, v, n);
}

static void put_end(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                    size_t n)
{
    put_event(self, "E", e, v, n);
}

static void put_instant(void *self, uint32_t task, uint64_t time, const char *text)
{
    struct chrome *c = self;
    struct gt_json *j = &c->json;
    const bool console = task == GT_SLICES_CONSOLE;
    if (console)
        gt_json_chrome_event_begin(j, "i", 0, 0, time);
    else
        begin_event(c, "i", task, time);
    gt_json_key(j, "s"); /* scope: the trace, a thread */
    gt_json_name(j, console ? "g" : "t");
    gt_json_key(j, "name");
    gt_json_text(j, text);
    gt_json_chrome_event_end(j);
}

/* Names of the window's tasks. */
static void put_names(struct chrome *c, const struct gt_calls_window *w)
{
    g_autofree bool *named = g_new0(bool, gt_calls_n_processes(c->calls) + 1);
    for (uint32_t i = 0; i < gt_calls_n_tasks(c->calls); i++) {
        const struct gt_calls_task *t = gt_calls_task(c->calls, i);
        const struct gt_calls_process *p = gt_calls_process(c->calls, t->process);
        const char *slash = strrchr(p->exename, '/');
        if (w && w->tasks && !w->tasks[i])
            continue;
        if (!named[t->process])
            gt_json_chrome_event_name(&c->json, "process_name", p->pid, p->pid,
                                      slash ? slash + 1 : p->exename);
        named[t->process] = true;
        gt_json_chrome_event_name(&c->json, "thread_name", p->pid, t->id, t->name);
    }
}

int gt_export_chrome(struct gt_calls *c, const struct gt_calls_window *w, struct gt_output *out,
                     struct gt_error *err)
{
    struct chrome x = {.calls = c, .demangler = gt_image_demangler_create()};
    const struct gt_export_slices slices = {&x, put_begin, put_end, put_instant};
    gt_json_chrome_begin(&x.json, out);
    put_names(&x, w);
    int status = gt_export_slices_read(c, w, &slices, out, err);
    gt_json_chrome_end(&x.json);
    gt_image_demangler_destroy(x.demangler);
    return status;
}

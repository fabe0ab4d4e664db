/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libevents.so: trace events at places in an unmodified guest (docs/guest-events.md).
 *
 *   guest-events=FILE       a trace-events file with places
 *   code=FILE               machines: a code map
 *   console=FIFO            machines: `guesttrace record` sends events at texts of the console
 *   backends=A+B, log=FILE, policy=, buffer=, prefix=, threads=
 *                           settings of the events library; backends=simple is the default
 *   tasks=on|off            machines: records have the numbers of the Linux task that runs
 *   events=FILE             which are on at the start: a pattern a line, "-" switches off
 *   trace=, trace-file=, control=         tracing.h; trace=off: all are off at the start
 */
#include "base/file.h"
#include "events/plugin/recorder.h"
#include "qemu/support/args.h"
#include "qemu/support/code_modules.h"
#include "qemu/support/exec_calls.h"
#include "qemu/support/tracing.h"

#include <assert.h>
#include <guesttrace/control.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char gt_host_tool_name[] = "events";

enum { FILE_MOST = 64 << 20 };

/* ---- arguments ----------------------------------------------------------------------------- */

/* An argument that is a setting of the events library, under the same name. */
struct setting {
    struct gt_points *points;
    const char *name;
};

static int take_setting(void *self, const char *value, struct gt_error *err)
{
    const struct setting *s = self;
    (void)err;
    GString *option = g_string_new(s->name);
    g_string_append_c(option, '=');
    for (; *value; value++) {
        if (*value == ',')
            g_string_append_c(option, ','); /* doubled */
        g_string_append_c(option, *value);
    }
    g_ptr_array_add(s->points->options.settings, g_string_free(option, FALSE));
    s->points->options.backends |= strcmp(s->name, "backends") == 0;
    return 0;
}

static int parse_arguments(struct gt_points *p, int argc, char **argv, struct gt_error *err)
{
    struct gt_points_options *o = &p->options;
    static const char *const names[] = {"backends", "policy", "buffer", "prefix", "threads"};
    struct setting setting[G_N_ELEMENTS(names)];
    enum { OWN = 16 };
    struct gt_support_arg arguments[OWN + G_N_ELEMENTS(names) + 1] = {
        {"guest-events", GT_ARG_TEXT, &o->file},
        {"code", GT_ARG_TEXT, &o->code_map},
        {"abi", GT_ARG_TEXT, &o->abi},
        {"console", GT_ARG_TEXT, &o->console},
        {"events", GT_ARG_TEXT, &o->events},
        {"log", GT_ARG_TEXT, &o->log},
        {"tasks", GT_ARG_SWITCH, &o->tasks},
        {"follow-exec", GT_ARG_SWITCH, &o->follow_exec},
        GT_TRACING_CONTROL,
        GT_TRACING_ARGUMENTS,
    };
    size_t n = 0;
    while (arguments[n].name)
        n++;
    assert(n <= OWN);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        setting[i] = (struct setting){p, names[i]};
        arguments[n + i] = (struct gt_support_arg){
            .name = names[i], .kind = GT_ARG_EACH, .value = &setting[i], .each = take_setting};
    }
    o->settings = g_ptr_array_new_with_free_func(g_free);
    o->tasks = true;
    int status = gt_support_args_parse(arguments, argc, argv, err);
    if (status == 0 && !o->file)
        return gt_error_set(err, GT_E_USAGE, "expected guest-events=FILE");
    return status;
}

/* ---- the guest ----------------------------------------------------------------------------- */

static int know_guest(struct gt_points *p, const struct gt_host_info *info, struct gt_error *err)
{
    p->host = *info;
    p->pid = getpid();
    p->user = !info->system;
    p->arch = gt_arch_by_target(info->target);
    p->syscalls = p->user ? gt_arch_syscalls_by_target(info->target) : NULL;
    int status = gt_abi_of_target(info->target, p->options.abi, &p->abi, err);
    if (status < 0)
        return status;
    if (!p->arch || !p->abi)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "the calling convention of guests of target %s is not known",
                            info->target);
    if (!gt_host_can(GT_HOST_REGISTERS) || !gt_host_can(GT_HOST_CONDITIONAL))
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "guest events cannot be recorded here: QEMU 9.0 and later let plugins "
                            "read registers");
    return 0;
}

/* Strings of machines, and arguments on the stack. */
static int check_memory(const struct gt_points *p, struct gt_error *err)
{
    for (size_t i = 0; i < p->events.n && !p->user && !gt_host_can(GT_HOST_MEMORY); i++)
        for (unsigned k = 0; k < p->point[i].event->n_arguments; k++) {
            const struct gt_point_value *v = &p->point[i].value[k];
            if (p->point[i].event->argument[k].kind == GT_TRACE_STRING ||
                (v->n && !v->piece[0].reg))
                return gt_error_set(err, GT_E_UNSUPPORTED,
                                    "%.200s:%u: event '%.100s': argument '%.100s' is in memory, "
                                    "which plugins can read from QEMU 10.0 on",
                                    p->options.file, p->point[i].event->line,
                                    p->point[i].event->event.name,
                                    p->point[i].event->argument[k].name);
        }
    return 0;
}

static int read_events(struct gt_points *p, struct gt_error *err)
{
    char *text;
    size_t size;
    struct gt_trace_error why;
    int status = gt_file_read(p->options.file, FILE_MOST, &text, &size, err);
    if (status < 0)
        return status;
    status = gt_events_dynamic_read(&p->events, p->options.file, text, size, p->abi->bits / 8,
                                    GT_TRACE_TEXT | GT_TRACE_SIMPLE, &why);
    free(text);
    if (status < 0)
        return gt_error_set(err, GT_E_FORMAT, "%s", why.text);
    if (!p->events.n)
        return gt_error_set(err, GT_E_FORMAT, "%.200s: no event is declared", p->options.file);
    status = gt_points_place(p, err);
    return status < 0 ? status : check_memory(p, err);
}

static void on_code_found(void *self)
{
    (void)self;
}

static int init_code(struct gt_points *p, struct gt_error *err)
{
    pthread_mutex_init(&p->lock, NULL);
    p->functions = g_hash_table_new(NULL, NULL);
    gt_support_modules_init(&p->modules, p->user, gt_points_on_module, p);
    p->modules.code_found = on_code_found;
    int status = gt_thread_worker_create(&p->worker, err);
    p->modules.worker = p->worker;
    if (status < 0 || !p->options.code_map)
        return status;
    if (p->user)
        return gt_error_set(
            err, GT_E_USAGE,
            "argument code=%.200s: only machines need a code map, this is user mode",
            p->options.code_map);
    const struct gt_support_module *guest = g_ptr_array_index(p->modules.all, 0);
    status = gt_support_code_modules_read(p->options.code_map, guest->anon, NULL, NULL,
                                          &p->modules.code, err);
    if (status == 0)
        gt_points_know_map(p);
    return status;
}

/* ---- the events library -------------------------------------------------------------------- */

static int apply_settings(struct gt_points *p, struct gt_error *err)
{
    struct gt_trace_error why;
    for (guint i = 0; i < p->options.settings->len; i++)
        if (gt_trace_parse(p->options.settings->pdata[i], NULL, NULL, &why) < 0)
            return gt_error_set(err, GT_E_USAGE, "%s", why.text);
    if (!p->options.backends)
        gt_trace_set_backends(GT_TRACE_SIMPLE);
    unsigned backends = gt_trace_backends();
    if (p->user && backends & GT_TRACE_LOG && !p->options.log)
        return gt_error_set(err, GT_E_USAGE,
                            "argument backends: the log of a program needs log=FILE: standard "
                            "error is the program's");
    if (p->options.log && !p->user && gt_trace_log_set(p->options.log, &why) < 0)
        return gt_error_set(err, GT_E_IO, "argument log=%.200s: %.300s", p->options.log, why.text);
    if (backends & GT_TRACE_SIMPLE && !gt_support_tracing_file)
        gt_support_tracing_file = "events.trace";
    return 0;
}

struct opened {
    int status;
    struct gt_trace_error why;
};

static void open_ftrace(void *opened)
{
    struct opened *o = opened;
    o->status = gt_trace_ftrace_set(NULL, &o->why);
}

/* Lines that the kernel does not take are lost without a word: it is asked now. */
static int check_ftrace(struct gt_points *p, struct gt_error *err)
{
    struct opened o = {0};
    if (!(gt_trace_backends() & GT_TRACE_FTRACE))
        return 0;
    if (!p->user)
        open_ftrace(&o);
    else if (gt_thread_worker_call(p->worker, open_ftrace, &o) < 0)
        return gt_error_set(err, GT_E_IO, "argument backends: no thread for ftrace");
    return o.status < 0
               ? gt_error_set(err, GT_E_IO, "argument backends: ftrace: %.300s", o.why.text)
               : 0;
}

static int switch_on(struct gt_trace_event *event, void *unused)
{
    (void)unused;
    gt_trace_switch(event, true, NULL);
    return 0;
}

/* A name that matches nothing is reported. */
static int read_states(const char *path, struct gt_error *err)
{
    struct gt_trace_error why;
    char *text = NULL;
    size_t size = 0;
    FILE *warnings = open_memstream(&text, &size);
    if (!warnings)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    int status = gt_trace_read_events(path, warnings, &why);
    fclose(warnings);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (size_t i = 0; lines[i] && *lines[i]; i++)
        gt_host_message("%.200s: %.300s", path, lines[i]);
    free(text);
    return status < 0 ? gt_error_set(err, GT_E_IO, "argument events: %.400s", why.text) : 0;
}

/* Which are on at the start. */
static int start(struct gt_points *p, struct gt_error *err)
{
    bool all = !gt_support_tracing_patterns && !p->options.events;
    if (gt_support_tracing_patterns && strcmp(gt_support_tracing_patterns, "off") == 0)
        gt_support_tracing_patterns = NULL;
    gt_trace_register(&p->events.group);
    gt_points_states_begin(p);
    int status = p->options.events ? read_states(p->options.events, err) : 0;
    if (status == 0)
        status = gt_support_tracing_start(err);
    if (status == 0 && all)
        gt_trace_each(p->events.group.name, NULL, switch_on, NULL);
    return status;
}

/* The declarations are what every program's events need. */
static int watch_execs(struct gt_points *p, struct gt_error *err)
{
    const struct gt_exec_calls execs = {.sys = p->syscalls,
                                        .arch = p->arch,
                                        .output = p->options.file,
                                        .follow = p->options.follow_exec,
                                        .children = true};
    return gt_exec_calls_begin(&execs, err);
}

static const struct gt_host_events events = {
    .vcpu_init = gt_points_on_vcpu_init,
    .vcpu_idle = gt_points_on_vcpu_idle,
    .translate = gt_points_on_translate,
    .syscall = gt_points_on_syscall,
    .syscall_return = gt_points_on_syscall_return,
    .exit = gt_points_on_exit,
};

int gt_host_tool_install(const struct gt_host_info *info, int argc, char **argv,
                         struct gt_error *err)
{
    struct gt_points *p = gt_points_loaded();
    int status = parse_arguments(p, argc, argv, err);
    if (status == 0)
        status = know_guest(p, info, err);
    if (status == 0)
        status = read_events(p, err);
    if (status == 0)
        status = apply_settings(p, err);
    if (status == 0)
        status = init_code(p, err);
    if (status == 0)
        status = check_ftrace(p, err);
    if (status == 0 && p->user)
        status = gt_points_watch_forks(err);
    if (status == 0)
        status = watch_execs(p, err);
    if (status < 0)
        return status;
    gt_points_task_init(p);
    gt_points_states_init(p);
    status = start(p, err);
    if (status < 0)
        return status;
    gt_points_console_start(p);
    gt_host_on_abnormal_exit(gt_points_on_abnormal_exit);
    gt_host_subscribe(&events, p);
    return 0;
}

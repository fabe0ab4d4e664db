/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An event: its values are read, and go to the backends.
 *
 * Pages that are missing stay so: a string whose memory cannot be read is "<0x1234>", its address.
 * QEMU reads for plugins as for a debugger: where a pointer of a machine leads to a device's
 * registers, these are read (10.0 to 11.1; no function of the plugin interface tells them from
 * memory).
 */
#include "base/page.h"

#include "events/plugin/recorder.h"
#include "qemu/support/code_modules.h"
#include "qemu/support/guest_memory.h"

#include <guesttrace/control.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { REGISTER_MOST = 256, LINE_MOST = 8192 };

/* ---- reading ------------------------------------------------------------------------------- */

static bool read_memory(const struct gt_points *p, uint64_t addr, void *out, size_t n)
{
    const uint64_t *base = p->user && p->modules.has_base ? &p->modules.guest_base : NULL;
    return gt_support_guest_memory_read(p->arch, base, addr, out, n);
}

static bool read_piece(const struct gt_points *p, const struct gt_point_piece *piece, void *out)
{
    static struct gt_host_register sp; /* of this process's one guest */
    uint8_t bytes[REGISTER_MOST];
    uint64_t addr;
    if (!piece->reg)
        return gt_host_register_read(&sp, p->arch->sp_register, &addr) &&
               read_memory(p, addr + (uint64_t)(int64_t)piece->offset, out, piece->size);
    if (!gt_host_register_exists(piece->reg, piece->name))
        return false;
    size_t have = gt_host_register_bytes(piece->reg->handle, bytes, sizeof bytes);
    if (have > sizeof bytes || (size_t)piece->offset + piece->size > have)
        return false;
    memcpy(out, bytes + piece->offset, piece->size);
    return true;
}

static uint64_t extended(uint64_t v, const struct gt_events_dynamic_argument *a)
{
    unsigned shift = 64 - 8 * MIN(a->size, 8u);
    if (a->kind == GT_TRACE_BOOL)
        return (uint8_t)v != 0;
    return a->kind == GT_TRACE_SIGNED ? (uint64_t)((int64_t)(v << shift) >> shift)
                                      : v << shift >> shift;
}

/* 0: it cannot be read. */
static uint64_t read_number(const struct gt_points *p, const struct gt_point_value *v,
                            const struct gt_events_dynamic_argument *a)
{
    uint8_t bytes[16] = {0};
    uint64_t number;
    size_t at = 0;
    for (unsigned i = 0; i < v->n; i++) {
        if (!read_piece(p, &v->piece[i], bytes + at))
            return 0;
        at += v->piece[i].size;
    }
    memcpy(&number, bytes, sizeof number);
    return extended(number, a);
}

/* Up to a NUL; those before memory that cannot be read count. */
static void read_text(const struct gt_points *p, uint64_t addr, char *out, struct gt_trace_value *v)
{
    enum { PART = 64 };
    size_t n = 0;
    *v = (struct gt_trace_value){.text = addr ? out : NULL};
    while (addr && n < GT_TRACE_STRING_MAX) {
        size_t part = MIN(GT_PAGE - (size_t)((addr + n) % GT_PAGE), (size_t)PART);
        part = MIN(part, GT_TRACE_STRING_MAX - n);
        if (!read_memory(p, addr + n, out + n, part)) {
            if (n == 0)
                n = (size_t)snprintf(out, GT_TRACE_STRING_MAX, "<0x%" PRIx64 ">", addr);
            break;
        }
        const char *end = memchr(out + n, 0, part);
        n = end ? (size_t)(end - out) : n + part;
        if (end)
            break;
    }
    v->number = n;
}

/* ---- sending ------------------------------------------------------------------------------- */

struct line {
    struct gt_points *points;
    unsigned on;
    const char *text;
};

/* On the worker, whose descriptors are not the guest's. */
static void send_line(void *data)
{
    const struct line *l = data;
    struct gt_points *p = l->points;
    if (p->options.log && !p->log_is_open)
        p->log_is_open = gt_trace_log_set(p->options.log, NULL) == 0;
    gt_trace_text(p->options.log ? l->on : l->on & ~GT_TRACE_LOG, "%s", l->text);
}

static void send_text(struct gt_points *p, unsigned on, const struct gt_events_dynamic_event *e,
                      const struct gt_trace_value *value,
                      const struct gt_events_dynamic_source *source)
{
    char text[LINE_MOST];
    gt_events_dynamic_format(text, sizeof text, e, value, source);
    struct line line = {p, on, text};
    if (p->user)
        gt_thread_worker_call(p->worker, send_line, &line);
    else
        gt_trace_text(on, "%s", text);
}

void gt_points_send(struct gt_points *p, unsigned on, const struct gt_events_dynamic_event *e,
                    const struct gt_trace_value *value,
                    const struct gt_events_dynamic_source *source)
{
    if (on & GT_TRACE_SIMPLE)
        gt_events_dynamic_record(e, value, source);
    if (on & GT_TRACE_TEXT)
        send_text(p, on & GT_TRACE_TEXT, e, value, source);
}

void gt_points_on_event(unsigned vcpu, void *data)
{
    struct gt_points *p = gt_points_loaded();
    const struct gt_point *point = data;
    const struct gt_events_dynamic_event *e = point->event;
    struct gt_trace_value value[GT_TRACE_ARGUMENTS_MAX];
    char strings[GT_TRACE_ARGUMENTS_MAX][GT_TRACE_STRING_MAX];
    struct gt_events_dynamic_source source = {.vcpu = vcpu};
    unsigned on = gt_trace_on(&e->state);
    if (!on || gt_gate_ends(&p->gate))
        return;
    for (unsigned i = 0; i < e->n_arguments; i++) {
        uint64_t number = read_number(p, &point->value[i], &e->argument[i]);
        value[i] = (struct gt_trace_value){.number = number};
        if (e->argument[i].kind == GT_TRACE_STRING)
            read_text(p, number, strings[i], &value[i]);
    }
    if (p->task.layout && __atomic_load_n(&point->in_kernel, __ATOMIC_RELAXED))
        gt_points_task_read(p, &source);
    /* Not before: QEMU may wait for its lock where a device is read. */
    uint32_t beyond = 0, *busy = vcpu < GT_POINTS_MAX_VCPUS ? &p->busy[vcpu].word : &beyond;
    if (!gt_gate_enter(&p->gate, busy))
        return;
    gt_points_send(p, on, e, value, &source);
    gt_gate_leave(busy);
}

/* The task of a Linux kernel that runs: the records of its events have its numbers. The code map
 * says where the kernel keeps them. */

void gt_points_task_init(struct gt_points *p)
{
    const struct gt_recording_code_linux *found =
        p->modules.code ? gt_support_code_modules_linux(p->modules.code) : NULL;
    if (found && found->current != GT_CODE_NO_LINUX && p->options.tasks &&
        gt_host_can(GT_HOST_MEMORY))
        p->task.layout = found;
}

/* The address of the current struct task_struct. */
static bool read_current(struct gt_points *p, uint64_t *addr)
{
    const struct gt_recording_code_linux *l = p->task.layout;
    static const char *const names[] = {
        [GT_CODE_SP_EL0] = "sp_el0", [GT_CODE_TP] = "tp", [GT_CODE_GS] = "gs_base"};
    if (!gt_host_register_read(&p->task.current, names[l->current], addr))
        return false;
    return l->current != GT_CODE_GS || gt_host_memory_number(*addr + l->gs_offset, 8, addr);
}

bool gt_points_task_read(struct gt_points *p, struct gt_events_dynamic_source *out)
{
    const struct gt_recording_code_linux *l = p->task.layout;
    uint64_t task, both, tgid;
    if (!read_current(p, &task) || !(task >> 63))
        return false;
    if (l->tgid == l->pid + 4) { /* as in all kernels so far: one read */
        if (!gt_host_memory_number(task + l->pid, 8, &both))
            return false;
        tgid = both >> 32;
    } else if (!gt_host_memory_number(task + l->pid, 4, &both) ||
               !gt_host_memory_number(task + l->tgid, 4, &tgid)) {
        return false;
    }
    out->has_task = true;
    out->tid = (uint32_t)both;
    out->pid = (uint32_t)tgid;
    return true;
}

/* The loaded plugin's value: see gt_points_loaded. */

struct gt_points gt_points_of_plugin;

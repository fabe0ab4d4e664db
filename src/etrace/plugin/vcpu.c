/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vCPUs begin and end: see vcpu.h. */
#include "etrace/plugin/vcpu.h"

#include "etrace/plugin/buffer.h"
#include "etrace/plugin/packets.h"
#include "etrace/plugin/recorder.h"

/* A machine's vCPU is a unit. In user mode a thread is one, and QEMU gives the number of a thread
 * that ended to the next: units are counted there, and the unit's time begins with 0. */
static void begin_unit(struct gt_etrace *e, struct gt_etrace_vcpu *v)
{
    v->unit = (uint16_t)gt_etrace_vcpu_index(e, v);
    if (e->host.system)
        return;
    v->time = 0;
    if (e->n_units < GT_ETRACE_MAX_VCPUS)
        v->unit = (uint16_t)e->n_units;
    else if (e->n_units == GT_ETRACE_MAX_VCPUS)
        gt_host_message("the program has more than %d threads: from here on some share a unit",
                        GT_ETRACE_MAX_VCPUS);
    e->n_units++;
}

void gt_etrace_on_vcpu_init(void *self, unsigned vcpu)
{
    struct gt_etrace *e = self;
    if (vcpu >= GT_ETRACE_MAX_VCPUS)
        return;
    gt_host_vcpus_correct(&e->host, vcpu, "units may be wrong");
    struct gt_etrace_vcpu *v = &e->vcpus[vcpu];
    gt_etrace_close(v);
    v->block = NULL;
    v->pending = false;
    v->buffer = NULL;
    pthread_setspecific(e->began_there, (void *)(uintptr_t)vcpu);
    pthread_mutex_lock(&e->lock);
    begin_unit(e, v);
    if (vcpu >= e->n_vcpus)
        __atomic_store_n(&e->n_vcpus, vcpu + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&e->lock);
}

void gt_etrace_on_vcpu_exit(void *self, unsigned vcpu)
{
    struct gt_etrace *e = self;
    struct gt_etrace_vcpu *v = gt_etrace_enter(e, vcpu);
    struct gt_etrace_buffer *buf = v ? gt_etrace_buffer_enter(e, v) : NULL;
    if (!buf) {
        if (v)
            gt_etrace_leave(v);
        return;
    }
    gt_etrace_buffer_settle(buf);
    gt_etrace_buffer_close_run(buf);
    buf->current = NULL;
    buf->newest = NULL;
    v->buffer = NULL;
    if (buf->packets)
        gt_packet_sink_submit(e->sink, buf->packets);
    buf->packets = NULL;
    gt_etrace_buffer_unlock(buf);
    if (!e->host.system)
        gt_etrace_buffer_free_own(buf);
    gt_etrace_leave(v);
}

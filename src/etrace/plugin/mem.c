/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory accesses, devices, interrupts: see mem.h. */
#include "etrace/plugin/mem.h"

#include "etrace/format/mem.h"
#include "etrace/plugin/buffer.h"
#include "etrace/plugin/exec.h"
#include "etrace/plugin/recorder.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MEM_PACKET = GT_ETRACE_HEADER + GT_ETRACE_MEM_SIZE, EVENT_PACKET = 512 };

struct access {
    uint64_t time, vaddr, value[2];
    struct gt_host_mem_target target;
    unsigned size;
    bool store, big_endian;
};

static inline struct gt_etrace_mem_kind kind_of(struct gt_etrace_mem_kinds *kinds, uint32_t meminfo)
{
    _Atomic struct gt_etrace_mem_kind *at = &kinds->entries[meminfo * UINT32_C(0x9e3779b1) >> 26];
    struct gt_etrace_mem_kind k = atomic_load_explicit(at, memory_order_relaxed);
    if (k.size && k.meminfo == meminfo)
        return k;
    k = (struct gt_etrace_mem_kind){meminfo, (uint8_t)gt_host_mem_size(meminfo),
                                    gt_host_mem_is_store(meminfo),
                                    gt_host_mem_is_big_endian(meminfo)};
    atomic_store_explicit(at, k, memory_order_relaxed);
    return k;
}

static inline struct gt_etrace_mem packet_of(const struct access *a)
{
    return (struct gt_etrace_mem){.time = a->time,
                                  .vaddr = a->vaddr,
                                  .paddr = a->target.physical,
                                  .value = a->value[0],
                                  .write = a->store,
                                  .size = (uint8_t)a->size};
}

/* Puts the packet without a lock where MEM packets are under way and the current block has its
 * entry. False: it is not put. */
static bool put_quickly(struct gt_etrace_vcpu *v, const struct access *a)
{
    uint8_t *at = __atomic_load_n(&v->mem.at, __ATOMIC_RELAXED);
    const uint8_t *end = __atomic_load_n(&v->mem.end, __ATOMIC_RELAXED);
    if (!end || end - at < MEM_PACKET || v->pending || a->size > 8)
        return false;
    const struct gt_etrace_mem mem = packet_of(a);
    gt_etrace_pack_mem(gt_etrace_put_header(at, GT_ETRACE_MEM, v->unit, GT_ETRACE_MEM_SIZE), &mem);
    __atomic_store_n(&v->mem.at, at + MEM_PACKET, __ATOMIC_RELEASE);
    return true;
}

/* Puts 16 bytes as two halves, in the order of their addresses. */
static __attribute__((noinline)) void put_slowly(struct gt_etrace *e, struct gt_etrace_vcpu *v,
                                                 const struct access *a)
{
    struct gt_etrace_buffer *buf = gt_etrace_put_begin(e, v, 2 * MEM_PACKET);
    if (!buf)
        return;
    unsigned size = a->size > 8 ? 8 : a->size;
    for (unsigned at = 0; at < a->size; at += size) {
        bool high = (at > 0) != (a->size > 8 && a->big_endian);
        gt_etrace_put_mem(&buf->w, v->unit,
                          &(struct gt_etrace_mem){.time = a->time,
                                                  .vaddr = a->vaddr + at,
                                                  .paddr = a->target.physical + at,
                                                  .value = a->value[high],
                                                  .write = a->store,
                                                  .size = (uint8_t)size});
    }
    gt_etrace_put_end_mem(buf, v);
}

/* The value seen at the device's address before. With the recorder's lock. */
static uint64_t previous_at(GHashTable *devices, uint64_t physical, uint64_t value)
{
    uint64_t *seen = g_hash_table_lookup(devices, &physical);
    uint64_t before = seen ? *seen : 0;
    if (!seen) {
        seen = g_new(uint64_t, 1);
        g_hash_table_insert(devices, g_memdup2(&physical, sizeof physical), seen);
    }
    *seen = value;
    return before;
}

static void put_event(struct gt_etrace *e, struct gt_etrace_vcpu *v,
                      const struct gt_etrace_event *event)
{
    struct gt_etrace_buffer *buf = gt_etrace_put_begin(e, v, EVENT_PACKET);
    if (!buf)
        return;
    gt_etrace_put_event(&buf->w, event);
    gt_etrace_put_end(buf);
}

/* QEMU names what has no name by its own address, which differs from run to run: "device". */
static const char *device_name(const char *name)
{
    bool made_up = name && strncmp(name, "anon", 4) == 0 && strlen(name) == 12 &&
                   strspn(name + 4, "0123456789abcdef") == 8;
    return name && *name && !made_up ? name : "device";
}

static __attribute__((noinline)) void put_device(struct gt_etrace *e, struct gt_etrace_vcpu *v,
                                                 const struct access *a)
{
    char device[128], name[64];
    snprintf(device, sizeof device, "%s", device_name(a->target.name));
    snprintf(name, sizeof name, "%s@0x%" PRIx64, a->store ? "write" : "read", a->target.physical);
    pthread_mutex_lock(&e->lock);
    uint64_t before = previous_at(e->devices, a->target.physical, a->value[0]);
    pthread_mutex_unlock(&e->lock);
    put_event(e, v,
              &(struct gt_etrace_event){.unit = v->unit,
                                        .time = a->time,
                                        .value = a->value[0],
                                        .previous = before,
                                        .device = device,
                                        .name = name});
}

void gt_etrace_on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *index)
{
    struct gt_etrace *e = gt_etrace_loaded();
    struct gt_etrace_vcpu *v = gt_etrace_enter(e, vcpu);
    if (!v)
        return;
    const struct gt_etrace_mem_kind kind = kind_of(&e->mem_kinds, meminfo);
    struct access a = {
        .time = gt_etrace_time_at(e, v, (uintptr_t)index),
        .vaddr = vaddr,
        .target = {.physical = vaddr},
        .size = kind.size,
        .store = kind.store,
        .big_endian = kind.big_endian,
    };
    if (e->values)
        gt_host_mem_value(meminfo, a.value);
    if (e->host.system)
        gt_host_mem_find(meminfo, vaddr, &a.target);
    if (e->flags & GT_ETRACE_F_MEM)
        if (!put_quickly(v, &a))
            put_slowly(e, v, &a);
    if (e->flags & GT_ETRACE_F_GPIO && a.target.device)
        put_device(e, v, &a);
    gt_etrace_leave(v);
}

static void put_discontinuity(struct gt_etrace *e, struct gt_etrace_vcpu *v, unsigned kind,
                              uint64_t from, uint64_t to)
{
    char device[16];
    snprintf(device, sizeof device, "cpu%u", gt_etrace_vcpu_index(e, v));
    put_event(
        e, v,
        &(struct gt_etrace_event){.unit = v->unit,
                                  .time = gt_etrace_time_at(e, v, 0),
                                  .value = to,
                                  .previous = from,
                                  .device = device,
                                  .name = kind == GT_DISCON_EXCEPTION ? "exception" : "interrupt"});
}

void gt_etrace_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from,
                                uint64_t to)
{
    struct gt_etrace *e = self;
    struct gt_etrace_vcpu *v = gt_etrace_enter(e, vcpu);
    if (!v)
        return;
    if (kind == GT_DISCON_EXCEPTION)
        gt_etrace_exit_early(e, v, from);
    if (e->flags & GT_ETRACE_F_GPIO)
        put_discontinuity(e, v, kind, from, to);
    gt_etrace_leave(v);
}

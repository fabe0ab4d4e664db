/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory accesses; of devices as events, too; interrupts and exceptions. */
#include "plugin/etrace/etrace.h"

#include "format/etrace/mem.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MEM_PACKET = GT_ETRACE_HEADER + GT_ETRACE_MEM_SIZE, EVENT_PACKET = 512 };

struct access {
    uint64_t time, vaddr, value[2];
    struct gt_mem_place place;
    unsigned size;
    bool store, big_endian;
};

struct kind {
    uint32_t meminfo;
    uint8_t size; /* 0: not known yet */
    bool store, big_endian;
};

/* What the host's number of a kind of accesses says, once asked: there are but few. */
static inline struct kind kind_of(uint32_t meminfo)
{
    static _Atomic struct kind kinds[64];
    _Atomic struct kind *at = &kinds[meminfo * UINT32_C(0x9e3779b1) >> 26];
    struct kind k = atomic_load_explicit(at, memory_order_relaxed);
    if (k.size && k.meminfo == meminfo)
        return k;
    k = (struct kind){meminfo, (uint8_t)gt_mem_size(meminfo), gt_mem_is_store(meminfo),
                      gt_mem_is_big_endian(meminfo)};
    atomic_store_explicit(at, k, memory_order_relaxed);
    return k;
}

static inline struct gt_etrace_mem packet_of(const struct access *a)
{
    return (struct gt_etrace_mem){.time = a->time,
                                  .vaddr = a->vaddr,
                                  .paddr = a->place.physical,
                                  .value = a->value[0],
                                  .write = a->store,
                                  .size = (uint8_t)a->size};
}

/* Where MEM packets are under way, and the block that runs is put already. */
static bool put_quickly(struct gt_etrace_vcpu *v, const struct access *a)
{
    uint8_t *at = __atomic_load_n(&v->mem.at, __ATOMIC_RELAXED);
    const uint8_t *end = __atomic_load_n(&v->mem.end, __ATOMIC_RELAXED);
    if (!end || end - at < MEM_PACKET || v->pending || a->size > 8)
        return false;
    const struct gt_etrace_mem mem = packet_of(a);
    gt_etrace_pack_mem(gt_put_header(at, GT_ETRACE_MEM, v->unit, GT_ETRACE_MEM_SIZE), &mem);
    __atomic_store_n(&v->mem.at, at + MEM_PACKET, __ATOMIC_RELEASE);
    return true;
}

/* Of 16 bytes two halves are put, in the order of their addresses. */
static __attribute__((noinline)) void put_slowly(struct gt_etrace_vcpu *v, const struct access *a)
{
    struct gt_writer *w = gt_etrace_put_begin(v, 2 * MEM_PACKET);
    if (!w)
        return;
    unsigned size = a->size > 8 ? 8 : a->size;
    for (unsigned at = 0; at < a->size; at += size) {
        bool high = (at > 0) != (a->size > 8 && a->big_endian);
        gt_etrace_put_mem(w, v->unit,
                          &(struct gt_etrace_mem){.time = a->time,
                                                  .vaddr = a->vaddr + at,
                                                  .paddr = a->place.physical + at,
                                                  .value = a->value[high],
                                                  .write = a->store,
                                                  .size = (uint8_t)size});
    }
    gt_etrace_put_end_mem(v);
}

/* The value seen at the device's place before; with the lock. */
static uint64_t previous_at(uint64_t place, uint64_t value)
{
    uint64_t *seen = g_hash_table_lookup(gt_etrace.devices, &place);
    uint64_t before = seen ? *seen : 0;
    if (!seen) {
        seen = g_new(uint64_t, 1);
        g_hash_table_insert(gt_etrace.devices, g_memdup2(&place, sizeof place), seen);
    }
    *seen = value;
    return before;
}

static void put_event(struct gt_etrace_vcpu *v, const struct gt_etrace_event *event)
{
    struct gt_writer *w = gt_etrace_put_begin(v, EVENT_PACKET);
    if (!w)
        return;
    gt_etrace_put_event(w, event);
    gt_etrace_put_end();
}

/* QEMU makes up names from its own addresses for what has none: no two runs have the same. */
static const char *device_name(const char *name)
{
    bool made_up = name && strncmp(name, "anon", 4) == 0 && strlen(name) == 12 &&
                   strspn(name + 4, "0123456789abcdef") == 8;
    return name && *name && !made_up ? name : "device";
}

static __attribute__((noinline)) void put_device(struct gt_etrace_vcpu *v, const struct access *a)
{
    char device[128], name[64];
    snprintf(device, sizeof device, "%s", device_name(a->place.name));
    snprintf(name, sizeof name, "%s@0x%" PRIx64, a->store ? "write" : "read", a->place.physical);
    pthread_mutex_lock(&gt_etrace.lock);
    uint64_t before = previous_at(a->place.physical, a->value[0]);
    pthread_mutex_unlock(&gt_etrace.lock);
    put_event(v, &(struct gt_etrace_event){.unit = v->unit,
                                           .time = a->time,
                                           .value = a->value[0],
                                           .previous = before,
                                           .device = device,
                                           .name = name});
}

void gt_etrace_on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *index)
{
    if (vcpu >= GT_ETRACE_MAX_VCPUS)
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    const struct kind kind = kind_of(meminfo);
    struct access a = {
        .time = gt_etrace_time_at(v, (uintptr_t)index),
        .vaddr = vaddr,
        .place = {.physical = vaddr},
        .size = kind.size,
        .store = kind.store,
        .big_endian = kind.big_endian,
    };
    if (gt_etrace.values)
        gt_mem_value(meminfo, a.value);
    if (gt_etrace.host.system)
        gt_mem_find(meminfo, vaddr, &a.place);
    if (gt_etrace.flags & GT_ETRACE_F_MEM)
        if (!put_quickly(v, &a))
            put_slowly(v, &a);
    if (gt_etrace.flags & GT_ETRACE_F_GPIO && a.place.device)
        put_device(v, &a);
}

void gt_etrace_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from,
                                uint64_t to)
{
    (void)self;
    if (vcpu >= GT_ETRACE_MAX_VCPUS)
        return;
    struct gt_etrace_vcpu *v = &gt_etrace.vcpus[vcpu];
    if (kind == GT_DISCON_EXCEPTION)
        gt_etrace_left_at(v, from);
    if (!(gt_etrace.flags & GT_ETRACE_F_GPIO))
        return;
    char device[16];
    snprintf(device, sizeof device, "cpu%u", vcpu);
    put_event(v, &(struct gt_etrace_event){.unit = v->unit,
                                           .time = gt_etrace_time_at(v, 0),
                                           .value = to,
                                           .previous = from,
                                           .device = device,
                                           .name = kind == GT_DISCON_EXCEPTION ? "exception"
                                                                               : "interrupt"});
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory accesses as MEM packets, accesses to devices as events, too; interrupts and exceptions as
 * events. */
#ifndef GT_ETRACE_PLUGIN_MEM_H
#define GT_ETRACE_PLUGIN_MEM_H

#include <stdbool.h>
#include <stdint.h>

/* What the host's number of a kind of accesses means. */
struct gt_etrace_mem_kind {
    uint32_t meminfo;
    uint8_t size; /* bytes; 0: the entry is empty */
    bool store, big_endian;
};

/* A cache of what the host said: there are few kinds. Any thread, atomic. */
struct gt_etrace_mem_kinds {
    _Atomic struct gt_etrace_mem_kind entries[64];
};

/* Callback of translated code, on the vCPU's thread: instruction number `index` of the current
 * block accesses memory. */
void gt_etrace_on_access(unsigned vcpu, uint32_t meminfo, uint64_t vaddr, void *index);
/* Callback of the host; `self` is the recorder. */
void gt_etrace_on_discontinuity(void *self, unsigned vcpu, unsigned kind, uint64_t from,
                                uint64_t to);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which blocks of a machine begin handlers: concluded, where the host does not report exceptions.
 */
#ifndef GT_CALLS_RECORDER_RUN_VECTORS_H
#define GT_CALLS_RECORDER_RUN_VECTORS_H

#include "calls/recorder/run/vcpu.h"
#include "qemu/host.h"

struct gt_recorder;

enum { GT_VECTOR_TABLES = 16, GT_SMI_REGISTERS = 5, GT_VECTOR_REGISTERS = 4 };

/* Tables of vectors that were found, by their addresses. Added to with the lock, read without it.
 */
struct gt_run_vectors {
    uint64_t table[GT_VECTOR_TABLES];
    unsigned n; /* atomic */
    struct gt_host_register smi[GT_SMI_REGISTERS], base[GT_VECTOR_REGISTERS];
};

/* True where a handler may begin at the block. Any thread. */
bool gt_run_machine_may_be_vector(const struct gt_recorder *r, const struct gt_code *code);

/* True where the block, which is translated now, begins the handler of a system management
 * interrupt. With the lock. */
bool gt_run_machine_is_smi(struct gt_recorder *r, const struct gt_code *code);

/* True where a handler begins at the block, which no translated code leads to; the vCPU has arrived
 * there with the last exit. Decides once for a block. On the vCPU's thread; takes the lock. */
bool gt_run_machine_is_vector(struct gt_vcpu *v, struct gt_code *code, uint64_t last_exit);

#endif

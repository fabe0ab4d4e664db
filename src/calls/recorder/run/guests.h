/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines: hypervisors in them, which enter guests and leave them (guest/arch/virtual.h,
 * track/guests.h).
 *
 * Where registers are read, they say which guest an exception return enters. Elsewhere it is
 * concluded: code that has written a hypervisor's register in the same handler, and has been called
 * since that began, enters a guest.
 */
#ifndef GT_CALLS_RECORDER_RUN_GUESTS_H
#define GT_CALLS_RECORDER_RUN_GUESTS_H

#include "calls/recorder/run/vcpu.h"
#include "guest/arch/virtual.h"
#include "qemu/host.h"

#include <glib.h>

struct gt_run_guests {
    const struct gt_arch_virtual
        *virtual; /* NULL: none for the architecture, or not asked for yet */
    struct gt_host_register registers[GT_VIRTUAL_REGISTERS];
    /* Addresses where hypervisors continue after their guests. NULL: none so far. With the lock. */
    GHashTable *ends;
    bool reported; /* that registers are not read; atomic */
};

/* At load. */
void gt_run_guests_init(struct gt_recorder *r);

/* Callbacks: a hypervisor's register is written; an instruction enters a guest, and its hypervisor
 * continues at `after`; a block begins where one does. */
void gt_run_on_guest_prepare(unsigned vcpu, void *data);
void gt_run_on_guest_run(unsigned vcpu, void *after);
void gt_run_on_guest_end(unsigned vcpu, void *code);

/* Before an exception return. True: it enters a guest, and *last_exit is the guest's. */
bool gt_run_guests_entered(struct gt_vcpu *v, uint64_t *last_exit, uint64_t time);

/* True where the vCPU's guest has ended, and its hypervisor continues at pc: no handler begins
 * there. */
bool gt_run_guests_end_at(const struct gt_vcpu *v, uint64_t pc);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's aarch64 board "virt": PSCI wakes the second vCPU. */
#define START_MAIN  run_tree
#define START_OTHER run_other
#define START_STACK 0x20000
#include "aarch64.S"

function wake_other
        ldr x0, =PSCI_CPU_ON
        mov x1, #1
        ldr x2, =start_other
        mov x3, #0
        hvc #0
        ret
end wake_other

function leap
        add x0, x0, #1
        b landed
end leap

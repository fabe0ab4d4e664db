/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machines of QEMU's user mode: finds, for an ELF header, the QEMU and the directory of
 * libraries. */
#ifndef GT_CLI_RECORD_MACHINE_H
#define GT_CLI_RECORD_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

struct gt_record_guest_target {
    uint16_t e_machine;
    uint8_t bits;       /* 32 or 64 */
    uint8_t data;       /* ELFDATA2LSB or ELFDATA2MSB */
    const char *target; /* QEMU's name: its user mode is qemu-TARGET */
    const char *const
        *triples; /* GNU names whose /usr/TRIPLE may hold libraries, NULL-terminated */
};

/* Finds the row for an ELF header's e_machine, class (32, 64) and data encoding; NULL: QEMU's user
 * mode has no such machine. */
const struct gt_record_guest_target *gt_record_guest_target_find(uint16_t e_machine, unsigned bits,
                                                                 uint8_t data);

/* True for "aarch64" and the like: qemu-NAME is a user-mode QEMU. */
bool gt_record_guest_target_is_name(const char *name);

#endif

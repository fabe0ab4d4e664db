/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A PC's firmware: goes to long mode, copies the code of data/zoo.x86_64 (ZOO) to ZOO_AT, and runs it
 * there; memory is mapped to itself. Its system call is not enabled and there is no interrupt table: it
 * resets the machine.
 */
#include "x86_64.inc"

        .section .start, "ax"
function _start
        real_mode
        protected_mode start32
start32:
        long_mode start64
start64:
        cld
        mov $zoo, %esi
        mov $ZOO_AT, %edi
        mov $(zoo_end - zoo), %ecx
        rep movsb
        xor %eax, %eax
        xor %ebx, %ebx
        mov $ZOO_AT, %ecx
        jmp *%rcx
end _start
        descriptors
        end_descriptors
zoo:    .incbin ZOO
zoo_end:
        reset_vector

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loop that calls, stores and loads; an access of each size; exits with status 42. */
        .text
        .globl _start
_start: lghi %r6, 100
1:      brasl %r14, sum
        brctg %r6, 1b
        stcy %r6, -64(%r15)
        sthy %r6, -62(%r15)
        sty %r6, -60(%r15)
        stg %r6, -56(%r15)
        llgc %r7, -64(%r15)
        llgh %r7, -62(%r15)
        llgf %r7, -60(%r15)
        lg %r7, -56(%r15)
        lghi %r2, 42
        svc 1
sum:    stg %r6, -8(%r15)
        lg %r7, -8(%r15)
        agr %r8, %r7
        br %r14
        .section .note.GNU-stack, "", @progbits

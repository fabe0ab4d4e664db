/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How x86 code uses the stack pointer when threads are switched, and return addresses that no
 * return uses. */
#include "guest/arch/x86.h"

/* What glibc's setjmp stores: lea N(%rsp), xor with a secret at %fs:N, a rotation. In *copies the
 * low half has the registers that hold the first, the high half those that hold the second. */
static bool stores_mixed(const uint8_t *bytes, size_t size, uint32_t *copies)
{
    bool by_fs = size > 0 && bytes[0] == 0x64;
    bytes += by_fs;
    size -= by_fs;
    if (size < 4 || (bytes[0] & 0xfa) != 0x48) /* REX.W, perhaps with R or B */
        return false;
    uint32_t reg = (bytes[2] >> 3 & 7u) | (bytes[0] & 4u) << 1, low = UINT32_C(1) << reg;
    bool memory = bytes[2] >> 6 != 3;
    bool by_sp = memory && (bytes[2] & 7) == 4 && bytes[3] == 0x24 && !(bytes[0] & 1);
    if (bytes[1] == 0x8d && by_sp)
        *copies = (*copies | low) & ~(low << 16);
    else if (bytes[1] == 0x33 && memory && by_fs && *copies & low)
        *copies |= low << 16;
    else
        return bytes[1] == 0x89 && memory && *copies & low << 16;
    return false;
}

/* mov of rsp or esp to memory; mov from memory and pop into it. */
uint8_t gt_x86_stack_use(const uint8_t *bytes, size_t size, uint32_t *copies)
{
    if (stores_mixed(bytes, size, copies))
        return GT_STACK_STORED;
    bool of_cpu = size > 1 && (bytes[0] == 0x64 || bytes[0] == 0x65);
    bytes += of_cpu;
    size -= of_cpu;
    if (size == 1 && bytes[0] == 0x5c)
        return GT_STACK_OWN;
    bool wide = size > 0 && (bytes[0] & 0xfc) == 0x48; /* REX.W without R */
    bool b = wide && bytes[0] & 1;
    bytes += wide;
    size -= wide;
    if (size < 2 || bytes[1] >> 6 == 3 || (bytes[1] >> 3 & 7) != 4)
        return GT_STACK_OTHER;
    bool by_sp = (bytes[1] & 7) == 4 && size > 2 && (bytes[2] & 7) == 4 && !b;
    if (bytes[0] == 0x89)
        return of_cpu || by_sp ? GT_STACK_OTHER : GT_STACK_STORED;
    return bytes[0] == 0x8b && (of_cpu || by_sp) ? GT_STACK_OWN : GT_STACK_OTHER;
}

/* iret, whatever its prefixes. */
bool gt_x86_pops_sp(const uint8_t *bytes, size_t size)
{
    return size > 0 && bytes[size - 1] == 0xcf;
}

/* add rsp, N; lea rsp, [rsp + N]; or another such call, over a trap for the CPU's speculation:
 * int3, pause, lfence. */
bool gt_x86_drops_return(const uint8_t *after, size_t over, size_t left)
{
    const uint8_t *to = after + over;
    if (left < 5)
        return false;
    if (to[0] == 0xe8)
        return to[1] > 0 && to[1] < 32 && !to[2] && !to[3] && !to[4] &&
               (after[0] == 0xcc || after[0] == 0xf3 || after[0] == 0x0f);
    return to[0] == 0x48 && (((to[1] == 0x83 || to[1] == 0x81) && to[2] == 0xc4) ||
                             (to[1] == 0x8d && to[2] == 0x64 && to[3] == 0x24));
}

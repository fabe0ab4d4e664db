/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables of riscv64: see riscv64_pages.h.
 *
 *     satp   63:60 mode (8: Sv39, 9: Sv48, 10: Sv57)   43:0 page number of the root
 *     entry  63 N   62:61 PBMT   53:10 page number   4 U   3 X   2 W   1 R   0 V
 */
#include "guest/arch/riscv64_pages.h"

enum { V = 1, R = 2, W = 4, X = 8, U = 16, PAGE_BITS = 12, INDEX_BITS = 9 };

#define N           ((uint64_t)1 << 63)
#define PBMT        ((uint64_t)3 << 61)
#define PAGE_NUMBER ((UINT64_C(1) << 44) - 1)

/* Levels of tables; 0: addresses are not translated, or the mode is unknown. */
static int levels_of(uint64_t satp)
{
    uint64_t mode = satp >> 60;
    return mode >= 8 && mode <= 10 ? (int)mode - 5 : 0;
}

/* The bits above the translated ones are all like the highest of these. */
static bool is_canonical(uint64_t addr, int levels)
{
    int above = 64 - (PAGE_BITS + levels * INDEX_BITS);
    return (uint64_t)((int64_t)(addr << above) >> above) == addr;
}

/* The address in the page that a leaf at that level, 0 the lowest, maps. */
static bool in_leaf(uint64_t entry, int level, uint64_t addr, uint64_t *physical)
{
    uint64_t number = entry >> 10 & PAGE_NUMBER;
    uint64_t low =
        ((uint64_t)1 << level * INDEX_BITS) - 1; /* of the number: the address has them */
    if (!(entry & U) || !(entry & R) || entry & PBMT || number & low)
        return false;
    if (entry & N) { /* 16 pages: the number's low bits are 1000 */
        if (level || (number & 15) != 8)
            return false;
        low = 15;
    }
    *physical = ((number & ~low) | (addr >> PAGE_BITS & low)) << PAGE_BITS |
                (addr & ((1 << PAGE_BITS) - 1));
    return true;
}

bool gt_riscv64_user_page(uint64_t satp, uint64_t addr, gt_read_physical_u64 *read, void *self,
                          uint64_t *physical)
{
    uint64_t table = (satp & PAGE_NUMBER) << PAGE_BITS, entry;
    int levels = levels_of(satp);
    if (!levels || !is_canonical(addr, levels))
        return false;
    for (int level = levels - 1; level >= 0; level--) {
        uint64_t index = addr >> (PAGE_BITS + level * INDEX_BITS) & ((1 << INDEX_BITS) - 1);
        if (!read(self, table + index * sizeof entry, &entry) || !(entry & V))
            return false;
        if (entry & (R | W | X))
            return in_leaf(entry, level, addr, physical);
        if (entry & (N | PBMT)) /* reserved in a pointer to a table */
            return false;
        table = (entry >> 10 & PAGE_NUMBER) << PAGE_BITS;
    }
    return false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FNV-1a with 64 bits. Not for hostile input: collisions are easy to make. */
#ifndef GT_BASE_FNV_H
#define GT_BASE_FNV_H

#include <stdint.h>

#define GT_FNV_BEGIN UINT64_C(0xcbf29ce484222325)

/* Extends a hash by a value: a byte, as in FNV-1a, or a word. */
static inline uint64_t gt_bytes_fnv(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of execlog's binary form, shared by its writer and its reader; all numbers are
 * little-endian.
 *
 *   log        header, chunks; the last one is END
 *   header     8 bytes magic, u16 major, u16 minor, u32 flags, 32 bytes target, 12 of 0, u32 check
 *   chunk      64 bytes of chunk header, its summary, its body (a zstd frame)
 *
 *   chunk header
 *    0 u32 magic        4 u8 type          5 u8 flags         6 u16 0
 *    8 u32 summary     12 u32 packed      16 u32 unpacked    20 u32 vCPU
 *   24 u64 first       32 u64 count       40 u64 other       48 u32 names
 *   52 u32 insn        56 u32 0           60 u32 check
 *
 *   type         first             count        other
 *   DEFINITIONS  block             blocks       0; insn: its first instruction's number; names: of
 *                                             devices and registers
 *   EVENTS       line, from 1      lines        lines before these that are not in the log
 *   LOST         bytes             0            0
 *   INDEX        line              lines        where the index before it is, 0: none
 *   END          where the last    lines of     0
 *                index is          the log
 *
 * `check` is FNV-1a, 32 bits, of the header bytes before it and of the summary. A summary is two
 * sets (set.h): addresses of instructions, and addresses of accesses; DEFINITIONS have only the
 * first.
 *
 *   definitions  records: 1 block: n, n * (address, opcode, text) | 2 device: number, name
 *                         | 3 register: number, size, name
 *                address: folded difference to the previous one in the chunk
 *                text, name: length, bytes
 *   events       the bytes of a buffer after its prefix (u32 vCPU, u32 skip)
 *   index        for each chunk since the previous index: offset (u64), its header, its summary
 */
#ifndef GT_EXECLOG_FORMAT_CHUNK_H
#define GT_EXECLOG_FORMAT_CHUNK_H

#include "base/bytes.h"
#include "execlog/format/execlog.h"

enum {
    GT_EXECLOG_MAJOR = 1,
    GT_EXECLOG_MINOR = 0,
    GT_EXECLOG_HEAD = 64,   /* bytes of the log's header and of a chunk's header */
    GT_EXECLOG_PREFIX = 8,  /* bytes of a buffer's prefix */
    GT_EXECLOG_TARGET = 32, /* bytes of the target's name, with its NUL */
    GT_EXECLOG_CHUNK = 0x4b435847,
    GT_EXECLOG_MAX_UNPACKED = 4 << 20, /* bytes of an unpacked body, at most */
    GT_EXECLOG_MAX_PACKED = 5 << 20,
    GT_EXECLOG_MAX_SUMMARY = 64 << 10,
    GT_EXECLOG_MAX_VCPUS = 65536,
};

enum gt_execlog_flag { GT_EXECLOG_SYSTEM = 1, GT_EXECLOG_VALUES = 2 };

enum gt_execlog_type {
    GT_EXECLOG_DEFINITIONS = 1,
    GT_EXECLOG_EVENTS = 2,
    GT_EXECLOG_LOST = 3,
    GT_EXECLOG_INDEX = 4,
    GT_EXECLOG_END = 5,
};

/* Flags of EVENTS chunks. */
enum gt_execlog_open {
    GT_EXECLOG_FROM_BEFORE = 1, /* begins within the line that ends the vCPU's previous chunk */
    GT_EXECLOG_GOES_ON = 2,     /* ends with a line that the vCPU's next chunk continues */
    GT_EXECLOG_WITHIN_LINE =
        4, /* with FROM_BEFORE: that line is not complete at the beginning of this chunk */
};

enum gt_execlog_record { GT_EXECLOG_D_BLOCK = 1, GT_EXECLOG_D_DEVICE, GT_EXECLOG_D_REGISTER };

struct gt_execlog_chunk {
    uint8_t type, flags;
    uint32_t summary, packed, unpacked; /* bytes */
    uint32_t vcpu;
    uint64_t first, count, other;
    uint32_t names, insn;
};

extern const char gt_execlog_magic[8];

/* Writes a chunk header of GT_EXECLOG_HEAD bytes to out; `summary` has c->summary bytes. */
void gt_execlog_put_chunk(uint8_t *out, const struct gt_execlog_chunk *c, const uint8_t *summary);
/* False: not a chunk header, or one with invalid values. Does not verify `check`. */
bool gt_execlog_get_chunk(const uint8_t *in, struct gt_execlog_chunk *out);
/* Continues an FNV-1a check; begin with 0. */
uint32_t gt_execlog_check(uint32_t before, const void *data, size_t n);
/* True if `check` matches a header and its summary. */
bool gt_execlog_chunk_good(const uint8_t *in, const uint8_t *summary, size_t n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation: a block is decoded, described and instrumented, in the host's translation callback
 * with the lock held.
 */
#ifndef GT_CALLS_RECORDER_TRANSLATE_CODE_H
#define GT_CALLS_RECORDER_TRANSLATE_CODE_H

#include "guest/arch/arch.h"
#include "qemu/host.h"

struct gt_recorder;
struct gt_support_module;

/* An instruction of the block that is being translated. */
struct gt_translate_decoded {
    struct gt_host_insn *ref;
    uint64_t pc; /* moved by gt_translate_memory_shift: not always QEMU's */
    uint8_t size, bytes[16];
    struct gt_arch_insn insn;
};

static inline uint64_t gt_translate_decoded_end(const struct gt_translate_decoded *d)
{
    return d->pc + d->size;
}

/* The block that is being translated. Valid until the next one is. */
struct gt_translate_block {
    struct gt_recorder *rec;
    struct gt_host_block *block;
    const struct gt_support_module *module; /* of its first instruction */
    unsigned level;                         /* with privilege levels: that of its code */
    size_t n;                               /* 1 or more */
    struct gt_translate_decoded *insn;
};

/* Room for the instructions of a block, reused by the next one. Zero: none yet. */
struct gt_translate_decoder {
    struct gt_translate_decoded *insn;
    size_t room;
};

/* Event of the host: it translates the block. `self` is the recorder. Takes the lock. */
void gt_translate_on_block(void *self, struct gt_host_block *block);

#endif

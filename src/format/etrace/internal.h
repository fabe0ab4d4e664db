/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the etrace codec share: see etrace.h. */
#ifndef GT_FORMAT_ETRACE_INTERNAL_H
#define GT_FORMAT_ETRACE_INTERNAL_H

#include "format/etrace/etrace.h"
#include "format/etrace/mem.h"
#include "format/le.h"

#include <string.h>

/* Bytes of each packet's body up to the part that varies. */
enum {
    GT_ETRACE_INFO_SIZE = 12,
    GT_ETRACE_ARCH_SIZE = 16,
    GT_ETRACE_ARCH_SHORT_SIZE = 12, /* without padding: guesttrace wrote it so once */
    GT_ETRACE_EXEC_SIZE = 8,
    GT_ETRACE_TB_SIZE = 32,
    GT_ETRACE_NOTE_SIZE = 8,
    GT_ETRACE_EVENT_SIZE = 36,
    GT_ETRACE_EVENT_OLD_SIZE = 22,
};

struct gt_etrace_reader {
    gt_etrace_read_fn read;
    void *self;
    char *name;
    uint8_t *buf;
    size_t pos, end;   /* what was read and not yet given away */
    uint64_t offset;   /* of buf[pos] in the stream */
    bool begun, ended; /* a packet was given; the source said that it is the end */
    struct gt_etrace_arch arch;
    struct gt_error why; /* of the first failure */
};

/* The body of an ARCH packet: true where it is one. */
bool gt_etrace_arch_read(const struct gt_etrace_packet *p, struct gt_etrace_arch *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that the files of the etrace codec share: see etrace.h. */
#ifndef GT_ETRACE_FORMAT_INTERNAL_H
#define GT_ETRACE_FORMAT_INTERNAL_H

#include "base/bytes.h"
#include "etrace/format/etrace.h"
#include "etrace/format/mem.h"

#include <string.h>

/* Bytes of the fixed part of each packet's body. */
enum {
    GT_ETRACE_INFO_SIZE = 12,
    GT_ETRACE_ARCH_SIZE = 16,
    GT_ETRACE_ARCH_SHORT_SIZE = 12, /* without padding, as early versions of guesttrace wrote it */
    GT_ETRACE_EXEC_SIZE = 8,
    GT_ETRACE_TB_SIZE = 32,
    GT_ETRACE_NOTE_SIZE = 8,
    GT_ETRACE_EVENT_SIZE = 36,
    GT_ETRACE_EVENT_OLD_SIZE = 22,
};

struct gt_etrace_reader {
    struct gt_bytes_refill in;
    bool begun; /* a packet was returned */
    struct gt_etrace_arch arch;
    struct gt_error why; /* the first failure */
};

/* Decodes the body of an ARCH packet; false: invalid. */
bool gt_etrace_arch_read(const struct gt_etrace_packet *p, struct gt_etrace_arch *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What buffers hold that is not handed over yet, on the packet sink's thread. A file ends with a
 * copy of it, as whole packets, until the packets themselves are written: so a killed QEMU leaves
 * them. The buffers stay as they are: a file has the same packets in every run. To a socket, what a
 * waiting guest has put is handed over.
 *
 * These functions never wait: a thread that holds a lock may be waiting for the packet sink.
 */
#ifndef GT_ETRACE_PLUGIN_TAIL_H
#define GT_ETRACE_PLUGIN_TAIL_H

#include <stddef.h>
#include <stdint.h>

/* The copy; the packet sink's thread's alone. */
struct gt_etrace_tail {
    uint8_t *data;
    size_t n, room; /* bytes */
};

/* Callbacks of the packet sink (`provisional` and `tick` of base/sink/sink.h); `self` is the
 * recorder. copy_tail: NULL: a lock was held, or no memory; the sink asks again. */
const uint8_t *gt_etrace_copy_tail(void *self, size_t *n);
void gt_etrace_on_tick(void *self);

#endif

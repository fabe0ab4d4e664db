/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The provisional tail of a file: see sink.h. A tail that cannot be written is not a loss. The next
 * buffer is written over the tail, and the rest of the tail is cut off only then, so that at any
 * moment the file has one or the other. */
#include "base/clock.h"
#include "base/sink/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVERY_MS = 200, SOON_MS = 5 };
enum { LARGE = 1 << 20 }; /* bytes; more is written less often */

void gt_packet_sink_cut_tail(struct gt_packet_sink *o)
{
    if (o->tail.n && ftruncate(o->channel.fd, (off_t)o->whole) == 0)
        o->tail.n = 0;
}

static bool keep(struct gt_packet_sink *o, const uint8_t *data, size_t n)
{
    if (n > o->tail.room) {
        free(o->tail.data);
        o->tail.data = malloc(n);
        o->tail.room = o->tail.data ? n : 0;
    }
    if (o->tail.data)
        memcpy(o->tail.data, data, n);
    return o->tail.data != NULL;
}

static bool write_all(const struct gt_packet_sink *o, const uint8_t *data, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pwrite(o->channel.fd, data + done, n - done, (off_t)(o->whole + done));
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

void gt_packet_sink_put_tail(struct gt_packet_sink *o)
{
    const struct gt_packet_sink_options *have = &o->options;
    bool ends = have->exec_tail && gt_packet_sink_executes(o);
    size_t n = 0;
    if (!(have->provisional || have->exec_tail) || !o->channel.regular)
        return;
    const uint8_t *data = ends                ? have->exec_tail(have->self, &n)
                          : have->provisional ? have->provisional(have->self, &n)
                                              : (const uint8_t *)"";
    uint64_t ms = data ? (1 + n / LARGE) * EVERY_MS : SOON_MS;
    o->tail.due = gt_base_clock_monotonic() + ms * UINT64_C(1000000);
    if (!data)
        return;
    if (n == o->tail.n && (n == 0 || memcmp(data, o->tail.data, n) == 0))
        return;
    if (n == 0 || !keep(o, data, n)) {
        gt_packet_sink_cut_tail(o);
        return;
    }
    size_t before = o->tail.n;
    o->tail.n = n;
    if (!write_all(o, data, n))
        gt_packet_sink_cut_tail(o);
    else if (n < before && ftruncate(o->channel.fd, (off_t)(o->whole + n)) != 0)
        o->tail.n = before;
}

void gt_packet_sink_replaced_tail(struct gt_packet_sink *o, size_t n)
{
    if (o->tail.n <= n)
        o->tail.n = 0;
    else
        gt_packet_sink_cut_tail(o);
}

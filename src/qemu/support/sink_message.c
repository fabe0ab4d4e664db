/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet sink's messages on standard error: see sink_message.h. */
#include "qemu/support/sink_message.h"

void gt_sink_message_report(struct gt_packet_sink *sink)
{
    struct gt_error message;
    if (gt_packet_sink_message(sink, &message))
        gt_host_message("%s", message.text);
}

bool gt_sink_end_is_seen(const struct gt_host_info *host)
{
    return !host->system || gt_host_can(GT_HOST_SHUTDOWN);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages and the end of a packet sink, for the plugins that have one. */
#ifndef GT_QEMU_SUPPORT_SINK_MESSAGE_H
#define GT_QEMU_SUPPORT_SINK_MESSAGE_H

#include "base/sink/sink.h"
#include "qemu/host.h"

/* Writes the sink's message that was not fetched yet, if any, on standard error. Cheap; any thread.
 */
void gt_sink_message_report(struct gt_packet_sink *sink);

/* A vCPU that waits for a reader lets the host end. False: a machine may be asked to end, and wait
 * for that vCPU, before the plugin hears of it. */
bool gt_sink_end_is_seen(const struct gt_host_info *host);

#endif

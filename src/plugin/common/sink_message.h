/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of a packet sink, for the plugins that have one. */
#ifndef GT_PLUGIN_COMMON_SINK_MESSAGE_H
#define GT_PLUGIN_COMMON_SINK_MESSAGE_H

#include "base/sink/sink.h"

/* Writes the sink's message that was not fetched yet, if any, on standard error. Cheap; any thread.
 */
void gt_sink_message_report(struct gt_packet_sink *sink);

#endif

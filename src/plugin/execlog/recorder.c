/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin keeps while QEMU runs: see execlog.h. */
#include "plugin/execlog/execlog.h"

struct gt_exlog gt_exlog;

void gt_exlog_tell_news(void)
{
    struct gt_error news;
    if (gt_exlog.outlet && gt_packet_sink_message(gt_exlog.outlet, &news))
        gt_host_message("%s", news.text);
}

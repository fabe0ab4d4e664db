/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The syslog backend: LOG_INFO of LOG_DAEMON, with the process id. */
#include "events/library/text/text.h"

#include <pthread.h>
#include <syslog.h>

static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void open_once(void)
{
    openlog(NULL, LOG_PID, LOG_DAEMON);
}

void gt_events_syslog_line(const char *line, size_t size)
{
    pthread_once(&opened, open_once);
    syslog(LOG_INFO, "%.*s", (int)(size - 1), line);
}

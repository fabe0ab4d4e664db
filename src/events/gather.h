/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines on their way to the log file. A write() costs more than all else that a line takes, so that
 * lines of a burst are gathered and written together: whole lines, as many as a pipe takes at once.
 *
 * The first lines of every few milliseconds are written at once, together with what is gathered:
 * events that are rare are never late. Of a burst, what is gathered is written when the buffer is
 * full, and by a thread when nothing else has done so for GT_TRACE_LOG_MS.
 *
 * Lines of all threads stand in the order in which they came. A signal handler that interrupts a
 * line of its own thread adds its lines before or behind it, and what it interrupted writes them.
 */
#ifndef GT_EVENTS_GATHER_H
#define GT_EVENTS_GATHER_H

#include <guesttrace/control.h>

/* Lines to this descriptor are gathered from now on. False: the thread could not be started, none
 * are. With the registry's lock held. */
bool gt_events_gather_start(int fd);
/* What is gathered is written, and nothing gathered any more. */
void gt_events_gather_stop(void);
void gt_events_gather_flush(void);

/* False: the line is not taken, the caller writes it. Signal-safe; errno may change. */
bool gt_events_gather_line(const char *line, size_t size);

/* As gt_events_gather_stop(), but does not wait for ever; signal-safe. */
void gt_events_gather_last_words(void);

/* The calling thread's id. */
uint32_t gt_events_thread_id(void);

/* log.c: the bytes that could not be written, whose lines are counted as lost. */
size_t gt_events_log_write(int fd, const char *at, size_t size);

#endif

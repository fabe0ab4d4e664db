/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of `guesttrace export` for other tools: a recording of calls, a function and a file
 * for each.
 *
 * A function writes the calls of the window (NULL: all) to `out`; the caller finishes it. Output
 * that failed ends the reading early and is not an error here: gt_output_finish reports it. Equal
 * recordings give equal bytes. Errors of gt_calls_scan.
 */
#ifndef GT_CALLS_EXPORT_RECORDING_H
#define GT_CALLS_EXPORT_RECORDING_H

#include "base/output.h"
#include "calls/read/calls.h"

typedef int gt_export_fn(struct gt_calls *c, const struct gt_calls_window *w, struct gt_output *out,
                         struct gt_error *err);

gt_export_fn gt_export_chrome;
gt_export_fn gt_export_perfetto;

/* The same as a directory, which gets its name when it is complete; a trace that has the name is
 * replaced, and nothing is made of a window without calls. GT_E_EXISTS: something else has the
 * name; GT_E_IO. */
int gt_export_ctf(struct gt_calls *c, const struct gt_calls_window *w, const char *path,
                  struct gt_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines of functions: for filters by file and line, and for readers (MODULE.dbg). Lines of a
 * program's files are read on the worker when they are mapped, where the recording needs lines
 * (srcline=on, or a filter by them); a machine's are in its code map.
 */
#ifndef GT_CALLS_RECORDER_OUTPUT_SOURCE_H
#define GT_CALLS_RECORDER_OUTPUT_SOURCE_H

#include "base/error.h"
#include "qemu/support/modules.h"

struct gt_recorder;

/* On the worker, with r->lock: the module is new. Reads its lines and writes them, if the recording
 * needs them. Errors of writing. */
int gt_recorder_source_add_module(struct gt_recorder *r, struct gt_support_module *m,
                                  struct gt_error *err);
/* Writes a module's lines again. */
int gt_recorder_source_put(struct gt_recorder *r, const struct gt_support_module *m,
                           struct gt_error *err);
/* While a program runs, on a thread that runs no vCPU: from now on lines are needed. GT_E_IO: there
 * is no worker. */
int gt_recorder_source_begin(struct gt_recorder *r, struct gt_error *err);

/* The source of a function. False: not known. Any thread. */
bool gt_recorder_source_find(const struct gt_support_module *m, const struct gt_track_func *fn,
                             struct gt_elf_function_line *out);
/* At the end, where a pattern of lines has matched nothing: prints which modules have none. */
void gt_recorder_source_report(const struct gt_recorder *r);

#endif

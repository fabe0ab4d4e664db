/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorder's text files say: content for output.c. All run on the worker, but
 * gt_meta_init and gt_meta_collect_entered. */
#ifndef GT_PLUGIN_UFTRACE_META_H
#define GT_PLUGIN_UFTRACE_META_H

#include "plugin/uftrace/uftrace.h"

/* The program's name, the command line, the session id. Before the rest. */
void gt_meta_init(void);
/* The time of the last record in TID.dat; 0: none. */
uint64_t gt_meta_last_time(const struct gt_uftrace_dir *dir, uint32_t tid);
/* What the kernel calls the thread of this process; "" where it does not say. */
void gt_meta_thread_name(uint32_t tid, char name[16]);
/* Notes which addresses without a symbol were called. */
void gt_meta_collect_entered(void);
int gt_meta_put_map(struct gt_error *err);
/* A new module, or one back where another was: what is not written of it yet. */
int gt_meta_add_module(struct gt_module *m, struct gt_error *err);
int gt_meta_put_info(struct gt_error *err);
int gt_meta_put_symbols(struct gt_module *m, struct gt_error *err);
/* Adds this process's counts to what other processes of the recording left. */
int gt_meta_put_stats(struct gt_error *err);

#endif

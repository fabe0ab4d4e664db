/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trace-events files of functions of a guest, from the prototypes that its files have: DWARF of
 * programs and libraries, BTF of kernels and their modules.
 *
 *     vfs_fsync(void *file, int datasync) "file=%p datasync=%d"
 *     at=vfs_fsync@return vfs_fsync_return(int ret) "ret=%d"
 *
 * An event has the parameters up to the first that a trace-events file cannot express (a struct by
 * value), or that is not where the calling convention has it; floats are left out.
 */
#ifndef GT_EVENTS_GUEST_EXPAND_H
#define GT_EVENTS_GUEST_EXPAND_H

#include "base/error.h"
#include "base/text.h"
#include "events/library/dynamic/dynamic.h"

#include <stdbool.h>
#include <stddef.h>

struct gt_events_guest_functions;

/* The functions of files, FILE[:OFFSET] each; a kernel comes before its modules. `strict`: a file
 * that cannot be read is an error, as is an only one without prototypes; else it is left out.
 * Errors of gt_image_symbol_source_load; GT_E_NOT_FOUND. */
int gt_events_guest_functions_load(const char *const *files, size_t n, bool strict,
                                   struct gt_events_guest_functions **out, struct gt_error *err);
void gt_events_guest_functions_free(struct gt_events_guest_functions *g);

/* Appends a line for each function that has a prototype and a name that matches the glob, and was
 * not appended before; `returns`: for each result, too. Returns how many functions matched. */
size_t gt_events_guest_functions_write(struct gt_events_guest_functions *g, const char *glob,
                                       bool returns, struct gt_text *out);

/* Appends the events file at `path`, its lines "guest.GLOB" without a prototype replaced by lines
 * of the files' functions. `events` gets the other lines' (gt_events_dynamic_free; it keeps
 * `path`). GT_E_FORMAT: no function has such a name; errors of gt_events_guest_functions_load, of
 * gt_file_read. */
int gt_events_guest_events_expand(const char *path, const char *const *files, size_t n,
                                  struct gt_text *out, struct gt_events_dynamic_events *events,
                                  struct gt_error *err);

#endif

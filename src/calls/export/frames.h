/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the exports of the tree of calls share: numbers of its functions, names of tasks, the unit
 * of its times.
 */
#ifndef GT_CALLS_EXPORT_FRAMES_H
#define GT_CALLS_EXPORT_FRAMES_H

#include "calls/profile/tree.h"
#include "calls/read/calls.h"
#include "names/image/demangle.h"

#include <glib.h>

struct gt_export_frame {
    const char *name; /* demangled; "?" for none: never empty */
    const struct gt_calls_function *function;
};

/* The functions of a tree, numbered from 0 in the order in which the tree has them; functions of
 * one name, source file and module, which look the same in any viewer, are one. An index of
 * calls.h may depend on the threads that read the recording; this number does not. */
struct gt_export_frames {
    struct gt_export_frame *frame; /* by number */
    uint32_t n;
    uint32_t *number; /* by the index of a function in the tree */
    struct gt_image_demangler *demangler;
};

void gt_export_frames_make(const struct gt_calls *c, const struct gt_profile_tree *t,
                           struct gt_export_frames *out);
void gt_export_frames_clear(struct gt_export_frames *f);

/* Names for people: "init", without a name "task 12"; of a process, its program. The caller frees
 * them (g_free). */
char *gt_export_frames_task_name(const struct gt_calls *c, uint32_t task);
char *gt_export_frames_process_name(const struct gt_calls *c, uint32_t process);
/* "init (12)": different for each task. */
char *gt_export_frames_task_title(const struct gt_calls *c, uint32_t task);

/* Appends a text of one line: control characters become '?', each byte that is not UTF-8 U+FFFD,
 * and each byte `but` (NUL: none) `instead`. */
void gt_export_frames_add_clean(GString *out, const char *text, char but, char instead);

/* True if all times are numbers of instructions (clock=insn), false: nanoseconds. */
bool gt_export_frames_in_instructions(const struct gt_calls *c);

#endif

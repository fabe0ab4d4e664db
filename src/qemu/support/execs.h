/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that a recorded program executes (user mode). QEMU lets the host's kernel execute them:
 * they run outside it. Here execve() of what the kernel would run becomes one of QEMU with the same
 * plugin, and that program: what the guest sees of it is the same. It is QEMU's own call, outside,
 * where that is not sure:
 *
 *   - the program gains rights: set-user-ID, capabilities of its file
 *   - it is for another machine than this QEMU's, or the kernel would refuse it
 *   - the recording may not be reachable: another root, user or mount namespace, lower limits
 *
 * A QEMU with a plugin of ours on its command line records by itself: QEMU's own call, too, but it
 * is not counted.
 *
 * Programs outside are counted, and the first of them named.
 */
#ifndef GT_QEMU_SUPPORT_EXECS_H
#define GT_QEMU_SUPPORT_EXECS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* execveat(dir, path, argv, envp, flags): addresses of the guest. */
struct gt_exec_call {
    int dir, flags;
    uint64_t path, argv, envp;
};

/* How the guest's memory is read; false: it is not there. */
struct gt_exec_memory {
    bool (*read)(const void *self, uint64_t addr, void *out, size_t n);
    const void *self;
    uint16_t e_machine;
    unsigned word; /* bytes of a pointer */
    bool child;    /* of the recording's first process, not that itself */
};

/* At load. `follow` false: all programs run outside. GT_E_NOMEM. */
int gt_execs_init(bool follow, const char *output, struct gt_error *err);

enum gt_exec_kind {
    GT_EXEC_NONE,    /* the kernel will refuse it */
    GT_EXEC_OUTSIDE, /* QEMU's own call executes it */
    GT_EXEC_RECORDS, /* the same, and it has a plugin of ours */
    GT_EXEC_FOLLOW,  /* gt_execs_run */
};

struct gt_exec {
    enum gt_exec_kind kind;
    char name[256]; /* of the file, for messages */
    char **argv, **envp;
};

/* Whether this QEMU was executed for a program that a child of the first process executed. */
bool gt_execs_is_child(void);
/* PATH, which the first program's recording has, as this program's own: PATH.PID.N, where this QEMU
 * was executed for the N-th one of its process. The caller frees it (g_free). */
char *gt_execs_own_path(const char *path);

/* What the call would do. To be freed with gt_execs_clear. */
struct gt_exec gt_execs_look(const struct gt_exec_call *call, const struct gt_exec_memory *memory);
/* Executes QEMU; returns where that is not possible: then it is GT_EXEC_OUTSIDE. */
void gt_execs_run(struct gt_exec *e);
/* Counts one that runs outside; gt_execs_failed: the execve of the last one has failed. */
void gt_execs_outside(const struct gt_exec *e);
void gt_execs_failed(void);
void gt_execs_clear(struct gt_exec *e);
/* Prints which programs ran outside, if any. */
void gt_execs_report(void);

#endif

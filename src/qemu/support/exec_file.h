/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that is to be executed, as Linux sees it: a program, or a script and its interpreter. */
#ifndef GT_QEMU_SUPPORT_EXEC_FILE_H
#define GT_QEMU_SUPPORT_EXEC_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct gt_exec_file {
    char *path;
    char *interpreter; /* of a script; NULL: a program */
    char *argument;    /* what stands behind it; NULL: nothing */
    bool follow;       /* the kernel would run it, with no other rights, and so would QEMU */
};

/* Of the file at the path, for a QEMU of that machine; free with gt_exec_file_clear. A negative
 * status: it cannot be read, or the kernel would refuse it. */
int gt_exec_file_read(const char *path, uint16_t e_machine, struct gt_exec_file *out);
void gt_exec_file_clear(struct gt_exec_file *f);

#endif

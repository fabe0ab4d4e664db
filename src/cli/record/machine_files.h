/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files with code a machine's QEMU is given on its command line. */
#ifndef GT_CLI_RECORD_MACHINE_FILES_H
#define GT_CLI_RECORD_MACHINE_FILES_H

#include <glib.h>
#include <stdbool.h>

struct gt_record_machine_file {
    char *path;  /* as on the command line; the caller's (g_free) */
    bool kernel; /* -kernel; else firmware or data, which only an ELF header makes code of */
};

/* The files of -kernel, -bios, -pflash, -device loader,file= and -drive if=pflash,file= that exist,
 * in their order, each once. `argv` is QEMU's without its name, NULL-terminated. Free the array
 * (struct gt_record_machine_file) with g_array_unref. */
GArray *gt_record_machine_files(char *const *argv);

/* The value of the key in one of QEMU's option lists, "a,key=value,b": a doubled comma is one. NULL
 * where there is none; the caller's (g_free). */
char *gt_record_machine_option(const char *list, const char *key);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files with code on the command line of a machine's QEMU. */
#ifndef GT_CLI_RECORD_MACHINE_FILES_H
#define GT_CLI_RECORD_MACHINE_FILES_H

#include <glib.h>
#include <stdbool.h>

struct gt_record_machine_file {
    char *path;  /* path as on the command line; the caller frees it (g_free) */
    bool kernel; /* the file of -kernel; else firmware or data, which is code only if it has an ELF
                    header */
};

/* Returns the existing files of -kernel, -bios, -pflash, -device loader,file= and -drive
 * if=pflash,file=, in order, each once. `argv` is QEMU's without its name, NULL-terminated. Free
 * the array (struct gt_record_machine_file) with g_array_unref. */
GArray *gt_record_machine_files(char *const *argv);

/* Returns the value of the key in one of QEMU's option lists, "a,key=value,b", with doubled commas
 * resolved. NULL: none. The caller frees it (g_free). */
char *gt_record_machine_option(const char *list, const char *key);

#endif

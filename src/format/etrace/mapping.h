/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a user-mode guest has mapped an ELF file, as a NOTE of an etrace stream:
 *
 *   mapping 0xSTART-0xEND 0xBASE BUILD-ID PATH
 *
 * Guest addresses, lower-case hex: the lowest and the highest of the file's mappings that belong
 * together, and where offset 0 of the file is, or would be. BUILD-ID is the first 20 bytes of the
 * file's build-id in hex; "-" where it has none or could not be read. PATH is the file's name on
 * the machine that ran QEMU, to the end of the line; a newline in it is \012, as in
 * /proc/PID/maps. The note comes when code of the file is first translated; it holds until another
 * mapping overlaps it.
 */
#ifndef GT_FORMAT_ETRACE_MAPPING_H
#define GT_FORMAT_ETRACE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GT_ETRACE_PATH_MAX = 4096,
    /* of the text: three numbers, a build-id, a path all of newlines */
    GT_ETRACE_MAPPING_MAX = 128 + 4 * GT_ETRACE_PATH_MAX,
};

struct gt_etrace_mapping {
    uint64_t start, end, base;
    char build_id[41]; /* "": not known */
    char path[GT_ETRACE_PATH_MAX];
};

/* The line, with its newline and without a NUL; returns its length. */
size_t gt_etrace_mapping_put(const struct gt_etrace_mapping *m, char out[GT_ETRACE_MAPPING_MAX]);

/* The `n` bytes of a note are such a line, with its newline or without: true and *out. */
bool gt_etrace_mapping_get(const char *text, size_t n, struct gt_etrace_mapping *out);

#endif

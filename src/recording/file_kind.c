/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects the type of a file or folder: see file_kind.h. */
#include "recording/file_kind.h"

#include "recording/directory/dir.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DUMP   "; read it with guesttrace dump"
#define REPORT "; read it with guesttrace report"

/* A row a kind. An etrace stream begins with an INFO packet: its type, a unit, its length. */
static const struct {
    const char *name;
    const char *bytes; /* that it begins with; NULL: others tell it */
    size_t n;
    const char *hint;
} kinds[GT_FILE_KINDS] = {
    [GT_FILE_UNKNOWN] = {"of an unknown type", NULL, 0, ""},
    [GT_FILE_EMPTY] = {"empty", NULL, 0, ""},
    [GT_FILE_TEXT] = {"a text", NULL, 0, ""},
    [GT_FILE_LOG] = {"an execlog log, as text", NULL, 0, "; read it with guesttrace diff"},
    [GT_FILE_ETRACE] = {"an etrace stream", "\x54\x45\0\0\x0c\0\0\0", 8, DUMP},
    [GT_FILE_EXECLOG] = {"an execlog log in binary form", "GTEXECL\n", 8, DUMP},
    [GT_FILE_CALLS] = {"a recording of calls", "gtrace\r\n", 8, REPORT},
    [GT_FILE_SIMPLETRACE] = {"a simpletrace file", "\xff\xff\xff\xff\xff\xff\xff\xff", 8,
                             "; read it with guesttrace events simpletrace"},
    [GT_FILE_ELF] = {"an ELF file",
                     "\x7f"
                     "ELF",
                     4, ""},
    [GT_FILE_GZIP] = {"a file compressed by gzip", "\x1f\x8b", 2, ""},
    [GT_FILE_ZSTD] = {"a file compressed by zstd", "\x28\xb5\x2f\xfd", 4, ""},
    [GT_FILE_XZ] = {"a file compressed by xz",
                    "\xfd"
                    "7zXZ\0",
                    6, ""},
    [GT_FILE_DIRECTORY] = {"a uftrace directory", NULL, 0, REPORT},
    [GT_FILE_FOLDER] = {"a folder that is not a recording", NULL, 0, ""},
};

/* ---- kinds --------------------------------------------------------------------------------- */

bool gt_recording_kind_is_text(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        if (at[i] < ' ' && !(at[i] >= '\a' && at[i] <= '\r') && at[i] != 0x1b)
            return false;
    return true;
}

/* A line of an execlog log begins with the vCPU and an address: "0, 0x". */
static bool is_log(const char *first, size_t n)
{
    size_t i = 0;
    while (i < n && g_ascii_isdigit(first[i]))
        i++;
    return i > 0 && n - i >= 4 && memcmp(first + i, ", 0x", 4) == 0;
}

/* A file of some kind, cut. */
static bool may_be_any(const void *first, size_t n)
{
    for (size_t i = 0; i < GT_FILE_KINDS; i++)
        if (n < kinds[i].n && memcmp(first, kinds[i].bytes, n) == 0)
            return true;
    return false;
}

enum gt_recording_kind gt_recording_kind(const void *first, size_t n)
{
    for (size_t i = 0; i < GT_FILE_KINDS; i++)
        if (kinds[i].bytes && n >= kinds[i].n && memcmp(first, kinds[i].bytes, kinds[i].n) == 0)
            return (enum gt_recording_kind)i;
    if (n == 0)
        return GT_FILE_EMPTY;
    if (may_be_any(first, n) || !gt_recording_kind_is_text(first, n))
        return GT_FILE_UNKNOWN;
    return is_log(first, n) ? GT_FILE_LOG : GT_FILE_TEXT;
}

bool gt_recording_kind_is_recording(const char *folder)
{
    g_autofree char *tasks = g_build_filename(folder, "task.txt", NULL);
    uint32_t *tids = NULL;
    const int64_t n = gt_uftrace_dat_list(folder, &tids, NULL);
    free(tids);
    return n > 0 || g_file_test(tasks, G_FILE_TEST_EXISTS);
}

enum gt_recording_kind gt_recording_kind_at(const char *path)
{
    char first[GT_FILE_KIND_BYTES];
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return gt_recording_kind_is_recording(path) ? GT_FILE_DIRECTORY : GT_FILE_FOLDER;
    FILE *f = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? fopen(path, "re") : NULL;
    if (!f)
        return GT_FILE_UNKNOWN;
    const size_t n = fread(first, 1, sizeof first, f);
    fclose(f);
    return gt_recording_kind(first, n);
}

/* ---- refusing ------------------------------------------------------------------------------ */

static int refuse(const char *name, enum gt_recording_kind kind, unsigned reads,
                  const char *expected, struct gt_error *err)
{
    if (reads & GT_FILE_IS(kind))
        return GT_E_FORMAT;
    return gt_error_set(err, GT_E_FORMAT, "%s: %s, expected %s%s", name, kinds[kind].name, expected,
                        kinds[kind].hint);
}

static int check(const char *name, enum gt_recording_kind kind, unsigned reads,
                 const char *expected, struct gt_error *err)
{
    return kind == GT_FILE_UNKNOWN || reads & GT_FILE_IS(kind)
               ? 0
               : refuse(name, kind, reads, expected, err);
}

int gt_recording_kind_check(const char *name, const void *first, size_t n, unsigned reads,
                            const char *expected, struct gt_error *err)
{
    return check(name, gt_recording_kind(first, n), reads, expected, err);
}

int gt_recording_kind_check_at(const char *path, unsigned reads, const char *expected,
                               struct gt_error *err)
{
    return check(path, gt_recording_kind_at(path), reads, expected, err);
}

int gt_recording_kind_refuse(const char *path, unsigned reads, const char *expected,
                             struct gt_error *err)
{
    return refuse(path, gt_recording_kind_at(path), reads, expected, err);
}

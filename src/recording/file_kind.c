/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects the type of a file or folder: see file_kind.h. */
#include "recording/file_kind.h"

#include "recording/directory/dir.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An etrace stream begins with an INFO packet: its type, a unit, its length. */
static const struct {
    const char *name;
    const char *bytes;
    size_t n;
    const char *hint;
} kinds[] = {
    {"an etrace stream", "\x54\x45\0\0\x0c\0\0\0", 8, "; read it with guesttrace dump"},
    {"an execlog log in binary form", "GTEXECL\n", 8, "; read it with guesttrace dump"},
    {"a recording of calls", "gtrace\r\n", 8, "; read it with guesttrace report"},
    {"an ELF file",
     "\x7f"
     "ELF",
     4, ""},
    {"a file compressed by gzip", "\x1f\x8b", 2, ""},
    {"a file compressed by zstd", "\x28\xb5\x2f\xfd", 4, ""},
    {"a file compressed by xz",
     "\xfd"
     "7zXZ\0",
     6, ""},
    {"a simpletrace file", "\xff\xff\xff\xff\xff\xff\xff\xff", 8,
     "; read it with guesttrace simpletrace"},
};

static size_t find(const void *first, size_t n)
{
    size_t i = 0;
    while (i < G_N_ELEMENTS(kinds) &&
           (n < kinds[i].n || memcmp(first, kinds[i].bytes, kinds[i].n) != 0))
        i++;
    return i;
}

const char *gt_file_kind(const void *first, size_t n)
{
    const size_t i = find(first, n);
    return i < G_N_ELEMENTS(kinds) ? kinds[i].name : NULL;
}

const char *gt_file_kind_hint(const void *first, size_t n)
{
    const size_t i = find(first, n);
    return i < G_N_ELEMENTS(kinds) ? kinds[i].hint : "";
}

bool gt_file_kind_is_text(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        if (at[i] < ' ' && !(at[i] >= '\a' && at[i] <= '\r') && at[i] != 0x1b)
            return false;
    return true;
}

/* ---- refusing ------------------------------------------------------------------------------ */

static int refuse(const char *name, const char *kind, const char *expected, const char *hint,
                  struct gt_error *err)
{
    if (g_str_has_prefix(expected, kind))
        return GT_E_FORMAT;
    return gt_error_set(err, GT_E_FORMAT, "%s: %s, expected %s%s", name, kind, expected, hint);
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
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (n < kinds[i].n && memcmp(first, kinds[i].bytes, n) == 0)
            return true;
    return false;
}

int gt_file_kind_check(const char *name, const void *first, size_t n, const char *expected,
                       struct gt_error *err)
{
    const char *kind = gt_file_kind(first, n), *hint = gt_file_kind_hint(first, n);
    if (n == 0)
        kind = "empty";
    else if (!kind && !may_be_any(first, n) && gt_file_kind_is_text(first, n)) {
        const bool log = is_log(first, n);
        kind = log ? "an execlog log, as text" : "a text";
        hint = log ? "; read it with guesttrace diff" : "";
    }
    if (!kind || g_str_has_prefix(expected, kind))
        return 0;
    return refuse(name, kind, expected, hint, err);
}

bool gt_file_kind_is_recording(const char *folder)
{
    g_autofree char *tasks = g_build_filename(folder, "task.txt", NULL);
    uint32_t *tids = NULL;
    const int64_t n = gt_uftrace_dat_list(folder, &tids, NULL);
    free(tids);
    return n > 0 || g_file_test(tasks, G_FILE_TEST_EXISTS);
}

int gt_file_kind_refuse(const char *path, const char *expected, struct gt_error *err)
{
    char first[GT_FILE_KIND_BYTES];
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        const bool recording = gt_file_kind_is_recording(path);
        return refuse(path, recording ? "a uftrace directory" : "a folder that is no recording",
                      expected, recording ? "; read it with guesttrace report" : "", err);
    }
    FILE *f = fopen(path, "re");
    if (!f)
        return GT_E_FORMAT;
    const size_t n = fread(first, 1, sizeof first, f);
    fclose(f);
    const char *kind = gt_file_kind(first, n);
    if (kind && g_str_has_prefix(expected, kind))
        return GT_E_FORMAT;
    if (gt_file_kind_check(path, first, n, expected, err) == 0)
        return refuse(path, "of an unknown type", expected, "", err);
    return GT_E_FORMAT;
}

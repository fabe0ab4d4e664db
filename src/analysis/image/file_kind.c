/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects the type of a file: see file_kind.h. */
#include "analysis/image/file_kind.h"

#include <glib.h>
#include <string.h>

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

const char *gt_image_file_kind(const void *first, size_t n)
{
    const size_t i = find(first, n);
    return i < G_N_ELEMENTS(kinds) ? kinds[i].name : NULL;
}

const char *gt_image_file_hint(const void *first, size_t n)
{
    const size_t i = find(first, n);
    return i < G_N_ELEMENTS(kinds) ? kinds[i].hint : "";
}

bool gt_image_file_is_text(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        if (at[i] < ' ' && !(at[i] >= '\a' && at[i] <= '\r') && at[i] != 0x1b)
            return false;
    return true;
}

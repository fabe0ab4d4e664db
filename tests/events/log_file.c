/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See log_file.h. */
#include "log_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

bool log_file_line(const char *line, int *key, uint64_t *number)
{
    const char *at = strstr(line, "hm_two ");
    int end = -1;
    bool prefixed = at && at > line && at[-1] == ':';
    return at && (at == line || prefixed) &&
           sscanf(at, "hm_two a %d b %lu%n", key, number, &end) == 2 && !strcmp(at + end, "\n");
}

struct log_file log_file_read(const char *path)
{
    struct log_file l = {0};
    char line[256];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        int key = -1;
        uint64_t number;
        assert_false(l.cut);
        l.cut = !strchr(line, '\n');
        if (l.cut)
            continue;
        if (!log_file_line(line, &key, &number) || key < 0 || key >= LOG_FILE_KEYS ||
            number != l.next[key])
            fail_msg("%s:%zu: %s", path, l.lines + 1, line);
        l.lines++;
        l.next[key]++;
    }
    fclose(f);
    return l;
}

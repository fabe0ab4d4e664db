/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a log of hm_two events, and checks that each key's numbers are one after the other. */
#ifndef LOG_FILE_H
#define LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOG_FILE_KEYS = 16 };

struct log_file {
    uint64_t next[LOG_FILE_KEYS]; /* of each key: how many there were */
    size_t lines;
    bool cut; /* the last line is not whole */
};
struct log_file log_file_read(const char *path);

/* The arguments of a line, behind a prefix or not. False: it is none. */
bool log_file_line(const char *line, int *key, uint64_t *number);

#endif

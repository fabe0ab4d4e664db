/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Splitting a recording while it is recorded: when FILE is big or old enough it becomes
 * FILE.NUMBER, and an empty one, the next part, replaces it (set.h). One process does that, with
 * the file locked. The others see it when their next block begins: what they have begun to pack
 * belongs to the part that they began it in. So that a part is finished after that, each holds a
 * shared lock on the file (of fcntl: F_OFD_SETLK) while it has a block in work.
 */
#ifndef GT_CALLS_FILE_SPLIT_H
#define GT_CALLS_FILE_SPLIT_H

#include "calls/file/set.h"

/* What --split and --size-limit say; {0}: nothing. */
struct gt_compact_limits {
    uint64_t bytes, time; /* of a part; 0, 0: the recording is in one file */
    /* Of the whole recording: where it has parts the oldest are removed, else it ends. 0: none. */
    uint64_t total;
};
/* The least that a part or a recording may be limited to. */
#define GT_COMPACT_SPLIT_LEAST (64ull << 10)
#define GT_COMPACT_LIMIT_PARTS 4 /* a limit is that many parts at least */

static inline bool gt_compact_limits_split(const struct gt_compact_limits *l)
{
    return l->bytes || l->time;
}

/* "64M" (K, M, G: powers of 1024), or "10s" (ms, s, min): then ns. GT_E_USAGE; GT_E_RANGE: it is
 * too much, *is_time is set. */
int gt_compact_amount_parse(const char *text, uint64_t *value, bool *is_time);
/* What the two options say; NULL: not given. Where there are parts and a limit, a part has a size
 * in any case. GT_E_USAGE: err begins with the option that is wrong: "split 1x: expected ...". */
int gt_compact_limits_parse(const char *split, const char *limit, struct gt_compact_limits *out,
                            struct gt_error *err);

/* A process's place in a recording. */
struct gt_compact_split {
    struct gt_compact_limits limits;
    const char *file, *dir;      /* the newest part; the working directory */
    struct gt_compact_part part; /* which the open file is; number 0: of no set */
    uint64_t since;              /* when it was opened, monotonic ns */
    uint64_t failed;             /* times that the file could not be split */
    int error;                   /* of the last time, an errno value */
};

/* Opens the newest part, to add to it: a descriptor, or -1 and errno. */
int gt_compact_split_open(struct gt_compact_split *s);
/* A block begins in the file: it is not finished before gt_compact_split_leave(). False: it is not
 * the newest part any more. */
bool gt_compact_split_enter(const struct gt_compact_split *s, int fd);
void gt_compact_split_leave(int fd);
/* With the file locked, after a block of that size was added: begins the next part where it is time
 * to. True: it has, and the file has its own name. Where it cannot, the recording goes on. */
bool gt_compact_split_turn(struct gt_compact_split *s, int fd, uint64_t size);

#endif

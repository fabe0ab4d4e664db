/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values between the records of a TID.dat: arguments and results of calls that uftrace recorded.
 *
 * A record with `more` is followed by them, and only the function's argument specification says how
 * many bytes they have. Where there is none, they end at the first place where a record stands that
 * fits the open calls. Times do not fall, entries have the present depth, exits are the innermost
 * call's, another record follows; so hardly any value looks like one.
 */
#ifndef GT_RECORDING_DIRECTORY_SKIPPED_H
#define GT_RECORDING_DIRECTORY_SKIPPED_H

#include "recording/directory/uftrace.h"
#include "recording/values/payload.h"

enum { GT_SKIPPED_MOST = 4096 }; /* bytes of values */

/* The open calls. Depths are the records', modulo 1024. { 0 } at the beginning of a file. */
struct gt_uftrace_skipped {
    uint32_t depth;
    uint64_t address[GT_UFTRACE_DEPTH_MASK + 1]; /* 0: not known */
};

static inline bool gt_uftrace_skipped_follow(uint64_t word)
{
    return word >> 2 & 1;
}

/* Notes a record. */
static inline void gt_uftrace_skipped_note(struct gt_uftrace_skipped *v, uint64_t word)
{
    const uint32_t depth = (uint32_t)(word >> 6) & GT_UFTRACE_DEPTH_MASK;
    if ((word & 3) == GT_UFTRACE_ENTRY) {
        v->address[depth] = word >> 16;
        v->depth = (depth + 1) & GT_UFTRACE_DEPTH_MASK;
    } else if ((word & 3) == GT_UFTRACE_EXIT) {
        v->depth = depth;
    }
}

/* The bytes that the values have, which begin at `data`, `left` bytes before the file's end; `time`
 * is that of their record, which has been noted. SIZE_MAX: no record follows. */
size_t gt_uftrace_skipped_size(const struct gt_uftrace_skipped *v, const uint8_t *data, size_t left,
                               uint64_t time);

/* The same by the spec of the record's function (NULL: unknown); the values are in *list,
 * whose n is 0 where it has none, or what follows by it is not a record. */
size_t gt_uftrace_skipped_take(const struct gt_uftrace_skipped *v, const struct gt_value_spec *spec,
                               const struct gt_uftrace_record *r, const uint8_t *data, size_t left,
                               struct gt_value_list *list);

/* What a file with values has. */
struct gt_uftrace_skipped_scan {
    uint64_t records, last; /* the last one's time */
    size_t whole;           /* bytes of whole records with their values */
};
/* Who scans a file: says what values the record of a call has (NULL: it does not know), and is
 * given each record (NULL: it does not want them). Below 0 ends the scan. */
struct gt_uftrace_skipped_known {
    const struct gt_value_spec *(*spec)(void *self, uint64_t time, uint64_t word);
    int (*record)(void *self, uint64_t time, uint64_t word);
    void *self;
};
void gt_uftrace_skipped_scan(const uint8_t *data, size_t size,
                             const struct gt_uftrace_skipped_known *known,
                             struct gt_uftrace_skipped_scan *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to recording/: the TID.dat files of a directory on their way into a compact file, in
 * order of time. */
#ifndef GT_CALLS_REPAIR_PACK_SOURCES_H
#define GT_CALLS_REPAIR_PACK_SOURCES_H

#include "base/error.h"
#include "calls/file/compact.h"

struct gt_calls;
struct gt_repair_pack_values;

/* A TID.dat that is mapped, with records left. */
struct gt_repair_pack_source {
    uint32_t tid;
    const uint8_t *data;
    size_t size;
    size_t at;                            /* offset of the next record */
    struct gt_repair_pack_values *values; /* NULL: none have come */
};

struct gt_repair_pack_sources {
    const char *dir; /* the caller's */
    struct gt_repair_pack_source
        *source; /* a heap: the one whose next record is the earliest is first */
    size_t n;
    struct gt_calls *calls; /* what values are; NULL: none have come */
    uint64_t left_out;      /* records whose values are left out, and the first of them */
    uint32_t left_out_tid;
    size_t left_out_at;
};

/* Maps them. GT_E_IO, GT_E_NOT_FOUND. Also after an error: gt_repair_pack_sources_close. */
int gt_repair_pack_sources_open(struct gt_repair_pack_sources *s, const char *dir,
                                struct gt_error *err);
void gt_repair_pack_sources_close(struct gt_repair_pack_sources *s);

/* The time of a source's next record; UINT64_MAX: there is none. */
uint64_t gt_repair_pack_source_time(const struct gt_repair_pack_source *s);
/* The time before which the first source is the earliest. */
uint64_t gt_repair_pack_sources_others(const struct gt_repair_pack_sources *s);
/* True where the first source's next record may have values. */
bool gt_repair_pack_sources_valued(const struct gt_repair_pack_sources *s);
/* Takes the first source's next record and its values; list->n is 0 where it has none, or nothing
 * says what they are. 1; 0: the source has ended. GT_E_FORMAT: the file is damaged; errors
 * of gt_calls_open. */
int gt_repair_pack_sources_take(struct gt_repair_pack_sources *s, struct gt_compact_record *r,
                                struct gt_value_list *list, struct gt_error *err);
/* The first source's last record that was taken: its values are left out. */
void gt_repair_pack_sources_leave_out(struct gt_repair_pack_sources *s, size_t at);
/* After records were taken: the earliest source is the first again. GT_E_FORMAT: the first one ends
 * with a part of a record. */
int gt_repair_pack_sources_order(struct gt_repair_pack_sources *s, struct gt_error *err);

/* Calls `put` with the longest file's records, without their values, until it returns below 0. */
void gt_repair_pack_sources_try(const struct gt_repair_pack_sources *s,
                                int (*put)(void *self, uint64_t time, uint64_t word), void *self);
/* Reports the omissions. */
void gt_repair_pack_sources_report(const struct gt_repair_pack_sources *s,
                                   const struct gt_error_notices *notices);

#endif

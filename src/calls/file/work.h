/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The working directory of a compact file, beside it. It is there while the file is
 * recorded or changed, and after a kill: a uftrace directory without TID.dat, which has the present
 * text files, the pools of records (".guesttrace-PID.ring") and the packers' files (writer.h). The
 * file itself has the texts gathered last. A file without such a directory is complete.
 *
 * A flight recorder's directory (flight.h) has rings in place of what the file would have: the file
 * is made with a snapshot. The first one has its name, later ones FILE.1, FILE.2 ...: the first
 * that is free, as nothing is ever overwritten.
 *
 * The parts of a split recording (set.h) have the directory of the newest one, FILE.
 *
 * Processes that record into the file share the directory's lock (recording/texts/dir_lock.h). The
 * last one gathers the text files into the file, and removes the directory.
 */
#ifndef GT_CALLS_FILE_WORK_H
#define GT_CALLS_FILE_WORK_H

#include "base/error.h"
#include "base/stream/stream.h"
#include "calls/file/flight.h"
#include "recording/directory/dir.h"

#define GT_COMPACT_WORK_ENDING ".parts"

struct gt_compact_work {
    char file[4000]; /* absolute */
    struct gt_uftrace_dir dir;
    int lock;       /* a descriptor: the directory is used; -1: it is not */
    bool made;      /* the directory was made of the file, by this handle */
    bool restored;  /* the newest part was missing: this handle has made an empty one */
    bool flight;    /* it is a flight recorder's */
    uint64_t limit; /* bytes that a file of no set may have, with its text files; 0: any */
    /* Of such a one that gt_compact_work_open has opened: the file in the directory that becomes
     * the last snapshot, then that one. "": there is none. */
    char snapshot[4200];
    int64_t recovered, records; /* then: of pools, and of all */
};

/* Sets the two names, whether they exist or not. GT_E_RANGE: the path is too long; GT_E_NOT_FOUND,
 * GT_E_IO: the folder that it would be in. */
int gt_compact_work_name(const char *path, struct gt_compact_work *out, struct gt_error *err);
/* True if the directory is there: the recording goes on, or was interrupted. */
bool gt_compact_work_exists(const struct gt_compact_work *w);

/* Checks that a recording may be made at the path, without changing anything: nothing is there, or
 * a compact recording, which would be moved to PATH.old (and an older one there removed).
 * GT_E_EXISTS, GT_E_BUSY (it is being recorded or changed) and errors of gt_compact_work_name. */
int gt_compact_work_check(const char *path, struct gt_error *err);

/* Checks that a file which is complete may replace the one that is there: GT_E_BUSY: that is being
 * recorded or changed, or was interrupted. */
int gt_compact_work_check_replace(const char *path, struct gt_error *err);

/* Makes an empty file and its directory, and uses it. Errors of gt_compact_work_check,
 * gt_compact_file_create and gt_file_make_dir. */
int gt_compact_work_create(const char *path, struct gt_compact_work *out, struct gt_error *err);
/* The same for a flight recorder: without a file. Also errors of gt_compact_flight_write. */
int gt_compact_work_create_flight(const char *path, const struct gt_compact_flight_limit *limit,
                                  struct gt_compact_work *out, struct gt_error *err);
/* The same for a file that is there, with the directory that is there as well, or one that is made
 * of the file. `alone`: no other process records into it or changes it meanwhile, else GT_E_BUSY;
 * not `alone`: only text files may be changed. Damage is reported. Where the newest part of a set
 * is missing an empty one is made, of the texts that the others have. A flight recorder's whose
 * processes have ended makes its last snapshot: see struct gt_compact_work.snapshot; that is always
 * alone. Errors of gt_compact_scatter and gt_compact_work_name. */
int gt_compact_work_open(const char *path, bool alone, const struct gt_error_notices *notices,
                         struct gt_compact_work *out, struct gt_error *err);
/* The same as gt_compact_work_check and gt_compact_work_create for a recording that may be split
 * (split.h): it is the first part of a new set. GT_E_EXISTS: also where a file has the name of a
 * part. */
int gt_compact_work_check_set(const char *path, struct gt_error *err);
int gt_compact_work_create_set(const char *path, uint64_t limit, struct gt_compact_work *out,
                               struct gt_error *err);
/* Finishes a part: waits for the blocks that are begun in it, and gathers the present text files
 * into it. Recording goes on meanwhile. Errors of gt_compact_gather. */
int gt_compact_work_finish_part(const struct gt_compact_work *w, uint32_t number,
                                struct gt_error *err);
/* Uses the directory, for another process. GT_E_IO, GT_E_NOT_FOUND. */
int gt_compact_work_enter(struct gt_compact_work *w, struct gt_error *err);

/* True if no other process uses the directory, nor is about to go on after an execve(): then none
 * can until the handle is closed. False: the handle does not use it any more either. */
bool gt_compact_work_is_last(struct gt_compact_work *w);
/* Takes what pools of killed processes have into the file: how many records; *missing, which
 * may be NULL, is added to. Errors of gt_streams_recover_packed; GT_E_NOMEM. */
int64_t gt_compact_work_recover(const struct gt_compact_work *w, struct gt_streams_missing *missing,
                                struct gt_error *err);
/* After gt_compact_work_is_last: takes what pools have, gathers the text files into the file, and
 * removes the directory. It stays where a pool does (a process is being killed), or after an error;
 * then another call continues. Errors of gt_compact_work_recover, gt_compact_gather and
 * gt_file_remove_dir. */
int gt_compact_work_gather(const struct gt_compact_work *w, struct gt_error *err);
/* A flight recorder's: makes a complete file of what the rings have now, and the text files. `name`
 * is that of a file beside FILE; NULL: the next one. *path has `room` bytes for its path; NULL: not
 * wanted. The rings stay, their processes go on. After an error nothing is left of it. Returns the
 * number of records; 0: there are none, and no file. GT_E_USAGE: no such name; GT_E_EXISTS: it is
 * there; errors of gt_compact_flight_copy and gt_compact_gather. */
int64_t gt_compact_work_snapshot(const struct gt_compact_work *w, const char *name, char *path,
                                 size_t room, struct gt_error *err);
/* A flight recorder's, after gt_compact_work_is_last: a last snapshot with what pools have too, in
 * which its path is (where `take`), and the directory is removed. Returns its number of records.
 * Errors of gt_compact_work_recover and gt_compact_work_snapshot: the directory stays. */
int64_t gt_compact_work_end_flight(struct gt_compact_work *w, bool take, struct gt_error *err);
/* Closes the handle; the directory stays. */
void gt_compact_work_leave(struct gt_compact_work *w);
/* The handle's end for one that has changed text files or not: the last one gathers. Errors of
 * gt_compact_work_gather. */
int gt_compact_work_close(struct gt_compact_work *w, bool changed, struct gt_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces of a recording: which function stands at an address.
 *
 * A space is the map of a session (sid-SID.map) with the libraries that were loaded up to some
 * time: each DLOP line makes a further one. Spaces have dense numbers; a map's follow each
 * other.
 *
 * A function is a symbol of a module or, where there is none, an address. It has one index, in
 * whatever space it was met. Functions are looked up from any thread; a function's index and its
 * place in memory stay.
 */
#ifndef GT_CALLS_READ_SPACES_H
#define GT_CALLS_READ_SPACES_H

#include "calls/read/calls.h"
#include "calls/read/texts.h"

struct gt_calls_spaces;

/* A library that was loaded after the map was written. */
struct gt_calls_spaces_library {
    uint64_t time, base;
    const char *path;
};

/* `relative`: addresses in symbol files are relative to their module. The texts must outlive it. */
struct gt_calls_spaces *gt_calls_spaces_create(const struct gt_calls_texts *texts, bool relative,
                                               const struct gt_error_notices *notices);
void gt_calls_spaces_destroy(struct gt_calls_spaces *s); /* NULL is fine */

/* ---- while the recording is opened ---------------------------------------------------------- */

/* Map 0 has nothing: that of tasks without a session. */

/* The map of a session, read once; its number. GT_E_FORMAT, GT_E_IO, GT_E_NOMEM. A map that is not
 * there is empty. */
int64_t gt_calls_spaces_add_map(struct gt_calls_spaces *s, const char *sid, struct gt_error *err);
/* A library of a map; in any order. */
void gt_calls_spaces_add_library(struct gt_calls_spaces *s, size_t map, uint64_t time,
                                 uint64_t base, const char *path);
/* All maps and libraries have been added: spaces have their numbers. */
void gt_calls_spaces_number(struct gt_calls_spaces *s);

/* ---- afterwards ----------------------------------------------------------------------------- */

size_t gt_calls_spaces_count(const struct gt_calls_spaces *s);
/* The space that a map is at the time; *until: the first time at which it is another one
 * (UINT64_MAX: never). */
uint32_t gt_calls_spaces_at(const struct gt_calls_spaces *s, size_t map, uint64_t time,
                            uint64_t *until);

/* Reads the symbols of all modules, which else are read when they are needed. */
void gt_calls_spaces_read_symbols(struct gt_calls_spaces *s);

/* The map that a space is of. */
size_t gt_calls_spaces_map(const struct gt_calls_spaces *s, uint32_t space);

/* The function at an address of 48 bits in a space. UINT32_MAX: no memory. */
uint32_t gt_calls_spaces_resolve(struct gt_calls_spaces *s, uint32_t space, uint64_t address);
size_t gt_calls_spaces_n_functions(const struct gt_calls_spaces *s);
const struct gt_calls_function *gt_calls_spaces_function(const struct gt_calls_spaces *s,
                                                         uint32_t index);

#endif

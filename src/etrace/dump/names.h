/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Function names for the addresses of an etrace stream, from files: where these ran, and their
 * functions. */
#ifndef GT_ETRACE_DUMP_NAMES_H
#define GT_ETRACE_DUMP_NAMES_H

#include "base/error.h"
#include "etrace/format/etrace.h"
#include "etrace/format/mapping.h"
#include "names/image/demangle.h"
#include "names/placement/locate.h"
#include "recording/input.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds where the programs of an etrace stream ran.
 *
 * A file with an OFFSET ran there, and a file that is linked for an address ran at it. For others
 * (position-independent programs and libraries, kernels and their modules) the whole stream is read
 * once: its notes of mapped files (etrace/format/mapping.h) have the addresses in a user-mode
 * guest, matched by build-id, else by name; without such notes the load offset is searched as in
 * `symbols` (locate.h), with the addresses that were jumped to. A kernel that is not found ran at
 * its link address.
 */

/* Adds the places of the n sources to *out. *in is open, and is at its start before and after.
 * Input that is not a regular file is copied to a temporary file; with `live` it is not, and
 * sources that must be searched have no place yet. Each result is a notice. Returns the number of
 * sources that were not found; 0 with `live`. GT_E_IO, GT_E_NOMEM; GT_E_RANGE: an OFFSET is
 * impossible. *out needs gt_places_free in any case. */
int gt_etrace_places_find(const struct gt_error_notices *notices, struct gt_recording_input *in,
                          bool live, const struct gt_image_symbol_source *source, size_t n,
                          struct gt_places *out, struct gt_error *err);

/* If the note's file is the source, the source must be searched, and *places does not have this
 * place yet: adds it as the last one and returns true. */
bool gt_etrace_place_mapped(struct gt_places *places, const struct gt_image_symbol_source *source,
                            const struct gt_etrace_mapping *m);
/* True if the source must be searched. */
bool gt_etrace_place_is_open(const struct gt_image_symbol_source *source);
void gt_etrace_place_report(const struct gt_error_notices *notices, const struct gt_place *place);

enum { GT_ETRACE_NAMES_CACHE = 1 << 15 };

struct gt_etrace_name {
    uint64_t addr;
    const char *name; /* "": unknown */
    size_t len;
};

struct gt_etrace_names {
    struct gt_image_symbol_source *source;
    size_t n;
    struct gt_places places;              /* places of the sources */
    struct gt_image_demangler *demangler; /* NULL: names stay mangled */
    struct gt_etrace_name *cache;         /* recent lookups, by address; NULL: no files */
    size_t missing; /* sources without a place, for which a notice was given */
    bool any;       /* at least one address had a name */
};

/* Loads files; arguments as in names/image/symbol_source.h, NULL: none. Call
 * gt_etrace_names_free in any case. Errors of gt_image_symbol_source_load. */
int gt_etrace_names_load(struct gt_etrace_names *out, const GPtrArray *arguments, bool demangle,
                         struct gt_error *err);
/* Finds where the files ran; arguments and errors as gt_etrace_places_find. GT_E_NOT_FOUND: no file
 * has a place. */
int gt_etrace_names_locate(struct gt_etrace_names *names, const struct gt_error_notices *notices,
                           struct gt_recording_input *in, bool live, struct gt_error *err);
/* Takes a note of a live stream: if it is the mapping of a source, this is the source's place from
 * now on. */
void gt_etrace_names_note(struct gt_etrace_names *names, const struct gt_error_notices *notices,
                          const struct gt_etrace_note *note);
/* Call this after a stream with entries was read. GT_E_NOT_FOUND: files were given, but none of the
 * code that ran is in them. */
int gt_etrace_names_check(const struct gt_etrace_names *names, const char *stream,
                          struct gt_error *err);
void gt_etrace_names_free(struct gt_etrace_names *names);

/* Returns the name of the function that contains the address, the same pointer for all its
 * addresses; NULL: none. If two files cover the address, the first one is used. *begins: the
 * function begins at the address. */
const char *gt_etrace_names_find(struct gt_etrace_names *names, uint64_t addr, bool *begins);

/* private: the slow path of gt_etrace_names_at, which searches the files */
void gt_etrace_names_look(struct gt_etrace_names *names, uint64_t addr,
                          struct gt_etrace_name *kept);

/* Returns the function that contains the address; valid until the next call. names->n must not be
 * 0. */
static inline const struct gt_etrace_name *gt_etrace_names_at(struct gt_etrace_names *names,
                                                              uint64_t addr)
{
    uint64_t slot = (addr * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    struct gt_etrace_name *kept = &names->cache[slot % GT_ETRACE_NAMES_CACHE];
    if (kept->addr != addr || !kept->name)
        gt_etrace_names_look(names, addr, kept);
    return kept;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Function names for the addresses of an etrace stream, from files whose places are known. */
#ifndef GT_ETRACE_DUMP_NAMES_H
#define GT_ETRACE_DUMP_NAMES_H

#include "etrace/dump/mappings.h"
#include "names/image/demangle.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_ETRACE_NAMES_CACHE = 1 << 15 };

struct gt_etrace_name {
    uint64_t addr;
    const char *name; /* "": unknown */
    size_t len;
};

struct gt_etrace_names {
    struct gt_symbol_source *source;
    size_t n;
    struct gt_places places;        /* places of the sources */
    struct gt_demangler *demangler; /* NULL: names stay mangled */
    struct gt_etrace_name *cache;   /* recent lookups, by address; NULL: no files */
    size_t missing;                 /* sources without a place, for which a notice was given */
    bool any;                       /* at least one address had a name */
};

/* Loads files; arguments as in names/image/symbol_source.h, NULL: none. Call
 * gt_etrace_names_free in any case. Errors of gt_symbol_source_load. */
int gt_etrace_names_load(struct gt_etrace_names *out, const GPtrArray *arguments, bool demangle,
                         struct gt_error *err);
/* Finds where the files ran; arguments and errors as gt_etrace_places_find. GT_E_NOT_FOUND: no file
 * has a place. */
int gt_etrace_names_locate(struct gt_etrace_names *names, const struct gt_notices *notices,
                           struct gt_input *in, bool live, struct gt_error *err);
/* Takes a note of a live stream: if it is the mapping of a source, this is the source's place from
 * now on. */
void gt_etrace_names_note(struct gt_etrace_names *names, const struct gt_notices *notices,
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions' names for the addresses of an etrace stream, from files and where they ran. */
#ifndef GT_ANALYSIS_STREAM_NAMES_H
#define GT_ANALYSIS_STREAM_NAMES_H

#include "analysis/image/demangle.h"
#include "analysis/placement/mappings.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_ETRACE_NAMES_CACHE = 1 << 15 };

struct gt_etrace_name {
    uint64_t addr;
    const char *name; /* "" where none is known */
    size_t len;
};

struct gt_etrace_names {
    struct gt_symbol_source *source;
    size_t n;
    struct gt_places places;        /* of the sources */
    struct gt_demangler *demangler; /* NULL: names as the linker knows them */
    struct gt_etrace_name *cache;   /* what was looked up last, by address; NULL: no files */
    size_t missing;                 /* sources without a place, which was told */
    bool any;                       /* some address had a name */
};

/* Arguments as analysis/image/symbol_source.h takes them, NULL: none; `demangle`: names as the
 * source has them. *out needs gt_etrace_names_free in any case. Errors of gt_symbol_source_load. */
int gt_etrace_names_load(struct gt_etrace_names *out, const GPtrArray *arguments, bool demangle,
                         struct gt_error *err);
/* Where they ran; arguments and errors as gt_etrace_places_find has them. GT_E_NOT_FOUND: none of
 * them has a place. */
int gt_etrace_names_locate(struct gt_etrace_names *names, const struct gt_notices *notices,
                           struct gt_etrace_input *in, bool live, struct gt_error *err);
/* A note of a live stream: where it names one of the sources, that is its place from now on. */
void gt_etrace_names_note(struct gt_etrace_names *names, const struct gt_notices *notices,
                          const struct gt_etrace_note *note);
/* The stream, which had entries, is read: GT_E_NOT_FOUND where files were given and nothing that
 * ran has a name from them. */
int gt_etrace_names_check(const struct gt_etrace_names *names, const char *stream,
                          struct gt_error *err);
void gt_etrace_names_free(struct gt_etrace_names *names);

/* The name of the function that has the address, where two files cover it of the first one's, the
 * same pointer for all of its addresses, and whether it begins there; NULL: none. */
const char *gt_etrace_names_find(struct gt_etrace_names *names, uint64_t addr, bool *begins);

/* private: looks in the files and keeps what it finds */
void gt_etrace_names_look(struct gt_etrace_names *names, uint64_t addr,
                          struct gt_etrace_name *kept);

/* The function that the code at the address belongs to; valid until the next call. names->n > 0. */
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

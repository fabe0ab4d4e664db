/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the code of sources ran in a recorded machine.
 *
 * A part whose OFFSET was given is there and nowhere else. Otherwise, in this order: the places
 * that the plugin recognised while the machine ran (DIR/code.found by way of DIR/code.map); where
 * it is linked, for what does not have to be searched for; where the recorded entries say
 * (load_offset.h). Code that moves itself has further places: a boot loader's copy, a kernel before
 * its MMU is on. They are found in what the first one leaves unexplained, and cover no more than
 * was entered there. What other parts explain is not searched: a part never gets another's entries.
 *
 * Only modules of a kernel that were recognised may have had the same place, one after the other:
 * overlap.h.
 */
#ifndef GT_ANALYSIS_PLACEMENT_LOCATE_H
#define GT_ANALYSIS_PLACEMENT_LOCATE_H

#include "analysis/image/symbol_source.h"
#include "analysis/placement/load_offset.h"
#include "analysis/placement/matches.h"

struct gt_tenants;

struct gt_place {
    const struct gt_symbol_source *source;
    const struct gt_source_part *part;
    uint64_t offset;      /* link address + offset = where it ran; sign-extended from 48 bits */
    uint64_t lo, hi;      /* the link addresses that ran there */
    uint64_t start, end;  /* the same as guest addresses, 48 bits */
    bool found;           /* not given: found in what was recorded */
    bool further;         /* not the part's first */
    size_t hits, entered; /* functions of it that were entered there; what else was, too */
    uint64_t *seen;       /* link addresses of functions that the plugin saw there, n_seen */
    size_t n_seen;
    struct gt_tenants *tenants; /* not NULL: the part is made of several */
};

struct gt_places {
    struct gt_place *place; /* those of a part follow one another */
    size_t n;
};

/* Places for all parts of the n sources. *out is the caller's, to be given to gt_places_free.
 * why[i] (n of them) is set where source i has no place: GT_E_NOT_FOUND or GT_E_EXISTS (another's
 * code is there). GT_E_EXISTS: two whose OFFSET was given overlap; GT_E_NOT_FOUND, GT_E_IO,
 * GT_E_NOMEM: the recording cannot be read. */
int gt_locate(const char *dir, const struct gt_symbol_source *source, size_t n,
              struct gt_places *out, struct gt_error *why, struct gt_error *err);
/* The same of entries that are there already, which are used up: *entries is freed. found: places
 * that are known, which come first. */
int gt_locate_entries(struct gt_entries *entries, const struct gt_matches *found,
                      const struct gt_symbol_source *source, size_t n, struct gt_places *out,
                      struct gt_error *why, struct gt_error *err);
void gt_places_free(struct gt_places *p);

/* All of the part at that offset. */
struct gt_place gt_place_whole(const struct gt_symbol_source *source,
                               const struct gt_source_part *part, uint64_t offset);
/* Makes it a further place, of no more than was entered: from the page of the first function to the
 * end of the last. */
void gt_place_trim(struct gt_place *p, const struct gt_vote *v);

/* "FILE: N functions at START-END", and where it was found how: ", KASLR offset 0x...", ", offset
 * 0x...", ", loaded at 0x...". Of a further place N are those that were called. The caller frees it
 * (g_free). */
char *gt_place_text(const struct gt_place *place);

#endif

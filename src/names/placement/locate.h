/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds where the code of sources ran in a recorded machine.
 *
 * A part with an OFFSET is there and nowhere else. For others the places are, in this order: those
 * that the plugin recognised while the machine ran (DIR/code.found with DIR/code.map); the link
 * address, for code that need not be searched; the result of load_offset.h for the recorded
 * entries. Code that moves itself has further places: a boot loader's copy, a kernel before its MMU
 * is on. They are found in the entries that the first place does not explain, and cover only the
 * code that was entered there. Entries that other parts explain are not searched.
 *
 * Only recognised modules of a kernel may overlap, since they may be loaded one after the other:
 * their places are merged.
 */
#ifndef GT_NAMES_PLACEMENT_LOCATE_H
#define GT_NAMES_PLACEMENT_LOCATE_H

#include "names/image/symbol_source.h"
#include "names/placement/load_offset.h"
#include "recording/code_map/code_map.h"

/* The code that the plugin recognised while a machine ran: DIR/code.found
 * (recording/texts/code_found.h). */

struct gt_place_matches {
    struct gt_recording_code_map map;
    struct gt_place_match {
        size_t module; /* a valid index into the map's modules */
        uint64_t offset;
        uint64_t *seen; /* link addresses of functions that were seen */
        size_t n_seen;
    } * item;
    size_t n;
};

/* Reads DIR/code.map and DIR/code.found. If one is missing *out is empty; if one is damaged *out
 * has the part before the damage. *out needs gt_place_matches_free. */
void gt_place_matches_read(const char *dir, struct gt_place_matches *out);
/* The same of two files, wherever they are. */
void gt_place_matches_read_files(const char *map, const char *found, struct gt_place_matches *out);
/* True if the item's module has that path. */
bool gt_place_matches_is(const struct gt_place_matches *f, size_t item, const char *path);
void gt_place_matches_free(struct gt_place_matches *f);

struct gt_place_overlap;

struct gt_place {
    const struct gt_image_symbol_source *source;
    const struct gt_image_source_part *part;
    uint64_t offset; /* load offset: run-time address = link address + offset; sign-extended from 48
                        bits */
    uint64_t lo, hi; /* the range of link addresses that ran there */
    uint64_t start, end;  /* the same range as guest addresses, 48 bits */
    bool found;           /* not given, but found in the recording */
    bool further;         /* not the part's first place */
    size_t hits, entered; /* functions of the part that were entered there; all entries there */
    uint64_t *seen;       /* link addresses of functions that the plugin saw there, n_seen */
    size_t n_seen;
    struct gt_place_overlap *overlap; /* not NULL: several overlapping modules were merged */
};

struct gt_places {
    struct gt_place *place; /* places of a part are consecutive */
    size_t n;
};

/* Finds places for all parts of the n sources; the caller frees *out with gt_places_free. why[i],
 * of n, is set if source i has no place: GT_E_NOT_FOUND or GT_E_EXISTS (other code is there).
 * GT_E_EXISTS: two sources with an OFFSET overlap; GT_E_NOT_FOUND, GT_E_IO, GT_E_NOMEM: the
 * recording cannot be read. */
int gt_place_locate(const struct gt_recording_records *at,
                    const struct gt_image_symbol_source *source, size_t n, struct gt_places *out,
                    struct gt_error *why, struct gt_error *err);
/* The same with entries that were read already; *entries is freed. `found` has known places, which
 * take precedence. */
int gt_place_locate_entries(struct gt_place_entries *entries, const struct gt_place_matches *found,
                            const struct gt_image_symbol_source *source, size_t n,
                            struct gt_places *out, struct gt_error *why, struct gt_error *err);
void gt_places_free(struct gt_places *p);

/* Returns a place with the whole part at that offset. */
struct gt_place gt_place_whole(const struct gt_image_symbol_source *source,
                               const struct gt_image_source_part *part, uint64_t offset);
/* Makes it a further place, reduced to the code that was entered: from the page of the first
 * function to the end of the last. */
void gt_place_trim(struct gt_place *p, const struct gt_place_load_offset *v);

/* Returns "FILE: N functions at START-END", followed for a found place by ", KASLR offset 0x...",
 * ", offset 0x..." or ", loaded at 0x...". For a further place N is the number of functions that
 * were called. The caller frees it (g_free). */
char *gt_place_text(const struct gt_place *place);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions' names for the addresses of an etrace stream: see names.h. */
#include "etrace/dump/names.h"

#include "etrace/coverage/stream.h"
#include "names/placement/evidence.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

int gt_etrace_names_load(struct gt_etrace_names *out, const GPtrArray *arguments, bool demangle,
                         struct gt_error *err)
{
    const guint n = arguments ? arguments->len : 0;
    *out = (struct gt_etrace_names){0};
    if (!n)
        return 0;
    out->source = g_new0(struct gt_image_symbol_source, n);
    out->demangler = demangle ? gt_image_demangler_create() : NULL;
    out->cache = g_new0(struct gt_etrace_name, GT_ETRACE_NAMES_CACHE);
    for (guint i = 0; i < n; i++) {
        int status = gt_image_symbol_source_load(arguments->pdata[i], &out->source[i], err);
        if (status < 0)
            return status;
        out->n++;
    }
    return 0;
}

int gt_etrace_names_locate(struct gt_etrace_names *names, const struct gt_error_notices *notices,
                           struct gt_recording_input *in, bool live, struct gt_error *err)
{
    int status =
        gt_etrace_places_find(notices, in, live, names->source, names->n, &names->places, err);
    if (status < 0)
        return status;
    names->missing = (size_t)status;
    if (names->n && names->missing == names->n)
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: the programs' load offsets are not known",
                            in->name);
    return 0;
}

void gt_etrace_names_note(struct gt_etrace_names *names, const struct gt_error_notices *notices,
                          const struct gt_etrace_note *note)
{
    struct gt_etrace_mapping m;
    if (!names->n || !gt_etrace_mapping_get(note->text, note->len, &m))
        return;
    for (size_t i = 0; i < names->n; i++) {
        if (!gt_etrace_place_mapped(&names->places, &names->source[i], &m))
            continue;
        gt_etrace_place_report(notices, &names->places.place[names->places.n - 1]);
        memset(names->cache, 0, GT_ETRACE_NAMES_CACHE * sizeof *names->cache);
    }
}

int gt_etrace_names_check(const struct gt_etrace_names *names, const char *stream,
                          struct gt_error *err)
{
    if (!names->n || names->any)
        return 0;
    return gt_error_set(err, GT_E_NOT_FOUND,
                        "%s: no function of the files of --elf ran: give the files that ran, or "
                        "their load offsets with ELF:OFFSET",
                        stream);
}

void gt_etrace_names_free(struct gt_etrace_names *names)
{
    gt_places_free(&names->places);
    for (size_t i = 0; i < names->n; i++)
        gt_image_symbol_source_clear(&names->source[i]);
    g_free(names->source);
    gt_image_demangler_destroy(names->demangler);
    g_free(names->cache);
    *names = (struct gt_etrace_names){0};
}

const char *gt_etrace_names_find(struct gt_etrace_names *names, uint64_t addr, bool *begins)
{
    for (size_t i = 0; i < names->places.n; i++) {
        const struct gt_place *p = &names->places.place[i];
        const uint64_t linked = addr - p->offset;
        if (linked < p->lo || linked >= p->hi)
            continue;
        const struct gt_image_source_function *f = gt_image_source_part_find(p->part, linked);
        if (!f)
            continue;
        *begins = f->addr == linked;
        names->any = true;
        return gt_image_demangle(names->demangler, f->name);
    }
    return NULL;
}

void gt_etrace_names_look(struct gt_etrace_names *names, uint64_t addr, struct gt_etrace_name *kept)
{
    bool begins;
    const char *name = gt_etrace_names_find(names, addr, &begins);
    *kept = (struct gt_etrace_name){addr, name ? name : "", name ? strlen(name) : 0};
}

/* What a stream says of places. */
struct stream {
    struct gt_place_entry_set *jumps;
    struct gt_place_evidence *evidence;
    GPtrArray *mappings; /* struct gt_etrace_mapping, in their order */
};

bool gt_etrace_place_is_open(const struct gt_image_symbol_source *source)
{
    return source->part[0].searched && !source->part[0].has_offset;
}

static void add(struct gt_places *places, const struct gt_place *place)
{
    places->place = g_renew(struct gt_place, places->place, places->n + 1);
    places->place[places->n++] = *place;
}

/* ---- the stream ---------------------------------------------------------------------------- */

static int take_exec(struct stream *s, const struct gt_etrace_exec *x)
{
    struct gt_etrace_entry before = {0};
    int status = 0;
    for (size_t i = 0; i < x->n && status == 0; i++) {
        const struct gt_etrace_entry e = gt_etrace_entry_at(x, i);
        if (e.start != before.end) {
            status = gt_place_entry_set_add(s->jumps, e.start);
            gt_place_evidence_add(s->evidence, before.start, before.end, e.start);
        }
        before = e;
    }
    return status;
}

static void take_note(struct stream *s, const struct gt_etrace_note *note)
{
    struct gt_etrace_mapping m;
    if (gt_etrace_mapping_get(note->text, note->len, &m))
        g_ptr_array_add(s->mappings, g_memdup2(&m, sizeof m));
}

static int take(struct stream *s, const struct gt_etrace_reader *r,
                const struct gt_etrace_packet *p)
{
    union {
        struct gt_etrace_exec exec;
        struct gt_etrace_event event;
        struct gt_etrace_note note;
    } u;
    uint64_t start, end;
    switch (p->type) {
    case GT_ETRACE_EXEC:
        return gt_etrace_get_exec(r, p, &u.exec, NULL) == 0 ? take_exec(s, &u.exec) : 0;
    case GT_ETRACE_EVENT:
        if (gt_etrace_get_event(r, p, &u.event, NULL) == 0 &&
            gt_coverage_is_count(&u.event, &start, &end)) {
            gt_place_evidence_add(s->evidence, start, end, 0);
            return gt_place_entry_set_add(s->jumps, start);
        }
        return 0;
    case GT_ETRACE_NOTE:
        if (gt_etrace_get_note(r, p, &u.note, NULL) == 0)
            take_note(s, &u.note);
        return 0;
    default:
        return 0;
    }
}

/* Damage is reported when the stream is read for its entries. */
static int read_stream(struct gt_recording_input *in, struct stream *s, struct gt_error *err)
{
    struct gt_etrace_reader *r;
    struct gt_etrace_packet p;
    int status = gt_recording_input_keep(in, err);
    if (status == 0)
        status = gt_etrace_reader_create(gt_recording_input_read, in, in->name, &r, err);
    if (status < 0)
        return status;
    while (status == 0 && gt_etrace_next(r, &p, NULL) == 1)
        status = take(s, r, &p);
    gt_etrace_reader_destroy(r);
    if (status < 0)
        return gt_error_set(err, status, "%s: out of memory", in->name);
    return gt_recording_input_rewind(in, err);
}

/* ---- notes of mapped files ----------------------------------------------------------------- */

static bool is_same(const struct gt_image_symbol_source *s, const struct gt_etrace_mapping *m)
{
    if (s->build_id[0] && m->build_id[0])
        return strcmp(s->build_id, m->build_id) == 0;
    g_autofree char *ours = g_path_get_basename(s->file), *theirs = g_path_get_basename(m->path);
    return strcmp(ours, theirs) == 0;
}

bool gt_etrace_place_mapped(struct gt_places *places, const struct gt_image_symbol_source *source,
                            const struct gt_etrace_mapping *m)
{
    if (source->kind != GT_SOURCE_ELF || !gt_etrace_place_is_open(source) || !is_same(source, m))
        return false;
    struct gt_place place = gt_place_whole(source, &source->part[0], m->base);
    place.found = true;
    for (size_t i = 0; i < places->n; i++)
        if (places->place[i].part == place.part && places->place[i].offset == place.offset)
            return false;
    add(places, &place);
    return true;
}

/* ---- all sources --------------------------------------------------------------------------- */

/* Those that need no search. */
static void put_direct(const struct gt_image_symbol_source *source, struct gt_places *out)
{
    for (size_t k = 0; k < source->n_parts; k++) {
        const struct gt_image_source_part *p = &source->part[k];
        struct gt_place place = gt_place_whole(source, p, p->offset);
        if (!p->init) /* where a module's code of its start was is not said */
            add(out, &place);
    }
}

void gt_etrace_place_report(const struct gt_error_notices *notices, const struct gt_place *place)
{
    g_autofree char *text = gt_place_text(place);
    gt_error_notice(notices, "%s", text);
}

static void report_missing(const struct gt_error_notices *notices,
                           const struct gt_image_symbol_source *source, const struct gt_error *why)
{
    if (why->status == GT_OK)
        gt_error_notice(
            notices,
            "%s: the guest did not run it: the stream has no mapping of its %s; give the "
            "file that ran, or its load offset with %s:OFFSET",
            source->opened, source->build_id[0] ? "build-id" : "name", source->opened);
    else
        gt_error_notice(notices, "%s; give its load offset with %s:OFFSET", why->text,
                        source->opened);
}

/* Those that no note names. Returns how many of them have no place. */
static int search(const struct gt_error_notices *notices, struct stream *s,
                  const struct gt_image_symbol_source *const *source, size_t n,
                  struct gt_places *out, struct gt_error *err)
{
    static const struct gt_place_matches nothing;
    g_autofree struct gt_image_symbol_source *copy = g_new(struct gt_image_symbol_source, n);
    g_autofree struct gt_error *why = g_new0(struct gt_error, n);
    struct gt_place_entries entries;
    struct gt_places places;
    gt_place_entry_set_finish(g_steal_pointer(&s->jumps), &entries);
    entries.jumps = true;
    entries.confirm = gt_place_evidence_weigh;
    entries.self = s->evidence;
    for (size_t i = 0; i < out->n; i++)
        gt_place_entries_remove(&entries, out->place[i].start, out->place[i].end);
    for (size_t i = 0; i < n; i++) {
        copy[i] = *source[i];
        gt_place_evidence_open(s->evidence, &copy[i]);
    }
    int status = gt_place_locate_entries(&entries, &nothing, copy, n, &places, why, err);
    for (size_t i = 0; i < places.n && status == 0; i++) {
        struct gt_place place = places.place[i];
        place.source = source[place.source - copy];
        add(out, &place);
        gt_etrace_place_report(notices, &place);
    }
    g_free(places.place);
    for (size_t i = 0; i < n && status >= 0; i++) {
        if (why[i].status == GT_OK)
            continue;
        if (source[i]->kind == GT_SOURCE_KERNEL) {
            put_direct(source[i], out);
            continue;
        }
        report_missing(notices, source[i], &why[i]);
        status++;
    }
    return status;
}

/* In the stream, which has notes of mapped files or has none. Returns how many have no place. */
static int find_in(const struct gt_error_notices *notices, struct stream *s,
                   const struct gt_image_symbol_source *source, size_t n, struct gt_places *out,
                   struct gt_error *err)
{
    g_autofree const struct gt_image_symbol_source **rest =
        g_new(const struct gt_image_symbol_source *, n);
    size_t n_rest = 0;
    int missing = 0;
    for (size_t i = 0; i < n; i++) {
        size_t before = out->n;
        if (!gt_etrace_place_is_open(&source[i]))
            continue;
        if (source[i].kind != GT_SOURCE_ELF || !s->mappings->len) {
            rest[n_rest++] = &source[i];
            continue;
        }
        for (guint k = 0; k < s->mappings->len; k++)
            gt_etrace_place_mapped(out, &source[i], s->mappings->pdata[k]);
        for (size_t k = before; k < out->n; k++)
            gt_etrace_place_report(notices, &out->place[k]);
        if (out->n > before)
            continue;
        report_missing(notices, &source[i], &(struct gt_error){0});
        missing++;
    }
    int status = n_rest ? search(notices, s, rest, n_rest, out, err) : 0;
    return status < 0 ? status : status + missing;
}

int gt_etrace_places_find(const struct gt_error_notices *notices, struct gt_recording_input *in,
                          bool live, const struct gt_image_symbol_source *source, size_t n,
                          struct gt_places *out, struct gt_error *err)
{
    bool any_open = false;
    for (size_t i = 0; i < n; i++) {
        bool is_open = gt_etrace_place_is_open(&source[i]);
        any_open |= is_open;
        if (!is_open || (live && source[i].kind == GT_SOURCE_KERNEL))
            put_direct(&source[i], out);
    }
    if (!any_open || live)
        return 0;
    struct stream s = {gt_place_entry_set_create(), gt_place_evidence_create(),
                       g_ptr_array_new_with_free_func(g_free)};
    int status = s.jumps ? read_stream(in, &s, err) : gt_error_set(err, GT_E_NOMEM, "no memory");
    if (status == 0)
        status = find_in(notices, &s, source, n, out, err);
    if (s.jumps)
        gt_place_entry_set_finish(s.jumps, NULL);
    gt_place_evidence_destroy(s.evidence);
    g_ptr_array_free(s.mappings, TRUE);
    return status;
}

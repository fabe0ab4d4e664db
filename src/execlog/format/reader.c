/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A log's chunks in order: see reader.h. */
#include "execlog/format/reader.h"

#include "execlog/format/events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
    AHEAD = 256 << 10, /* bytes read at once */
    NEAR = 4 << 10,    /* the same, where others may not be wanted */
};

struct gt_execlog_reader {
    bool (*seek)(void *self, uint64_t offset); /* may be NULL */
    struct gt_execlog_about about;
    struct gt_execlog_codes *codes;
    ZSTD_DCtx *zstd;
    struct gt_bytes_refill in;
    uint32_t body;       /* bytes at hand that are the body of the chunk given last */
    bool lost;           /* the bytes at hand are not a chunk: the next one is to be looked for */
    bool whole;          /* END was given */
    uint8_t *out[2];     /* unpacked bodies: of events, of others */
    size_t room[2];      /* that those have */
    struct gt_error why; /* of the failure that nothing follows */
};

bool gt_execlog_is(const void *first, size_t n)
{
    return n >= sizeof gt_execlog_magic &&
           memcmp(first, gt_execlog_magic, sizeof gt_execlog_magic) == 0;
}

/* ---- bytes --------------------------------------------------------------------------------- */

static int no_memory(struct gt_execlog_reader *r)
{
    return gt_error_set(&r->why, GT_E_NOMEM, "%.300s: out of memory", r->in.name);
}

static int want(struct gt_execlog_reader *r, size_t n)
{
    return gt_bytes_refill_need(&r->in, n, &r->why);
}

static bool go(struct gt_execlog_reader *r, uint64_t offset)
{
    if (!r->seek || offset > INT64_MAX || !r->seek(r->in.self, offset))
        return false;
    gt_bytes_refill_restart(&r->in, offset);
    return true;
}

/* Leaves out n bytes; 1, 0: it ends before. */
static int pass(struct gt_execlog_reader *r, size_t n)
{
    size_t here = gt_bytes_refill_left(&r->in);
    if (n > here && n - here > NEAR && r->in.ahead == NEAR && go(r, r->in.offset + n))
        return 1;
    int status = want(r, n);
    if (status == 1)
        gt_bytes_refill_take(&r->in, n);
    return status;
}

static int cut_off(struct gt_execlog_reader *r, size_t whole)
{
    return gt_error_set(&r->why, GT_E_TRUNC,
                        "%.300s offset %" PRIu64
                        ": truncated: the log ends after %zu of a chunk's %zu bytes",
                        r->in.name, r->in.offset, gt_bytes_refill_left(&r->in), whole);
}

static int damaged(struct gt_execlog_reader *r, struct gt_error *err, const char *what)
{
    return gt_error_set(err, GT_E_FORMAT, "%.300s offset %" PRIu64 ": %s", r->in.name, r->in.offset,
                        what);
}

/* ---- the header ---------------------------------------------------------------------------- */

static int read_header(struct gt_execlog_reader *r, struct gt_error *err)
{
    int status = want(r, GT_EXECLOG_HEAD);
    if (status < 0)
        return status;
    const uint8_t *h = gt_bytes_refill_at(&r->in);
    size_t n = gt_bytes_refill_left(&r->in);
    if (!gt_execlog_is(h, n))
        return gt_error_set(err, n ? GT_E_FORMAT : GT_E_TRUNC,
                            "%.300s: not an execlog log in binary form: %s", r->in.name,
                            n ? "it does not begin with \"GTEXECL\\n\"" : "it is empty");
    if (status == 0)
        return gt_error_set(err, GT_E_TRUNC,
                            "%.300s: truncated: it ends after %zu bytes of its header's %d",
                            r->in.name, n, GT_EXECLOG_HEAD);
    r->about.major = gt_bytes_le16(h + 8);
    r->about.minor = gt_bytes_le16(h + 10);
    if (r->about.major != GT_EXECLOG_MAJOR)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "%.300s: execlog log of version %u.%u, this guesttrace reads %d.x",
                            r->in.name, r->about.major, r->about.minor, GT_EXECLOG_MAJOR);
    if (gt_bytes_le32(h + GT_EXECLOG_HEAD - 4) != gt_execlog_check(0, h, GT_EXECLOG_HEAD - 4))
        return gt_error_set(err, GT_E_FORMAT, "%.300s: its header is damaged (check 0x%08x)",
                            r->in.name, gt_bytes_le32(h + GT_EXECLOG_HEAD - 4));
    r->about.flags = gt_bytes_le32(h + 12);
    memcpy(r->about.target, h + 16, sizeof r->about.target - 1);
    gt_bytes_refill_take(&r->in, GT_EXECLOG_HEAD);
    return 0;
}

static struct gt_execlog_reader *new_reader(const struct gt_execlog_source *source)
{
    struct gt_execlog_reader *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->seek = source->seek;
    r->codes = gt_execlog_codes_create();
    r->zstd = ZSTD_createDCtx();
    if (gt_bytes_refill_init(&r->in, source->read, source->self, source->name, AHEAD, NULL) == 0 &&
        r->codes && r->zstd)
        return r;
    gt_execlog_reader_destroy(r);
    return NULL;
}

int gt_execlog_reader_create(const struct gt_execlog_source *source, struct gt_execlog_reader **out,
                             struct gt_error *err)
{
    struct gt_execlog_reader *r = new_reader(source);
    if (!r)
        return gt_error_set(err, GT_E_NOMEM, "%.300s: out of memory", source->name);
    int status = read_header(r, err);
    if (r->why.status && err)
        *err = r->why;
    if (status < 0)
        gt_execlog_reader_destroy(r);
    else
        *out = r;
    return status;
}

void gt_execlog_reader_destroy(struct gt_execlog_reader *r)
{
    if (!r)
        return;
    gt_bytes_refill_free(&r->in);
    gt_execlog_codes_destroy(r->codes);
    ZSTD_freeDCtx(r->zstd);
    free(r->out[0]);
    free(r->out[1]);
    free(r);
}

const struct gt_execlog_about *gt_execlog_reader_about(const struct gt_execlog_reader *r)
{
    return &r->about;
}

bool gt_execlog_whole(const struct gt_execlog_reader *r)
{
    return r->whole;
}

struct gt_execlog_codes *gt_execlog_reader_codes(struct gt_execlog_reader *r)
{
    return r->codes;
}

const char *gt_execlog_reader_name(const struct gt_execlog_reader *r)
{
    return r->in.name;
}

/* ---- chunks -------------------------------------------------------------------------------- */

/* A chunk is at pos, whole up to its body, with the check that it says: 1; 0: not. */
static int look(struct gt_execlog_reader *r, struct gt_execlog_chunk *out)
{
    int status = want(r, GT_EXECLOG_HEAD);
    if (status <= 0 || !gt_execlog_get_chunk(gt_bytes_refill_at(&r->in), out))
        return status < 0 ? status : 0;
    status = want(r, GT_EXECLOG_HEAD + (size_t)out->summary);
    if (status <= 0)
        return status;
    const uint8_t *h = gt_bytes_refill_at(&r->in);
    return gt_execlog_chunk_good(h, h + GT_EXECLOG_HEAD, out->summary);
}

/* Goes on to the next chunk; 0: there is none. */
static int look_for_next(struct gt_execlog_reader *r)
{
    struct gt_execlog_chunk chunk;
    int status;
    r->lost = false;
    do {
        gt_bytes_refill_take(&r->in, 1);
        status = want(r, GT_EXECLOG_HEAD);
        while (status == 1 && gt_bytes_refill_left(&r->in) > GT_EXECLOG_HEAD &&
               gt_bytes_le32(gt_bytes_refill_at(&r->in)) != GT_EXECLOG_CHUNK)
            gt_bytes_refill_take(&r->in, 1);
        if (status == 1 && gt_bytes_le32(gt_bytes_refill_at(&r->in)) == GT_EXECLOG_CHUNK)
            status = look(r, &chunk) == 1 ? 2 : 1;
    } while (status == 1);
    if (status == 0)
        gt_bytes_refill_take(&r->in, gt_bytes_refill_left(&r->in));
    return status;
}

static int lose(struct gt_execlog_reader *r, struct gt_error *err, const char *what)
{
    r->lost = true;
    return damaged(r, err, what);
}

static int next(struct gt_execlog_reader *r, struct gt_execlog_item *out, struct gt_error *err)
{
    size_t body = r->body;
    r->body = 0;
    int status = body ? pass(r, body) : 1;
    if (status == 0)
        return cut_off(r, body);
    if (status == 1 && r->lost)
        status = look_for_next(r);
    if (status >= 0)
        status = want(r, GT_EXECLOG_HEAD);
    if (status < 0 || gt_bytes_refill_left(&r->in) == 0)
        return status;
    if (status == 0)
        return cut_off(r, GT_EXECLOG_HEAD);
    if (!gt_execlog_get_chunk(gt_bytes_refill_at(&r->in), &out->chunk))
        return lose(r, err, "no chunk begins here, or a damaged one");
    size_t whole = GT_EXECLOG_HEAD + (size_t)out->chunk.summary;
    status = want(r, whole);
    if (status < 0)
        return status;
    if (status == 0)
        return cut_off(r, whole);
    out->summary = gt_bytes_refill_at(&r->in) + GT_EXECLOG_HEAD;
    if (!gt_execlog_chunk_good(gt_bytes_refill_at(&r->in), out->summary, out->chunk.summary))
        return lose(r, err, "the chunk that begins here is damaged");
    out->offset = r->in.offset;
    gt_bytes_refill_take(&r->in, whole);
    r->body = out->chunk.packed;
    r->whole = out->chunk.type == GT_EXECLOG_END;
    return 1;
}

int gt_execlog_next(struct gt_execlog_reader *r, struct gt_execlog_item *out, struct gt_error *err)
{
    if (r->why.status == 0 && r->whole)
        return 0;
    int status = r->why.status ? r->why.status : next(r, out, err);
    if (r->why.status && err)
        *err = r->why;
    return status;
}

static int unpack(struct gt_execlog_reader *r, const struct gt_execlog_item *item, uint8_t *out,
                  struct gt_error *err)
{
    const struct gt_execlog_chunk *c = &item->chunk;
    size_t n = 0;
    if (c->packed)
        n = ZSTD_decompressDCtx(r->zstd, out, c->unpacked, gt_bytes_refill_at(&r->in), c->packed);
    if (ZSTD_isError(n))
        return gt_error_set(err, GT_E_FORMAT, "%.300s offset %" PRIu64 ": chunk is damaged: %s",
                            r->in.name, item->offset, ZSTD_getErrorName(n));
    if (n != c->unpacked)
        return gt_error_set(err, GT_E_FORMAT,
                            "%.300s offset %" PRIu64
                            ": chunk is damaged: %zu bytes unpacked, expected %u",
                            r->in.name, item->offset, n, c->unpacked);
    return 0;
}

static uint8_t *room_for(struct gt_execlog_reader *r, size_t which, size_t n)
{
    if (n > r->room[which]) {
        free(r->out[which]);
        r->out[which] = malloc(n);
        r->room[which] = r->out[which] ? n : 0;
    }
    return r->out[which];
}

int gt_execlog_body(struct gt_execlog_reader *r, const struct gt_execlog_item *item,
                    const uint8_t **out, struct gt_error *err)
{
    size_t which = item->chunk.type != GT_EXECLOG_EVENTS;
    uint8_t *room = room_for(r, which, item->chunk.unpacked + GT_EXECLOG_PADDING);
    int status = room ? want(r, item->chunk.packed) : no_memory(r);
    if (status == 0)
        status = cut_off(r, item->chunk.packed);
    if (status < 0) {
        if (err)
            *err = r->why;
        return status;
    }
    status = unpack(r, item, room, err);
    memset(room + (status < 0 ? 0 : item->chunk.unpacked), 0, GT_EXECLOG_PADDING);
    gt_bytes_refill_take(&r->in, item->chunk.packed);
    r->body = 0;
    *out = room;
    return status < 0 ? status : 0;
}

int gt_execlog_learn(struct gt_execlog_reader *r, const struct gt_execlog_item *item,
                     struct gt_error *err)
{
    const uint8_t *body;
    struct gt_error why = {0};
    int status = gt_execlog_body(r, item, &body, err);
    if (status < 0)
        return status;
    status = gt_execlog_codes_learn(r->codes, &item->chunk, body, &why);
    return status < 0 ? gt_error_set(err, status, "%.300s offset %" PRIu64 ": definitions: %.150s",
                                     r->in.name, item->offset, why.text)
                      : 0;
}

/* ---- out of order -------------------------------------------------------------------------- */

bool gt_execlog_go(struct gt_execlog_reader *r, uint64_t offset, bool ahead)
{
    if (r->why.status == GT_E_IO || !go(r, offset))
        return false;
    r->in.ahead = ahead ? AHEAD : NEAR;
    r->body = 0;
    r->lost = r->whole = false;
    r->why.status = 0;
    return true;
}

bool gt_execlog_find_end(struct gt_execlog_reader *r, uint64_t size, struct gt_execlog_chunk *out)
{
    return size >= 2 * GT_EXECLOG_HEAD && gt_execlog_go(r, size - GT_EXECLOG_HEAD, false) &&
           look(r, out) == 1 && out->type == GT_EXECLOG_END && out->summary == 0;
}

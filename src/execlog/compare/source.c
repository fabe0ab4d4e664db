/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a log for a comparison: see source.h. */
#include "execlog/compare/source.h"

#include "execlog/dump/execlog_text.h"
#include "recording/file_kind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { PIECE = 128 << 10, ROOM = 4 * PIECE, MOST_LINE = 256 << 20 };

/* ---- open and close ------------------------------------------------------------------------ */

static int put_lines(void *self, const char *text, size_t n)
{
    struct gt_diff_source *s = self;
    uint64_t line = s->line;
    s->line += gt_diff_lines_count(text, n);
    return s->lines(s->user, text, n, line);
}

int gt_diff_source_open(struct gt_diff_source *s, const struct gt_error_notices *notices,
                        const char *where, struct gt_error *err)
{
    s->notices = notices;
    s->line = 1;
    int status = gt_recording_input_start(notices, where, &s->in, err);
    if (status == 0)
        status = gt_recording_input_look(&s->in, err);
    if (status < 0)
        return status;
    if (gt_execlog_is(s->in.first, s->in.n)) {
        struct gt_execlog_source source = gt_execlog_input_source(&s->in);
        return gt_execlog_reader_create(&source, &s->r, err);
    }
    status = gt_recording_input_check(
        &s->in, GT_FILE_IS(GT_FILE_EMPTY) | GT_FILE_IS(GT_FILE_TEXT) | GT_FILE_IS(GT_FILE_LOG),
        "a log: text, or execlog's binary form", err);
    if (status < 0)
        return status;
    if (!gt_recording_kind_is_text(s->in.first, s->in.n))
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: not text, and of an unknown type, expected a log: text, or "
                            "execlog's binary form",
                            s->in.name);
    s->room = ROOM;
    s->buf = g_malloc(s->room);
    return 0;
}

bool gt_diff_source_has_values(const struct gt_diff_source *s)
{
    return s->r && gt_execlog_reader_about(s->r)->flags & GT_EXECLOG_VALUES;
}

int gt_diff_source_begin(struct gt_diff_source *s, bool values, struct gt_error *err)
{
    const struct gt_execlog_text_options o = {gt_execlog_all, values, put_lines, NULL, s};
    return s->r ? gt_execlog_text_create(gt_execlog_reader_codes(s->r), &o, &s->text, err) : 0;
}

void gt_diff_source_close(struct gt_diff_source *s)
{
    gt_execlog_text_destroy(s->text);
    gt_execlog_reader_destroy(s->r);
    g_free(s->buf);
    gt_recording_input_close(&s->in);
}

/* ---- text ---------------------------------------------------------------------------------- */

static int grow(struct gt_diff_source *s, struct gt_error *err)
{
    s->fill -= s->at;
    memmove(s->buf, s->buf + s->at, s->fill);
    s->at = 0;
    if (s->fill < s->room / 2)
        return 0;
    if (s->room >= MOST_LINE)
        return gt_error_set(err, GT_E_RANGE, "%s: line %" PRIu64 " has more than %d MiB",
                            s->in.name, s->line, MOST_LINE / 2 >> 20);
    s->room *= 2;
    s->buf = g_realloc(s->buf, s->room);
    return 0;
}

/* A log that is not text stays an error: it is read no further. */
static int check_text(struct gt_diff_source *s, size_t got)
{
    const char *zero = memchr(s->buf + s->fill, '\0', got);
    if (!zero)
        return 0;
    uint64_t line = s->line + gt_diff_lines_count(s->buf + s->at, (size_t)(zero - s->buf) - s->at);
    return gt_error_set(&s->no_text, GT_E_FORMAT,
                        "%s line %" PRIu64 ": a zero byte, expected a log of text", s->in.name,
                        line);
}

static int read_text(struct gt_diff_source *s, struct gt_error *err)
{
    int status = s->room - s->fill < PIECE ? grow(s, err) : 0;
    if (status < 0)
        return status;
    ssize_t got = s->no_text.status
                      ? 0
                      : gt_recording_input_read(&s->in, s->buf + s->fill, s->room - s->fill);
    if (got < 0 && errno == EINTR)
        return 0;
    if (got < 0)
        return gt_error_errno(err, errno, "%s: cannot be read", s->in.name);
    if (s->no_text.status || check_text(s, (size_t)got) < 0)
        return gt_error_set(err, s->no_text.status, "%s", s->no_text.text);
    s->all_read = got == 0;
    s->fill += (size_t)got;
    return 0;
}

int gt_diff_source_fill(struct gt_diff_source *s, struct gt_error *err)
{
    int status = 0;
    while (status == 0 && !s->all_read && s->fill - s->at < PIECE)
        status = read_text(s, err);
    return status;
}

void gt_diff_source_pass_text(struct gt_diff_source *s, size_t n)
{
    s->line += gt_diff_lines_count(s->buf + s->at, n);
    s->at += n;
}

/* How many of the bytes read can be given: whole lines; at the end all. */
static size_t whole(const struct gt_diff_source *s)
{
    size_t n = s->fill - s->at;
    const char *text = s->buf + s->at, *end = s->all_read ? NULL : memrchr(text, '\n', n);
    return s->all_read ? n : end ? (size_t)(end + 1 - text) : 0;
}

static int step_text(struct gt_diff_source *s, struct gt_error *err)
{
    bool enough = s->all_read || (s->fill - s->at >= PIECE && whole(s));
    int status = enough ? 0 : read_text(s, err);
    if (status < 0)
        return status;
    const char *text = s->buf + s->at;
    size_t n = whole(s);
    s->at += n;
    s->ended = s->all_read;
    s->ended |= n && put_lines(s, text, n) != 0;
    return 0;
}

/* ---- binary -------------------------------------------------------------------------------- */

static int leave_out(struct gt_diff_source *s, int status, const struct gt_error *why,
                     struct gt_error *err)
{
    if (status != GT_E_FORMAT && status != GT_E_TRUNC)
        return gt_error_set(err, status, "%s", why->text);
    s->damaged = true;
    gt_execlog_text_lose(s->text);
    gt_error_notice(s->notices, "%s%s", why->text, status == GT_E_FORMAT ? ": left out" : "");
    return 0;
}

static int read_item(struct gt_diff_source *s, struct gt_error *why)
{
    const struct gt_execlog_chunk *c = &s->item.chunk;
    switch (c->type) {
    case GT_EXECLOG_DEFINITIONS:
        s->names += c->names > 0;
        return gt_execlog_learn(s->r, &s->item, why);
    case GT_EXECLOG_EVENTS:
        return gt_execlog_body(s->r, &s->item, &s->body, why);
    case GT_EXECLOG_LOST:
        return gt_error_set(why, GT_E_FORMAT,
                            "%s offset %" PRIu64 ": %" PRIu64
                            " bytes were dropped by the recording",
                            s->in.name, s->item.offset, c->first);
    default:
        return 0;
    }
}

int gt_diff_source_read(struct gt_diff_source *s, struct gt_error *err)
{
    struct gt_error why;
    int status = 0;
    while (!s->body && !s->ended && status >= 0) {
        int found = gt_execlog_next(s->r, &s->item, &why);
        s->ended = found == 0 || (found < 0 && found != GT_E_FORMAT);
        if (found == 1)
            found = read_item(s, &why);
        if (found < 0) {
            s->body = NULL;
            status = leave_out(s, found, &why, err);
        }
    }
    if (s->ended && status == 0 && !gt_execlog_whole(s->r) && !s->damaged)
        gt_error_notice(s->notices, "%s: has no end: its recording was interrupted", s->in.name);
    return status;
}

void gt_diff_source_pass(struct gt_diff_source *s)
{
    s->line = s->item.chunk.first + s->item.chunk.count;
    s->body = NULL;
}

static int step_binary(struct gt_diff_source *s, struct gt_error *err)
{
    struct gt_error why;
    int status = gt_diff_source_read(s, err);
    if (status < 0 || !s->body)
        return status;
    s->line = s->item.chunk.first;
    status = gt_execlog_text_add(s->text, &s->item.chunk, s->body, &why);
    gt_execlog_text_flush(s->text);
    s->body = NULL;
    s->ended |= status == 1;
    if (status >= 0)
        return 0;
    struct gt_error where;
    gt_error_set(&where, status, "%.200s offset %" PRIu64 ": %.250s", s->in.name, s->item.offset,
                 why.text);
    return leave_out(s, status, &where, err);
}

int gt_diff_source_step(struct gt_diff_source *s, struct gt_error *err)
{
    return s->r ? step_binary(s, err) : step_text(s, err);
}

/* Lines of text, many bytes at a time. Every host has vectors of 16 bytes. */

typedef uint8_t bytes __attribute__((vector_size(16)));

enum {
    WIDTH = sizeof(bytes),
    BLOCK = 16 * WIDTH,
    MOST_STEPS = 255, /* what a byte can count */
};

static inline bytes load(const char *at)
{
    bytes v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline bytes all(char c)
{
    return (uint8_t)c - (bytes){0};
}

static inline bytes newlines(const char *at)
{
    return (bytes)(load(at) == all('\n'));
}

uint64_t gt_diff_lines_count(const char *text, size_t n)
{
    uint64_t lines = 0;
    const char *end = text + n;
    while (end - text >= WIDTH) {
        bytes sum = {0};
        for (int i = 0; i < MOST_STEPS && end - text >= WIDTH; i++, text += WIDTH)
            sum -= newlines(text);
        for (int i = 0; i < WIDTH; i++)
            lines += sum[i];
    }
    for (; text < end; text++)
        lines += *text == '\n';
    return lines;
}

static inline bool any(bytes v)
{
    uint64_t halves[2];
    memcpy(halves, &v, sizeof v);
    return halves[0] | halves[1];
}

/* Whole blocks in which no line begins that is another one. */
static inline __attribute__((always_inline)) size_t blocks_alike(const char *text, size_t n,
                                                                 size_t prefix)
{
    size_t at = 0;
    for (; n - at >= BLOCK + prefix; at += BLOCK) {
        bytes other = {0};
        for (const char *p = text + at; p < text + at + BLOCK; p += WIDTH) {
            bytes differs = {0};
            for (size_t i = 0; i < prefix; i++)
                differs |= load(p + 1 + i) ^ all(text[i]);
            other |= newlines(p) & (bytes)(differs != 0);
        }
        if (any(other))
            break;
    }
    return at;
}

size_t gt_diff_lines_alike(const char *text, size_t n, size_t prefix)
{
    const char *end = text + n, *at = text;
    if (prefix == 3) /* one digit, ", " */
        at += blocks_alike(text, n, 3);
    else if (prefix == 4)
        at += blocks_alike(text, n, 4);
    do {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    } while (prefix && (size_t)(end - at) >= prefix && memcmp(at, text, prefix) == 0);
    return (size_t)(at - text);
}

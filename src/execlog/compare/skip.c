/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Skips parts of both logs that are identical byte for byte, without parsing them.
 *
 * In binary logs, chunks of identical events are not converted to lines. Events refer to blocks,
 * registers and devices by numbers. How definitions are divided into chunks depends on timing; so
 * the definitions of the numbers are compared, not the bytes of the chunks.
 */
#include "execlog/compare/compare.h"

#include "execlog/compare/source.h"

#include <inttypes.h>
#include <string.h>

static bool same_code(const struct gt_execlog_code *a, const struct gt_execlog_code *b)
{
    uint32_t n = a->block.n;
    return n == b->block.n && a->block.first == b->block.first &&
           memcmp(a->addresses, b->addresses, n * sizeof a->addresses[0]) == 0 &&
           memcmp(a->ends, b->ends, (n + 1) * sizeof a->ends[0]) == 0 &&
           memcmp(a->text, b->text, a->ends[n]) == 0;
}

static bool same_name(const struct gt_execlog_name *a, const struct gt_execlog_name *b)
{
    return !a || !b ||
           (a->len == b->len && a->size == b->size && memcmp(a->text, b->text, a->len) == 0);
}

static bool same_names(const struct gt_execlog_codes *a, const struct gt_execlog_codes *b)
{
    for (uint32_t i = 0; i <= UINT16_MAX; i++)
        if (!same_name(gt_execlog_codes_device(a, i), gt_execlog_codes_device(b, i)))
            return false;
    for (uint32_t i = 0; i < GT_EXECLOG_MAX_REGISTERS; i++)
        if (!same_name(gt_execlog_codes_register(a, i), gt_execlog_codes_register(b, i)))
            return false;
    return true;
}

/* Whatever both know means the same. */
static bool numbers_agree(struct gt_diff *d)
{
    const struct gt_execlog_codes *a = gt_execlog_reader_codes(d->side[0].r);
    const struct gt_execlog_codes *b = gt_execlog_reader_codes(d->side[1].r);
    const struct gt_execlog_code *x, *y;
    while ((x = gt_execlog_codes_find(a, d->same_codes + 1)) &&
           (y = gt_execlog_codes_find(b, d->same_codes + 1))) {
        if (!same_code(x, y))
            return false;
        d->same_codes++;
    }
    unsigned names = d->side[0].names + d->side[1].names;
    if (names == d->names_seen)
        return true;
    d->names_seen = names;
    return same_names(a, b);
}

static bool same_events(const struct gt_diff_source *a, const struct gt_diff_source *b)
{
    const struct gt_execlog_chunk *x = &a->item.chunk, *y = &b->item.chunk;
    return x->vcpu == y->vcpu && x->flags == 0 && y->flags == 0 && x->other == 0 && y->other == 0 &&
           x->unpacked == y->unpacked && memcmp(a->body, b->body, x->unpacked) == 0;
}

static void let_go(struct gt_diff *d)
{
    struct gt_diff_source *s = &d->side[0];
    struct gt_diff_sequence *q = gt_diff_sequence_of(d, s->item.chunk.vcpu);
    if (!q->events)
        q->events = g_byte_array_new();
    g_byte_array_set_size(q->events, 0);
    g_byte_array_append(q->events, s->body, s->item.chunk.unpacked);
    g_byte_array_set_size(q->events, s->item.chunk.unpacked + GT_EXECLOG_SLACK);
    memset(q->events->data + s->item.chunk.unpacked, 0, GT_EXECLOG_SLACK);
    q->chunk = s->item.chunk;
    g_string_truncate(q->before, 0);
    for (int i = 0; i < 2; i++)
        gt_diff_source_pass(&d->side[i]);
}

static int skip_events(struct gt_diff *d, struct gt_error *err)
{
    for (int i = 0; i < 2; i++) {
        int status = d->side[i].r && !d->other_codes ? gt_diff_source_read(&d->side[i], err) : 0;
        if (status < 0)
            return status;
    }
    if (d->other_codes || !d->side[0].body || !d->side[1].body)
        return 0;
    d->other_codes = !numbers_agree(d);
    if (d->other_codes || !same_events(&d->side[0], &d->side[1]))
        return 0;
    let_go(d);
    return 1;
}

/* So many bytes of these n, whole lines, the text has next, too; all or none of them. */
static size_t same(const struct gt_diff_source *s, const char *text, size_t n)
{
    const char *end = memrchr(text, '\n', n);
    n = end ? (size_t)(end + 1 - text) : 0;
    return n && memcmp(text, s->buf + s->at, n) == 0 ? n : 0;
}

static int skip_text(struct gt_diff *d, struct gt_error *err)
{
    struct gt_diff_source *a = &d->side[0], *b = &d->side[1];
    int status = gt_diff_source_fill(a, err);
    if (status == 0)
        status = gt_diff_source_fill(b, err);
    if (status < 0)
        return status;
    const char *text = a->buf + a->at;
    size_t n = same(b, text, MIN(a->fill - a->at, b->fill - b->at));
    if (n == 0)
        return 0;
    gt_diff_pass(d, text, n);
    gt_diff_source_pass_text(a, n);
    gt_diff_source_pass_text(b, n);
    return 1;
}

size_t gt_diff_skip_lines(struct gt_diff *d, int side, const char *text, size_t n)
{
    struct gt_diff_source *s = &d->side[!side];
    size_t done = 0, now = 1;
    while (!s->r && done < n && now) {
        /* what cannot be read is reported when it is read again */
        now = gt_diff_source_fill(s, NULL) == 0 ? MIN(n - done, s->fill - s->at) : 0;
        now = same(s, text + done, now);
        gt_diff_source_pass_text(s, now);
        done += now;
    }
    gt_diff_pass(d, text, done);
    d->abreast = done == n;
    return done;
}

int gt_diff_skip(struct gt_diff *d, struct gt_error *err)
{
    if (d->side[0].r && d->side[1].r)
        return skip_events(d, err);
    if (d->side[0].r || d->side[1].r || d->side[0].ended || d->side[1].ended)
        return 0;
    return skip_text(d, err);
}

static int keep_newest(void *q, const char *text, size_t n)
{
    gt_diff_sequence_pass(q, text, n);
    return 0;
}

void gt_diff_skipped_lines(struct gt_diff *d, struct gt_diff_sequence *q)
{
    struct gt_execlog_text *text;
    struct gt_execlog_text_options o = {gt_execlog_all, false, keep_newest, NULL, q};
    if (!q->events)
        return;
    GString *newer = q->before;
    q->before = g_string_new(NULL);
    o.values = d->values;
    if (gt_execlog_text_create(gt_execlog_reader_codes(d->side[0].r), &o, &text, NULL) == 0) {
        gt_execlog_text_add(text, &q->chunk, q->events->data, NULL);
        gt_execlog_text_flush(text);
        gt_execlog_text_destroy(text);
    }
    g_string_append_len(q->before, newer->str, (gssize)newer->len);
    g_string_free(newer, TRUE);
    g_byte_array_free(q->events, TRUE);
    q->events = NULL;
}

/* Finds the vCPU of lines, and its sequence: see compare.h. */

struct gt_diff_sequence *gt_diff_sequence_of(struct gt_diff *d, int64_t vcpu)
{
    if (d->newest && d->newest->vcpu == vcpu)
        return d->newest;
    struct gt_diff_sequence *q = g_hash_table_lookup(d->by_vcpu, &vcpu);
    if (!q) {
        q = gt_diff_sequence_new(vcpu, (d->context + 1) * 1024);
        g_hash_table_insert(d->by_vcpu, &q->vcpu, q);
        g_ptr_array_add(d->sequences, q);
    }
    d->newest = q;
    return q;
}

/* The number that the line begins with, and how many bytes it has with ", "; else -1 and 0. */
static int64_t vcpu_of(const char *line, const char *end, size_t *prefix)
{
    const char *p = line;
    int64_t vcpu = 0;
    while (p < end && p < line + 9 && *p >= '0' && *p <= '9')
        vcpu = 10 * vcpu + (*p++ - '0');
    bool good = p > line && end - p >= 2 && p[0] == ',' && p[1] == ' ';
    *prefix = good ? (size_t)(p + 2 - line) : 0;
    return good ? vcpu : -1;
}

/* The lines from *at on that are of one vCPU. */
int64_t gt_diff_next_run(const char **at, const char *end)
{
    size_t prefix, other;
    int64_t vcpu = vcpu_of(*at, end, &prefix);
    do
        *at += gt_diff_lines_alike(*at, (size_t)(end - *at), prefix);
    while (*at < end && !prefix && vcpu_of(*at, end, &other) < 0);
    return vcpu;
}

void gt_diff_pass(struct gt_diff *d, const char *text, size_t n)
{
    for (const char *at = text, *begin = text, *end = text + n; at < end; begin = at) {
        struct gt_diff_sequence *q = gt_diff_sequence_of(d, gt_diff_next_run(&at, end));
        if (!q->reported)
            gt_diff_sequence_pass(q, begin, (size_t)(at - begin));
    }
}

/*
 * Finds where two logs of a vCPU are the same again after a difference: the nearest place with
 * ALIKE equal lines; fewer, if both logs end with them.
 */

enum { ALIKE = 5 };

/* Lines that wait on a side. */
struct lines {
    GString *text;
    GArray *hashes; /* guint */
    size_t n;
    bool all; /* the log has no others */
};

static struct lines take(const struct gt_diff *d, const struct gt_diff_sequence *q, int side)
{
    struct lines l = {.hashes = g_array_new(FALSE, FALSE, sizeof(guint))};
    l.text = gt_diff_sequence_next(q, side, GT_DIFF_AHEAD, &l.n);
    l.all = d->side[side].ended && l.n < GT_DIFF_AHEAD;
    for (char *at = l.text->str, *end = at + l.text->len; at < end;) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline)
            *newline = '\0';
        guint hash = g_str_hash(at);
        g_array_append_val(l.hashes, hash);
        at = newline ? newline + 1 : end;
    }
    return l;
}

static bool are_alike(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
    size_t n = MIN(ALIKE, MIN(a->n - i, b->n - j));
    bool enough = n == ALIKE || (n && a->all && b->all && a->n - i == b->n - j);
    return enough && memcmp(&g_array_index(a->hashes, guint, i),
                            &g_array_index(b->hashes, guint, j), n * sizeof(guint)) == 0;
}

/* The fewest lines of both together that are left out. */
static bool find(const struct lines *a, const struct lines *b, size_t *i, size_t *j)
{
    for (size_t left_out = 1; left_out < a->n + b->n; left_out++)
        for (*i = left_out < b->n ? 0 : left_out - b->n + 1; *i <= left_out && *i < a->n; ++*i) {
            *j = left_out - *i;
            if (are_alike(a, *i, b, *j))
                return true;
        }
    return false;
}

void gt_diff_put_again(const struct gt_diff *d, const struct gt_diff_sequence *q, GString *out)
{
    struct lines l[2] = {take(d, q, 0), take(d, q, 1)};
    size_t i, j;
    if (find(&l[0], &l[1], &i, &j))
        g_string_append_printf(out, "the same again: %s line %" PRIu64 ", %s line %" PRIu64 "\n",
                               d->names[0], gt_diff_sequence_line(q, 0, i), d->names[1],
                               gt_diff_sequence_line(q, 1, j));
    else if (l[0].n && l[1].n)
        g_string_append_printf(out, "not the same again within %zu lines\n", MAX(l[0].n, l[1].n));
    for (int side = 0; side < 2; side++) {
        g_string_free(l[side].text, TRUE);
        g_array_free(l[side].hashes, TRUE);
    }
}

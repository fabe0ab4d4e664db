/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of lines from the blocks of a function: see flow.h. */
#include "etrace/coverage/flow.h"

#include "etrace/coverage/blocks.h"
#include "guest/arch/insn_size.h"

#define CODE_MAX  (1 << 20) /* bytes of a function */
#define WORK_MAX  20000000  /* lines times blocks of a function */
#define OWN_MAX   64        /* blocks of one line */
#define STEPS_MAX 20000     /* on the way along a line's loops */
#define NO_LINE   UINT32_MAX

struct line {
    uint32_t file, line;
};

struct flow {
    struct gt_coverage_blocks code;
    struct gt_coverage_row *rows;
    uint32_t n_rows;
    GArray *lines;
    bool returns;      /* a value */
    uint32_t *line_of; /* of each row: index into lines, or NO_LINE */
};

#define BLOCK(f, i) gt_coverage_block_at(&(f)->code, i)
#define ARC(f, i)   gt_coverage_arc_at(&(f)->code, i)

/* ---- lines --------------------------------------------------------------------------------- */

static void number_lines(struct flow *f)
{
    g_autoptr(GHashTable) number = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (uint32_t i = 0; i < f->n_rows; i++) {
        const struct gt_coverage_row *r = &f->rows[i];
        gint64 key = (gint64)((uint64_t)r->file << 32 | r->line);
        void *at;
        f->line_of[i] = NO_LINE;
        if (!r->listed)
            continue;
        if (!g_hash_table_lookup_extended(number, &key, NULL, &at)) {
            const struct line line = {r->file, r->line};
            at = GUINT_TO_POINTER(f->lines->len);
            g_array_append_val(f->lines, line);
            g_hash_table_insert(number, g_memdup2(&key, sizeof key), at);
        }
        f->line_of[i] = GPOINTER_TO_UINT(at);
    }
}

/* GCC makes one jump of all `goto *` of a function, and the others jump there. It is of no line,
 * and so goes on in the row of the code before it. */
static bool *find_shared_jumps(const struct flow *f)
{
    bool *shared = g_new0(bool, f->code.blocks->len);
    uint32_t row = 0;
    for (guint i = 0; i < f->code.arcs->len; i++) {
        const struct gt_coverage_arc *a = ARC(f, i);
        if (BLOCK(f, a->from)->kind == GT_INSN_JUMP)
            shared[a->to] = BLOCK(f, a->to)->kind == GT_INSN_JUMP_INDIRECT;
    }
    for (uint32_t i = 0; i < f->code.blocks->len; i++) {
        uint64_t lo = BLOCK(f, i)->lo;
        while (row < f->n_rows && f->rows[row].lo < lo)
            row++;
        if (row < f->n_rows && f->rows[row].lo == lo)
            shared[i] = false;
    }
    return shared;
}

/* The last block of gcov, which belongs to no line: where the function returns a value it stands
 * after the code, else it has code. */
static bool only_leaves(const struct flow *f, const struct gt_coverage_block *last)
{
    return last->kind == GT_INSN_RETURN &&
           (!f->returns || (f->n_rows && last->lo >= f->rows[f->n_rows - 1].lo));
}

/* A line is said once a block: the last one that was not said before is the block's. */
static void find_last_lines(struct flow *f)
{
    g_autofree uint32_t *said = g_new0(uint32_t, f->lines->len + 1);
    g_autofree bool *shared = find_shared_jumps(f);
    uint32_t row = 0;
    for (uint32_t i = 0; i < f->code.blocks->len; i++) {
        struct gt_coverage_block *b = BLOCK(f, i);
        while (row < f->n_rows && f->rows[row].hi <= b->lo)
            row++;
        b->row = shared[i] ? f->n_rows : row;
        b->last_line = NO_LINE;
        for (uint32_t r = b->row; r < f->n_rows && f->rows[r].lo < b->hi; r++) {
            uint32_t line = f->line_of[r];
            if (line == NO_LINE || said[line] == i + 1)
                continue;
            said[line] = i + 1;
            b->last_line = line;
        }
        if (i + 1 == f->code.blocks->len && only_leaves(f, b))
            b->last_line = NO_LINE;
    }
}

static bool has_line(const struct flow *f, const struct gt_coverage_block *b, uint32_t line)
{
    for (uint32_t r = b->row; r < f->n_rows && f->rows[r].lo < b->hi; r++)
        if (f->line_of[r] == line)
            return true;
    return false;
}

struct loops {
    struct flow *f;
    uint32_t line, start;
    uint32_t path[OWN_MAX]; /* arcs */
    uint32_t depth;
    unsigned steps;
    uint64_t rounds;
};

static void count_loop(struct loops *l)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < l->depth; i++)
        least = MIN(least, ARC(l->f, l->path[i])->left);
    for (uint32_t i = 0; i < l->depth; i++)
        ARC(l->f, l->path[i])->left -= least;
    l->rounds += least;
}

static bool on_path(const struct loops *l, uint32_t block)
{
    for (uint32_t i = 0; i + 1 < l->depth; i++)
        if (ARC(l->f, l->path[i])->to == block)
            return true;
    return false;
}

/* Every way from the block through later ones of the line back to the start; no deeper than the
 * line has blocks. */
static void follow(struct loops *l, uint32_t block)
{
    const struct gt_coverage_block *b = BLOCK(l->f, block);
    for (uint32_t i = b->arc; i < b->arc + b->n_arcs; i++) {
        const struct gt_coverage_arc *a = ARC(l->f, i);
        if (a->to < l->start || a->left == 0 || BLOCK(l->f, a->to)->last_line != l->line ||
            l->depth == OWN_MAX || l->steps++ > STEPS_MAX)
            continue;
        l->path[l->depth++] = i;
        if (a->to == l->start)
            count_loop(l);
        else if (!on_path(l, a->to))
            follow(l, a->to);
        l->depth--;
    }
}

static bool count_own(struct flow *f, uint32_t line, const uint32_t *own, uint32_t n,
                      uint64_t *count)
{
    struct loops l = {.f = f, .line = line};
    uint64_t entered = 0, within = 0;
    for (uint32_t k = 0; k < n; k++) {
        const struct gt_coverage_block *b = BLOCK(f, own[k]);
        entered += b->count;
        for (uint32_t i = b->arc; i < b->arc + b->n_arcs; i++) {
            struct gt_coverage_arc *a = ARC(f, i);
            if (BLOCK(f, a->to)->last_line != line)
                continue;
            if (!a->known)
                return false;
            a->left = a->count;
            within += a->count;
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        l.start = own[k];
        follow(&l, own[k]);
    }
    *count = entered - MIN(entered, within) + l.rounds;
    return l.steps <= STEPS_MAX;
}

/* False: it cannot be said. */
static bool count_line(struct flow *f, uint32_t line, uint64_t *count, bool *ends)
{
    uint32_t own[OWN_MAX], n = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->code.blocks->len; i++) {
        const struct gt_coverage_block *b = BLOCK(f, i);
        if (b->last_line == line && n == OWN_MAX)
            return false;
        if (b->last_line == line)
            own[n++] = i;
        else if (n == 0 && has_line(f, b, line))
            sum += b->count;
    }
    *count = sum;
    *ends = n > 0;
    return n == 0 || count_own(f, line, own, n, count);
}

static void count_lines(struct flow *f)
{
    g_autofree uint64_t *count = g_new0(uint64_t, f->lines->len + 1);
    g_autofree bool *known = g_new0(bool, f->lines->len + 1);
    g_autofree bool *ends = g_new0(bool, f->lines->len + 1);
    for (uint32_t i = 0; i < f->lines->len; i++)
        known[i] = count_line(f, i, &count[i], &ends[i]);
    for (uint32_t i = 0; i < f->n_rows; i++) {
        uint32_t line = f->line_of[i];
        if (line == NO_LINE || !known[line])
            continue;
        f->rows[i].counted = true;
        f->rows[i].ends = ends[line];
        f->rows[i].count = count[line];
    }
}

void gt_coverage_flow(const struct gt_coverage_program *p, const struct gt_coverage *c,
                      struct gt_coverage_row *first, struct gt_coverage_row *end, uint64_t lo,
                      uint64_t hi, bool returns)
{
    size_t left;
    const uint8_t *bytes = gt_coverage_program_bytes(p, lo, &left);
    if (!bytes || left < hi - lo || hi - lo > CODE_MAX || !gt_arch_insn_size_known(p->arch) ||
        gt_coverage_most(c, lo, hi) == 0)
        return;
    struct flow f = {
        .rows = first,
        .n_rows = (uint32_t)(end - first),
        .lines = g_array_new(FALSE, FALSE, sizeof(struct line)),
        .returns = returns,
        .line_of = g_new(uint32_t, (gsize)(end - first) + 1),
    };
    gt_coverage_blocks_read(p, c, bytes, lo, hi, &f.code);
    number_lines(&f);
    if ((uint64_t)f.lines->len * f.code.blocks->len <= WORK_MAX) {
        find_last_lines(&f);
        count_lines(&f);
    }
    gt_coverage_blocks_clear(&f.code);
    g_free(f.line_of);
    g_array_unref(f.lines);
}

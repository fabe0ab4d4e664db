/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of lines from the blocks of a function: see coverage_flow.h. */
#include "cli/coverage_flow.h"

#include "guest/insn_size.h"

#define CODE_MAX   (1 << 20) /* bytes of a function */
#define WORK_MAX   20000000  /* lines times blocks of a function */
#define PASSES_MAX 1000
#define OWN_MAX    64    /* blocks of one line */
#define STEPS_MAX  20000 /* on the way along a line's loops */
#define NO_LINE    UINT32_MAX

struct arc {
    uint32_t from, to; /* blocks */
    uint64_t count;
    uint64_t left; /* of the count, while loops are told apart */
    bool known;
};

struct block {
    uint64_t lo, hi;
    uint64_t count;
    uint32_t arc, n_arcs; /* that leave it */
    uint8_t kind;         /* enum gt_insn_kind of its last instruction */
    uint64_t target;
    uint32_t last_line; /* index into lines, or NO_LINE */
    uint32_t row;       /* the first that reaches into it */
};

struct line {
    uint32_t file, line;
};

struct flow {
    const struct gt_coverage_program *p;
    const struct gt_coverage *c;
    struct gt_coverage_row *rows;
    uint32_t n_rows;
    uint64_t lo, hi;
    GArray *blocks, *arcs, *lines;
    uint32_t *line_of; /* of each row: index into lines, or NO_LINE */
    bool indirect;     /* jumps to addresses that are not known */
};

#define BLOCK(f, i) (&g_array_index((f)->blocks, struct block, i))
#define ARC(f, i)   (&g_array_index((f)->arcs, struct arc, i))

/* ---- blocks -------------------------------------------------------------------------------- */

static bool ends_block(uint8_t kind)
{
    switch (kind) {
    case GT_INSN_CALL:
    case GT_INSN_CALL_INDIRECT:
    case GT_INSN_RETURN:
    case GT_INSN_JUMP:
    case GT_INSN_BRANCH:
    case GT_INSN_JUMP_INDIRECT:
    case GT_INSN_EXCEPTION_RETURN:
    case GT_INSN_TRAP:
        return true;
    default:
        return false;
    }
}

/* Whether what follows the block may run after it. */
static bool falls_through(uint8_t kind)
{
    return kind == GT_INSN_BRANCH || kind == GT_INSN_CALL || kind == GT_INSN_CALL_INDIRECT ||
           !ends_block(kind);
}

/* Blocks as far as branches end them, and a mark at each address that one goes to. Where a table of
 * jumps leads is not known: there the count changes, or it does not matter. */
static void read_code(struct flow *f, const uint8_t *bytes, uint8_t *starts)
{
    struct gt_insn insn;
    uint64_t begin = f->lo, count = gt_coverage_at(f->c, f->lo);
    for (uint64_t at = f->lo; at < f->hi;) {
        size_t size = gt_insn_size(f->p->arch, bytes + (at - f->lo), f->hi - at);
        f->p->arch->classify(bytes + (at - f->lo), size, at, &insn);
        at += size;
        uint64_t next = gt_coverage_at(f->c, at);
        if (next != count && at < f->hi)
            starts[at - f->lo] = 1;
        count = next;
        if (!ends_block(insn.kind) && at < f->hi)
            continue;
        bool direct = insn.kind == GT_INSN_JUMP || insn.kind == GT_INSN_BRANCH;
        if (direct && insn.target - f->lo < f->hi - f->lo)
            starts[insn.target - f->lo] = 1;
        f->indirect |= insn.kind == GT_INSN_JUMP_INDIRECT;
        const struct block b = {begin, at, .kind = insn.kind, .target = direct ? insn.target : 0};
        g_array_append_val(f->blocks, b);
        begin = at;
    }
}

static void split_blocks(struct flow *f, const uint8_t *starts)
{
    GArray *whole = f->blocks;
    f->blocks = g_array_new(FALSE, FALSE, sizeof(struct block));
    for (guint i = 0; i < whole->len; i++) {
        struct block b = g_array_index(whole, struct block, i), part = b;
        for (uint64_t at = b.lo + 1; at < b.hi; at++) {
            if (!starts[at - f->lo])
                continue;
            part.hi = at;
            part.kind = GT_INSN_OTHER;
            part.target = 0;
            g_array_append_val(f->blocks, part);
            part = b;
            part.lo = at;
        }
        g_array_append_val(f->blocks, part);
    }
    g_array_unref(whole);
}

static uint32_t block_at(const struct flow *f, uint64_t addr)
{
    uint32_t lo = 0, hi = f->blocks->len;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (BLOCK(f, mid)->lo < addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void add_arc(struct flow *f, uint32_t from, uint32_t to, bool known)
{
    const struct arc a = {from, to, known ? BLOCK(f, from)->count : 0, 0, known};
    g_array_append_val(f->arcs, a);
    BLOCK(f, from)->n_arcs++;
}

static void add_arcs(struct flow *f)
{
    for (uint32_t i = 0; i < f->blocks->len; i++) {
        struct block *b = BLOCK(f, i);
        bool inside = b->target && b->target - f->lo < f->hi - f->lo;
        b->count = gt_coverage_at(f->c, b->lo);
        b->arc = f->arcs->len;
        if (inside)
            add_arc(f, i, block_at(f, b->target), b->kind == GT_INSN_JUMP);
        if (falls_through(b->kind) && i + 1 < f->blocks->len)
            add_arc(f, i, i + 1, !ends_block(b->kind));
    }
}

/* ---- arcs ---------------------------------------------------------------------------------- */

struct sums {
    uint64_t in, out; /* of the arcs that are known */
    uint32_t unknown_in, unknown_out;
    bool enters; /* by other ways than arcs, perhaps */
};

static void sum_arcs(const struct flow *f, struct sums *s)
{
    for (uint32_t i = 0; i < f->blocks->len; i++)
        s[i] = (struct sums){.enters = i == 0 || f->indirect};
    for (guint i = 0; i < f->arcs->len; i++) {
        const struct arc *a = ARC(f, i);
        uint8_t kind = BLOCK(f, a->from)->kind;
        s[a->from].out += a->known ? a->count : 0;
        s[a->from].unknown_out += !a->known;
        s[a->to].in += a->known ? a->count : 0;
        s[a->to].unknown_in += !a->known;
        /* what follows a branch or a call is where no table of jumps leads */
        if (a->to == a->from + 1 && a->to != 0 && ends_block(kind))
            s[a->to].enters = false;
    }
}

/* One arc's count from those of its blocks and their other arcs; true where it is now known. */
static bool solve(struct flow *f, struct arc *a, const struct sums *s)
{
    const struct block *from = BLOCK(f, a->from), *to = BLOCK(f, a->to);
    uint64_t count;
    if (from->kind == GT_INSN_BRANCH && from->n_arcs == 2 && s[a->from].unknown_out == 1)
        count = from->count - MIN(from->count, s[a->from].out);
    else if (!s[a->to].enters && s[a->to].unknown_in == 1)
        count = to->count - MIN(to->count, s[a->to].in);
    else
        return false;
    a->count = count;
    a->known = true;
    return true;
}

static void solve_arcs(struct flow *f)
{
    g_autofree struct sums *s = g_new(struct sums, f->blocks->len);
    bool again = true;
    for (int pass = 0; again && pass < PASSES_MAX; pass++) {
        again = false;
        sum_arcs(f, s);
        for (guint i = 0; i < f->arcs->len; i++) {
            struct arc *a = ARC(f, i);
            if (a->known || !solve(f, a, s))
                continue;
            s[a->from].out += a->count;
            s[a->from].unknown_out--;
            s[a->to].in += a->count;
            s[a->to].unknown_in--;
            again = true;
        }
    }
}

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

/* A line is said once a block: the last one that was not said before is the block's. */
static void find_last_lines(struct flow *f)
{
    g_autofree uint32_t *said = g_new0(uint32_t, f->lines->len + 1);
    uint32_t row = 0;
    for (uint32_t i = 0; i < f->blocks->len; i++) {
        struct block *b = BLOCK(f, i);
        while (row < f->n_rows && f->rows[row].hi <= b->lo)
            row++;
        b->row = row;
        b->last_line = NO_LINE;
        for (uint32_t r = row; r < f->n_rows && f->rows[r].lo < b->hi; r++) {
            uint32_t line = f->line_of[r];
            if (line == NO_LINE || said[line] == i + 1)
                continue;
            said[line] = i + 1;
            b->last_line = line;
        }
    }
}

static bool has_line(const struct flow *f, const struct block *b, uint32_t line)
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
    const struct block *b = BLOCK(l->f, block);
    for (uint32_t i = b->arc; i < b->arc + b->n_arcs; i++) {
        const struct arc *a = ARC(l->f, i);
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
        const struct block *b = BLOCK(f, own[k]);
        entered += b->count;
        for (uint32_t i = b->arc; i < b->arc + b->n_arcs; i++) {
            struct arc *a = ARC(f, i);
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
static bool count_line(struct flow *f, uint32_t line, uint64_t *count)
{
    uint32_t own[OWN_MAX], n = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->blocks->len; i++) {
        const struct block *b = BLOCK(f, i);
        if (b->last_line == line && n == OWN_MAX)
            return false;
        if (b->last_line == line)
            own[n++] = i;
        else if (n == 0 && has_line(f, b, line))
            sum += b->count;
    }
    *count = sum;
    return n == 0 || count_own(f, line, own, n, count);
}

static void count_lines(struct flow *f)
{
    g_autofree uint64_t *count = g_new0(uint64_t, f->lines->len + 1);
    g_autofree bool *known = g_new0(bool, f->lines->len + 1);
    for (uint32_t i = 0; i < f->lines->len; i++)
        known[i] = count_line(f, i, &count[i]);
    for (uint32_t i = 0; i < f->n_rows; i++) {
        uint32_t line = f->line_of[i];
        if (line == NO_LINE || !known[line])
            continue;
        f->rows[i].counted = true;
        f->rows[i].count = count[line];
    }
}

void gt_coverage_flow(const struct gt_coverage_program *p, const struct gt_coverage *c,
                      struct gt_coverage_row *first, struct gt_coverage_row *end, uint64_t lo,
                      uint64_t hi)
{
    size_t left;
    const uint8_t *bytes = gt_coverage_program_bytes(p, lo, &left);
    if (!bytes || left < hi - lo || hi - lo > CODE_MAX || !gt_insn_size_known(p->arch) ||
        gt_coverage_most(c, lo, hi) == 0)
        return;
    struct flow f = {
        .p = p,
        .c = c,
        .rows = first,
        .n_rows = (uint32_t)(end - first),
        .lo = lo,
        .hi = hi,
        .blocks = g_array_new(FALSE, FALSE, sizeof(struct block)),
        .arcs = g_array_new(FALSE, FALSE, sizeof(struct arc)),
        .lines = g_array_new(FALSE, FALSE, sizeof(struct line)),
        .line_of = g_new(uint32_t, (gsize)(end - first) + 1),
    };
    g_autofree uint8_t *starts = g_new0(uint8_t, hi - lo + 1);
    read_code(&f, bytes, starts);
    split_blocks(&f, starts);
    add_arcs(&f);
    number_lines(&f);
    if ((uint64_t)f.lines->len * f.blocks->len <= WORK_MAX) {
        solve_arcs(&f);
        find_last_lines(&f);
        count_lines(&f);
    }
    g_free(f.line_of);
    g_array_unref(f.lines);
    g_array_unref(f.arcs);
    g_array_unref(f.blocks);
}

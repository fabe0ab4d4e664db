/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Basic blocks of a function and the arcs between them: see blocks.h. */
#include "etrace/coverage/blocks.h"
#include "base/search.h"

#include "guest/arch/insn_size.h"

#define PASSES_MAX 1000

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
static void read_code(struct gt_coverage_blocks *f, const uint8_t *bytes, uint8_t *starts)
{
    struct gt_arch_insn insn;
    uint64_t begin = f->lo, count = gt_coverage_at(f->c, f->lo);
    for (uint64_t at = f->lo; at < f->hi;) {
        size_t size = gt_arch_insn_size(f->p->arch, bytes + (at - f->lo), f->hi - at);
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
        const struct gt_coverage_block b = {begin, at, .kind = insn.kind,
                                            .target = direct ? insn.target : 0};
        g_array_append_val(f->blocks, b);
        begin = at;
    }
}

static void split_blocks(struct gt_coverage_blocks *f, const uint8_t *starts)
{
    GArray *whole = f->blocks;
    f->blocks = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_block));
    for (guint i = 0; i < whole->len; i++) {
        struct gt_coverage_block b = g_array_index(whole, struct gt_coverage_block, i), part = b;
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

static uint32_t block_from(const struct gt_coverage_blocks *f, uint64_t addr)
{
    return (uint32_t)GT_SEARCH_BELOW(gt_coverage_block_at(f, 0), f->blocks->len, lo, addr);
}

static void add_arc(struct gt_coverage_blocks *f, uint32_t from, uint32_t to, bool known)
{
    const struct gt_coverage_arc a = {from, to, known ? gt_coverage_block_at(f, from)->count : 0, 0,
                                      known};
    g_array_append_val(f->arcs, a);
    gt_coverage_block_at(f, from)->n_arcs++;
}

static void add_arcs(struct gt_coverage_blocks *f)
{
    for (uint32_t i = 0; i < f->blocks->len; i++) {
        struct gt_coverage_block *b = gt_coverage_block_at(f, i);
        bool inside = b->target && b->target - f->lo < f->hi - f->lo;
        b->count = gt_coverage_at(f->c, b->lo);
        b->arc = f->arcs->len;
        if (inside)
            add_arc(f, i, block_from(f, b->target), b->kind == GT_INSN_JUMP);
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

static void sum_arcs(const struct gt_coverage_blocks *f, struct sums *s)
{
    for (uint32_t i = 0; i < f->blocks->len; i++)
        s[i] = (struct sums){.enters = i == 0 || f->indirect};
    for (guint i = 0; i < f->arcs->len; i++) {
        const struct gt_coverage_arc *a = gt_coverage_arc_at(f, i);
        uint8_t kind = gt_coverage_block_at(f, a->from)->kind;
        s[a->from].out += a->known ? a->count : 0;
        s[a->from].unknown_out += !a->known;
        s[a->to].in += a->known ? a->count : 0;
        s[a->to].unknown_in += !a->known;
        /* what follows a branch or a call is where no table of jumps leads */
        if (a->to == a->from + 1 && a->to != 0 && ends_block(kind))
            s[a->to].enters = false;
    }
}

/* One arc's count from the counts of its blocks and their other arcs; true where it is now
 * known. */
static bool solve(struct gt_coverage_blocks *f, struct gt_coverage_arc *a, const struct sums *s)
{
    const struct gt_coverage_block *from = gt_coverage_block_at(f, a->from),
                                   *to = gt_coverage_block_at(f, a->to);
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

static void solve_arcs(struct gt_coverage_blocks *f)
{
    g_autofree struct sums *s = g_new(struct sums, f->blocks->len);
    bool again = true;
    for (int pass = 0; again && pass < PASSES_MAX; pass++) {
        again = false;
        sum_arcs(f, s);
        for (guint i = 0; i < f->arcs->len; i++) {
            struct gt_coverage_arc *a = gt_coverage_arc_at(f, i);
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

void gt_coverage_blocks_read(const struct gt_coverage_program *p, const struct gt_coverage *c,
                             const uint8_t *bytes, uint64_t lo, uint64_t hi,
                             struct gt_coverage_blocks *out)
{
    g_autofree uint8_t *starts = g_new0(uint8_t, hi - lo + 1);
    *out = (struct gt_coverage_blocks){
        .p = p,
        .c = c,
        .lo = lo,
        .hi = hi,
        .blocks = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_block)),
        .arcs = g_array_new(FALSE, FALSE, sizeof(struct gt_coverage_arc)),
    };
    read_code(out, bytes, starts);
    split_blocks(out, starts);
    add_arcs(out);
    solve_arcs(out);
}

void gt_coverage_blocks_clear(struct gt_coverage_blocks *b)
{
    g_array_unref(b->blocks);
    g_array_unref(b->arcs);
}

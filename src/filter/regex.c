/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the program of an expression: all its threads at once, a byte after the other. */
#include "filter/regex_program.h"

#include <string.h>

/* The threads at one byte: their instructions, each once. */
struct threads {
    uint16_t pc[GT_REGEX_PROGRAM];
    uint64_t has[GT_REGEX_PROGRAM / 64]; /* a bit an instruction */
    size_t n;
};

/* A place between two bytes; 0: the text's beginning or end. */
struct edge {
    uint8_t before, after;
    bool begin, end;
};

static bool holds(enum gt_regex_op op, const struct edge *at)
{
    bool before = gt_regex_is_word(at->before), after = gt_regex_is_word(at->after);
    switch (op) {
    case GT_REGEX_BEGIN:
        return at->begin;
    case GT_REGEX_END:
        return at->end;
    case GT_REGEX_WORD_EDGE:
        return before != after;
    case GT_REGEX_NO_WORD_EDGE:
        return before == after;
    case GT_REGEX_WORD_BEGIN:
        return !before && after;
    default:
        return before && !after;
    }
}

static void clear(const struct gt_regex *r, struct threads *t)
{
    t->n = 0;
    for (size_t i = 0; i <= (r->n_insns - 1) / 64; i++)
        t->has[i] = 0;
}

/* False: it is there already. */
static bool insert(struct threads *t, size_t pc)
{
    uint64_t bit = UINT64_C(1) << pc % 64;
    if (t->has[pc / 64] & bit)
        return false;
    t->has[pc / 64] |= bit;
    t->pc[t->n++] = (uint16_t)pc;
    return true;
}

/* Adds the thread at pc, and all that it continues at without a byte. True: one has matched. */
static bool add(const struct gt_regex *r, struct threads *t, size_t pc, const struct edge *at)
{
    uint16_t stack[GT_REGEX_PROGRAM];
    size_t n = 0;
    stack[n++] = (uint16_t)pc;
    while (n) {
        pc = stack[--n];
        if (!insert(t, pc))
            continue;
        const struct gt_regex_insn *i = &r->insn[pc];
        switch (i->op) {
        case GT_REGEX_MATCH:
            return true;
        case GT_REGEX_SET:
            break;
        case GT_REGEX_SPLIT: /* one more than was taken; each instruction comes here once */
            stack[n++] = (uint16_t)(pc + i->y);
            stack[n++] = (uint16_t)(pc + i->x);
            break;
        case GT_REGEX_JUMP:
            stack[n++] = (uint16_t)(pc + i->x);
            break;
        default:
            if (holds(i->op, at))
                stack[n++] = (uint16_t)(pc + 1);
        }
    }
    return false;
}

bool gt_regex_match(const struct gt_regex *r, const char *text)
{
    struct threads lists[2], *now = &lists[0], *next = &lists[1];
    const uint8_t *p = (const uint8_t *)text;
    if (r->part[0] && !strstr(text, r->part))
        return false;
    clear(r, now);
    for (;; p++) {
        if (now->n == 0 && !r->may_be_empty)
            while (*p && !gt_regex_set_has(&r->first, *p))
                p++;
        bool begin = p == (const uint8_t *)text;
        struct edge at = {begin ? 0 : p[-1], *p, begin, !*p};
        if (add(r, now, 0, &at))
            return true;
        if (!*p)
            return false;
        struct edge after = {*p, p[1], false, !p[1]};
        clear(r, next);
        for (size_t k = 0; k < now->n; k++) {
            size_t pc = now->pc[k];
            const struct gt_regex_insn *i = &r->insn[pc];
            if (i->op == GT_REGEX_SET && gt_regex_set_has(&r->set[i->x], *p) &&
                add(r, next, pc + 1, &after))
                return true;
        }
        struct threads *swap = now;
        now = next;
        next = swap;
    }
}

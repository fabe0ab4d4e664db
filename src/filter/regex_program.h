/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an expression is parsed to: a program for a nondeterministic automaton. Jumps are relative,
 * so that a part of a program can be moved and copied. */
#ifndef GT_FILTER_REGEX_PROGRAM_H
#define GT_FILTER_REGEX_PROGRAM_H

#include "filter/regex.h"

#include <stdint.h>

enum gt_regex_op {
    GT_REGEX_MATCH,
    GT_REGEX_SET,   /* a byte that is in set[x] */
    GT_REGEX_SPLIT, /* continue at both pc + x and pc + y */
    GT_REGEX_JUMP,  /* continue at pc + x */
    /* conditions of the place in the text */
    GT_REGEX_BEGIN,
    GT_REGEX_END,
    GT_REGEX_WORD_EDGE,
    GT_REGEX_NO_WORD_EDGE,
    GT_REGEX_WORD_BEGIN,
    GT_REGEX_WORD_END,
};

struct gt_regex_insn {
    uint16_t op; /* enum gt_regex_op */
    int16_t x, y;
};

enum { GT_REGEX_PART = 32 }; /* its most bytes, the NUL included */

/* A set of bytes: a bit each. */
struct gt_regex_set {
    uint64_t bits[4];
};

struct gt_regex {
    struct gt_regex_insn *insn;
    struct gt_regex_set *set;
    size_t n_insns, room_insns, n_sets, room_sets;
    struct gt_regex_set first; /* the bytes that a match may begin with */
    bool may_be_empty;         /* a match may have no byte: `first` says nothing */
    char part[GT_REGEX_PART];  /* a text with a match has this part */
};

static inline bool gt_regex_set_has(const struct gt_regex_set *s, uint8_t byte)
{
    return s->bits[byte / 64] >> byte % 64 & 1;
}

static inline void gt_regex_set_add(struct gt_regex_set *s, uint8_t byte)
{
    s->bits[byte / 64] |= UINT64_C(1) << byte % 64;
}

static inline bool gt_regex_is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Parses [..], after the bracket, and returns where it ends. *why: NULL, or what is wrong at
 * *where. In a glob ! stands for ^, and a backslash escapes. */
const char *gt_regex_set_parse(const char *at, bool glob, struct gt_regex_set *s,
                               const char **where, const char **why);
/* The set of \w, \W, \s or \S. False: another letter. */
bool gt_regex_set_named(char letter, struct gt_regex_set *s);

/* Sets `first`, `may_be_empty` and `part`. */
void gt_regex_analyse(struct gt_regex *r);

#endif

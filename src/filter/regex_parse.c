/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses expressions and globs to programs: a function for each rule of the grammar in regex.h. */
#include "filter/grow.h"
#include "filter/regex_program.h"

#include <stdlib.h>
#include <string.h>

struct parser {
    const char *text, *at;
    unsigned depth;
    struct gt_regex *r;
    int status; /* of the first error; the parser goes on, and emits nothing */
    size_t where;
    struct gt_error *err;
};

static void fail(struct parser *p, int status, const char *where, const char *message)
{
    if (p->status < 0)
        return;
    p->status = gt_error_set(p->err, status, "%s", message);
    p->where = (size_t)(where - p->text);
}

static void emit(struct parser *p, enum gt_regex_op op, int x, int y)
{
    struct gt_regex *r = p->r;
    if (p->status < 0)
        return;
    if (r->n_insns == GT_REGEX_PROGRAM)
        fail(p, GT_E_RANGE, p->at, "the pattern is too large");
    else if (!gt_grow((void **)&r->insn, &r->room_insns, r->n_insns + 1, sizeof *r->insn))
        fail(p, GT_E_NOMEM, p->at, "out of memory");
    else
        r->insn[r->n_insns++] = (struct gt_regex_insn){op, (int16_t)x, (int16_t)y};
}

static void emit_set(struct parser *p, const struct gt_regex_set *s)
{
    struct gt_regex *r = p->r;
    size_t n = r->n_sets;
    if (p->status < 0)
        return;
    if (!n || memcmp(&r->set[n - 1], s, sizeof *s) != 0) {
        if (!gt_grow((void **)&r->set, &r->room_sets, n + 1, sizeof *s)) {
            fail(p, GT_E_NOMEM, p->at, "out of memory");
            return;
        }
        r->set[r->n_sets++] = *s;
    }
    emit(p, GT_REGEX_SET, (int)r->n_sets - 1, 0);
}

/* Makes room for an instruction before the part of the program that begins at `start`, which no
 * jump leaves or enters. */
static void insert(struct parser *p, size_t start, enum gt_regex_op op, int x, int y)
{
    emit(p, op, 0, 0);
    if (p->status < 0)
        return;
    struct gt_regex_insn *i = p->r->insn + start;
    memmove(i + 1, i, (p->r->n_insns - 1 - start) * sizeof *i);
    *i = (struct gt_regex_insn){op, (int16_t)x, (int16_t)y};
}

static void copy_part(struct parser *p, size_t start, size_t n)
{
    for (size_t k = 0; k < n && p->status == 0; k++) {
        emit(p, GT_REGEX_MATCH, 0, 0);
        if (p->status == 0)
            p->r->insn[p->r->n_insns - 1] = p->r->insn[start + k];
    }
}

/* The last part of the program, of n instructions, may be left out. */
static void make_optional(struct parser *p, size_t n)
{
    insert(p, p->r->n_insns - n, GT_REGEX_SPLIT, 1, (int)n + 1);
}

/* It may be repeated. */
static void make_plus(struct parser *p, size_t n)
{
    emit(p, GT_REGEX_SPLIT, -(int)n, 1);
}

static void make_star(struct parser *p, size_t n)
{
    insert(p, p->r->n_insns - n, GT_REGEX_SPLIT, 1, (int)n + 2);
    emit(p, GT_REGEX_JUMP, -((int)n + 1), 0);
}

enum { UNBOUNDED = GT_REGEX_PROGRAM + 1 };

/* The part that begins at `start`, repeated. */
static void repeat(struct parser *p, size_t start, unsigned least, unsigned most)
{
    size_t n = p->r->n_insns - start;
    if (p->status < 0)
        return;
    if (n == 0) /* nothing, any number of times */
        return;
    if (most == 0) {
        p->r->n_insns = start;
        return;
    }
    /* The first copy is there already. */
    for (unsigned k = 1; k < least && p->status == 0; k++)
        copy_part(p, start, n);
    if (most == UNBOUNDED) {
        if (least == 0)
            make_star(p, n);
        else
            make_plus(p, n);
        return;
    }
    if (least == 0)
        make_optional(p, n);
    size_t own = start + (least == 0); /* a split may stand before it */
    for (unsigned k = least ? least : 1; k < most && p->status == 0; k++) {
        copy_part(p, own, n);
        make_optional(p, n);
    }
}

/* The number of an interval; -1: there is none. At most UNBOUNDED. */
static int take_count(struct parser *p)
{
    int v = -1;
    for (; *p->at >= '0' && *p->at <= '9'; p->at++) {
        v = (v < 0 ? 0 : v) * 10 + (*p->at - '0');
        if (v > UNBOUNDED)
            v = UNBOUNDED;
    }
    return v;
}

/* "{" N "}" | "{" [N] "," [M] "}", after the brace */
static void parse_interval(struct parser *p, size_t start)
{
    const char *open = p->at - 1;
    int least = take_count(p), most = least;
    if (*p->at == ',') {
        p->at++;
        most = take_count(p);
        if (most < 0)
            most = UNBOUNDED;
        if (least < 0)
            least = 0;
    }
    if (least < 0 || *p->at != '}') {
        fail(p, GT_E_USAGE, open, "expected {N}, {N,} or {N,M}; \\{ is the character");
        return;
    }
    if (most < least) {
        fail(p, GT_E_USAGE, open, "the second number of an interval is below the first");
        return;
    }
    if (least == UNBOUNDED || (most == UNBOUNDED && p->at[-1] != ',')) {
        fail(p, GT_E_RANGE, open, "the pattern is too large");
        return;
    }
    p->at++;
    repeat(p, start, (unsigned)least, (unsigned)most);
}

static bool is_repeat(char c)
{
    return c == '*' || c == '+' || c == '?' || c == '{';
}

static void parse_repeats(struct parser *p, size_t start)
{
    while (is_repeat(*p->at) && p->status == 0) {
        char c = *p->at++;
        if (c == '{')
            parse_interval(p, start);
        else
            repeat(p, start, c == '+', c == '?' ? 1 : UNBOUNDED);
    }
}

static void parse_set(struct parser *p, bool glob)
{
    struct gt_regex_set s;
    const char *why, *where;
    p->at = gt_regex_set_parse(p->at, glob, &s, &where, &why);
    if (why)
        fail(p, GT_E_USAGE, where, why);
    else
        emit_set(p, &s);
}

static void emit_byte(struct parser *p, char c)
{
    struct gt_regex_set s = {{0}};
    gt_regex_set_add(&s, (uint8_t)c);
    emit_set(p, &s);
}

static void emit_any(struct parser *p)
{
    const struct gt_regex_set all = {{~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0)}};
    emit_set(p, &all);
}

/* The characters after a backslash that mean something else. True: it is an anchor, which is not
 * repeated. */
static bool parse_escape(struct parser *p)
{
    static const char anchors[] = "bB<>`'";
    static const enum gt_regex_op ops[] = {GT_REGEX_WORD_EDGE,  GT_REGEX_NO_WORD_EDGE,
                                           GT_REGEX_WORD_BEGIN, GT_REGEX_WORD_END,
                                           GT_REGEX_BEGIN,      GT_REGEX_END};
    struct gt_regex_set s;
    char c = *p->at;
    if (!c) {
        fail(p, GT_E_USAGE, p->at - 1, "expected a character after the backslash");
        return false;
    }
    p->at++;
    const char *anchor = strchr(anchors, c);
    if (anchor)
        emit(p, ops[anchor - anchors], 0, 0);
    else if (gt_regex_set_named(c, &s))
        emit_set(p, &s);
    else if (c >= '1' && c <= '9')
        fail(p, GT_E_USAGE, p->at - 2, "there are no back-references");
    else
        emit_byte(p, c);
    return anchor != NULL;
}

static void parse_any(struct parser *p);

/* "(" any ")", after the parenthesis */
static void parse_group(struct parser *p)
{
    const char *open = p->at - 1;
    if (p->depth == GT_REGEX_DEPTH) {
        fail(p, GT_E_RANGE, open, "parentheses are nested too deeply");
        return;
    }
    p->depth++;
    parse_any(p);
    p->depth--;
    if (*p->at != ')')
        fail(p, GT_E_USAGE, open, "no ) for this (; \\( is the character");
    else
        p->at++;
}

/* ANCHOR | atom repeat* */
static void parse_piece(struct parser *p)
{
    size_t start = p->r->n_insns;
    char c = *p->at++;
    switch (c) {
    case '^':
    case '$':
        emit(p, c == '^' ? GT_REGEX_BEGIN : GT_REGEX_END, 0, 0);
        return;
    case '*':
    case '+':
    case '?':
    case '{':
        fail(p, GT_E_USAGE, p->at - 1,
             "there is nothing here to repeat (a regular "
             "expression: any text is '.*', a star itself '\\*')");
        return;
    case '(':
        parse_group(p);
        break;
    case '[':
        parse_set(p, false);
        break;
    case '.':
        emit_any(p);
        break;
    case '\\':
        if (parse_escape(p))
            return;
        break;
    default:
        emit_byte(p, c);
    }
    parse_repeats(p, start);
}

/* any = all ("|" all)* */
static void parse_any(struct parser *p)
{
    size_t start = p->r->n_insns;
    while (*p->at && *p->at != '|' && *p->at != ')' && p->status == 0)
        parse_piece(p);
    if (*p->at != '|' || p->status < 0)
        return;
    p->at++;
    /* All that follows is the other alternative. The program's size bounds the recursion. */
    insert(p, start, GT_REGEX_SPLIT, 1, (int)(p->r->n_insns - start) + 2);
    emit(p, GT_REGEX_JUMP, 0, 0);
    size_t jump = p->r->n_insns - 1;
    parse_any(p);
    if (p->status == 0)
        p->r->insn[jump].x = (int16_t)(p->r->n_insns - jump);
}

static void parse_glob(struct parser *p)
{
    emit(p, GT_REGEX_BEGIN, 0, 0);
    while (*p->at && p->status == 0) {
        char c = *p->at++;
        if (c == '*') {
            emit_any(p);
            make_star(p, 1);
        } else if (c == '?') {
            emit_any(p);
        } else if (c == '[') {
            parse_set(p, true);
        } else if (c != '\\') {
            emit_byte(p, c);
        } else if (*p->at) {
            emit_byte(p, *p->at++);
        } else {
            fail(p, GT_E_USAGE, p->at - 1, "expected a character after the backslash");
        }
    }
    emit(p, GT_REGEX_END, 0, 0);
}

static int finish(struct parser *p, struct gt_regex **out, size_t *at)
{
    emit(p, GT_REGEX_MATCH, 0, 0);
    *at = p->where;
    *out = p->status == 0 ? p->r : NULL;
    if (p->status < 0)
        gt_regex_free(p->r);
    else
        gt_regex_analyse(p->r);
    return p->status;
}

static bool begin(struct parser *p, const char *text, struct gt_error *err)
{
    *p = (struct parser){.text = text, .at = text, .err = err};
    p->r = calloc(1, sizeof *p->r);
    if (!p->r)
        gt_error_set(err, GT_E_NOMEM, "out of memory");
    return p->r;
}

int gt_regex_parse(const char *text, struct gt_regex **out, size_t *at, struct gt_error *err)
{
    struct parser p;
    *out = NULL;
    *at = 0;
    if (!begin(&p, text, err))
        return GT_E_NOMEM;
    parse_any(&p);
    if (*p.at == ')')
        fail(&p, GT_E_USAGE, p.at, "no ( for this ); \\) is the character");
    return finish(&p, out, at);
}

int gt_regex_parse_glob(const char *text, struct gt_regex **out, size_t *at, struct gt_error *err)
{
    struct parser p;
    *out = NULL;
    *at = 0;
    if (!begin(&p, text, err))
        return GT_E_NOMEM;
    parse_glob(&p);
    return finish(&p, out, at);
}

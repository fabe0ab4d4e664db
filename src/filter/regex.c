/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions, compiled and matched by PCRE2: see regex.h. */
#include "filter/regex.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Facts read off the text of an expression, before PCRE2 has it. */

enum { GT_REGEX_PART = 32 }; /* its most bytes, the NUL included */

/* The text of an expression, before PCRE2 has it. It is walked by items: an escaped
 * character, a set, an interval, or one character. */

static bool is_plain(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 128;
}

/* After a set's "]"; NULL: there is none. In a glob "!" inverts, too. */
static const char *after_set(const char *at, bool glob)
{
    at++;
    if (*at == '^' || (glob && *at == '!'))
        at++;
    if (*at == ']')
        at++;
    while (*at && *at != ']') {
        const char *end = at[0] == '[' && at[1] == ':' ? strstr(at + 2, ":]") : NULL;
        at += end ? end + 2 - at : *at == '\\' && at[1] ? 2 : 1;
    }
    return *at ? at + 1 : NULL;
}

/* After the item at `at`, and after what \Q quotes. */
static const char *after_item(const char *at)
{
    const char *end;
    if (*at == '[')
        end = after_set(at, false);
    else if (at[0] == '\\' && at[1] == 'Q')
        end = strstr(at, "\\E");
    else if (*at == '{')
        end = at + (at[1 + strspn(at + 1, "0123456789, ")] == '}' ? strcspn(at, "}") + 1 : 1);
    else
        end = at + (at[0] == '\\' && at[1] ? 2 : 1);
    return end ? end : at + strlen(at);
}

static bool is_open_interval(const char *at)
{
    return at[0] == '{' && at[1] == ',' && isdigit((unsigned char)at[2]) &&
           at[2 + strspn(at + 2, "0123456789")] == '}';
}

static const char *refused_escape(char c)
{
    if (c && strchr("<>`'", c))
        return "not known: \\b is the edge of a word, \\A and \\z are the text's beginning and "
               "end, "
               "and < > need no backslash";
    if (c == 'K')
        return "\\K is not known here: only whether a text matches is asked";
    return c && strchr("123456789gk", c) ? "there are no back-references" : NULL;
}

/* Why the expression is refused though PCRE2 would take it, and where: see regex.h. NULL: it is
 * not. */
static const char *regex_refused(const char *text, size_t *at)
{
    for (const char *p = text; *p; p = after_item(p)) {
        const char *why = NULL;
        if (*p == '\\')
            why = refused_escape(p[1]);
        else if (is_open_interval(p))
            why = "expected {N}, {N,} or {N,M}; \\{ is the character";
        else if (p[0] == '(' && p[1] == '*' && isupper((unsigned char)p[2]))
            why = "verbs are not known here";
        if (why) {
            *at = (size_t)(p - text);
            return why;
        }
    }
    return NULL;
}

/* ---- globs --------------------------------------------------------------------------------- */

static char *put_character(char *to, char c)
{
    if (!is_plain(c))
        *to++ = '\\';
    *to++ = c;
    return to;
}

/* [...], which ends before `end`: as PCRE2 has it. */
static char *put_set(char *to, const char *at, const char *end)
{
    *to++ = *at++;
    if (*at == '!') {
        *to++ = '^';
        at++;
    }
    while (at < end) {
        if (*at != '\\' || at + 2 >= end) {
            *to++ = *at++;
            continue;
        }
        to = put_character(to, at[1]);
        at += 2;
    }
    return to;
}

/* The expression of a glob: at most 2 bytes for each of its, 2 more and the NUL. The fault of the
 * glob, at *at, or NULL; with `most` *at is the place in the glob that the byte `most` of the
 * expression comes from. */
static const char *regex_from_glob(const char *glob, char *to, size_t most, size_t *at)
{
    const char *p = glob, *item = glob, *start = to, *next, *why = NULL;
    *to++ = '^';
    for (; *p && (size_t)(to - start) < most; p = next) {
        item = p;
        next = p + 1;
        if (*p == '*') {
            next = p + strspn(p, "*");
            to = stpcpy(to, ".*");
        } else if (*p == '?') {
            *to++ = '.';
        } else if (*p == '[') {
            next = after_set(p, true);
            if (!next) {
                why = "no ] for this [; \\[ is the character";
                break;
            }
            to = put_set(to, p, next);
        } else if (*p == '\\' && !*next) {
            why = "expected a character after the backslash";
            break;
        } else {
            to = put_character(to, *p == '\\' ? *next++ : *p);
        }
    }
    *at = (size_t)(item - glob);
    strcpy(to, "$");
    return why;
}

/* ---- the part ------------------------------------------------------------------------------ */

/* The character that an item stands for; 0: for none, or one of several. */
static char character_of(const char *at)
{
    if (*at == '\\')
        return isalnum((unsigned char)at[1]) ? 0 : at[1];
    return strchr(".[]()^$*+?{}|", *at) ? 0 : *at;
}

/* What follows such a backslash is not the text's own. */
static bool is_code(const char *at)
{
    return *at == '\\' && isalnum((unsigned char)at[1]) && !strchr("bBwWsSdD", at[1]);
}

/* A text that is part of whatever the expression matches; "" where none is known. */
static void regex_find_part(const char *text, char part[GT_REGEX_PART])
{
    char run[GT_REGEX_PART];
    size_t n = 0, longest = 0, depth = 0;
    *part = 0;
    if (strstr(text, "(?") || strstr(text, "(*"))
        return;
    for (const char *p = text, *next; *p; p = next) {
        next = after_item(p);
        char c = depth ? 0 : character_of(p);
        depth += *p == '(';
        depth -= *p == ')' && depth;
        if ((*p == '|' && !depth) || is_code(p)) {
            *part = 0;
            return;
        }
        bool repeated = *next && strchr("*?{", *next);
        if (c && !repeated && n + 1 < sizeof run)
            run[n++] = c;
        else
            n = 0;
        if (n > longest) {
            longest = n;
            memcpy(part, run, n);
            part[n] = 0;
        }
    }
}

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTIONS = PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_UTF | PCRE2_NEVER_UCP |
              PCRE2_NO_AUTO_CAPTURE,
    BRANCHES = 20000, /* of lookarounds and recursion, for a text */
    DEPTH = 250,      /* of these in each other */
    HEAP = 1024,      /* KiB, for these */
    /* PCRE2 compares the branches at a byte pairwise: so many bound its time as well. 6 ints each.
     */
    ROOM = 3000,
    SHORT_ROOM = 240,
    SHORT_TEXT = 256, /* bytes: where trying each beginning is quicker than one pass */
};

static const char prefix[] = ".*(?:", suffix[] = "\\E)";

struct gt_filter_regex {
    pcre2_code *code;
    pcre2_code *pass;           /* finds a match anywhere in one pass; NULL: `code` does */
    pcre2_match_context *limit; /* not changed by matching */
    uint64_t *undecided;        /* `own`, atomic */
    uint64_t own;
    char part[GT_REGEX_PART]; /* a text with a match has this part */
};

/* ---- to compile ---------------------------------------------------------------------------- */

static int refuse(int code, struct gt_error *err)
{
    PCRE2_UCHAR text[200];
    bool range =
        code == PCRE2_ERROR_PATTERN_TOO_LARGE || code == PCRE2_ERROR_PATTERN_STRING_TOO_LONG ||
        code == PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP || code == PCRE2_ERROR_QUANTIFIER_TOO_BIG;
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (code == PCRE2_ERROR_QUANTIFIER_INVALID)
        return gt_error_set(err, GT_E_USAGE,
                            "there is nothing here to repeat (a regular expression: any text is "
                            "'.*', a star itself '\\*')");
    pcre2_get_error_message(code, text, sizeof text);
    return gt_error_set(err, range ? GT_E_RANGE : GT_E_USAGE, "%s", (const char *)text);
}

static int compile(const char *text, pcre2_code **out, size_t *at, struct gt_error *err)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    int code = PCRE2_ERROR_HEAP_FAILED;
    PCRE2_SIZE where = 0;
    if (context) {
        pcre2_set_max_pattern_length(context, GT_REGEX_LENGTH + sizeof prefix + sizeof suffix);
        pcre2_set_parens_nest_limit(context, GT_REGEX_DEPTH + 1);
        *out =
            pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, OPTIONS, &code, &where, context);
        pcre2_compile_context_free(context);
    }
    *at = where;
    return *out ? 0 : refuse(code, err);
}

/* An expression that begins anywhere: compiled again, so that one pass does. */
static int compile_pass(struct gt_filter_regex *r, const char *text, size_t *at,
                        struct gt_error *err)
{
    char whole[GT_REGEX_LENGTH + sizeof prefix + sizeof suffix];
    uint32_t options = 0;
    pcre2_pattern_info(r->code, PCRE2_INFO_ALLOPTIONS, &options);
    if (options & PCRE2_ANCHORED)
        return 0;
    strcat(strcat(strcpy(whole, prefix), text), suffix);
    int status = compile(whole, &r->pass, at, err);
    size_t n = strlen(text), before = sizeof prefix - 1;
    *at = *at < before ? 0 : *at - before > n ? n : *at - before;
    return status;
}

static int check(const struct gt_filter_regex *r, size_t *at, struct gt_error *err)
{
    uint32_t references = 0;
    size_t size = 0;
    *at = 0;
    pcre2_pattern_info(r->code, PCRE2_INFO_BACKREFMAX, &references);
    pcre2_pattern_info(r->code, PCRE2_INFO_SIZE, &size);
    if (references)
        return gt_error_set(err, GT_E_USAGE, "there are no back-references");
    if (size > GT_REGEX_SIZE)
        return gt_error_set(err, GT_E_RANGE, "the pattern is too large");
    return 0;
}

static int compile_all(struct gt_filter_regex *r, const char *text, size_t *at,
                       struct gt_error *err)
{
    r->limit = pcre2_match_context_create(NULL);
    if (!r->limit)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    pcre2_set_match_limit(r->limit, BRANCHES);
    pcre2_set_depth_limit(r->limit, DEPTH);
    pcre2_set_heap_limit(r->limit, HEAP);
    int status = compile(text, &r->code, at, err);
    if (status == 0)
        status = check(r, at, err);
    return status < 0 ? status : compile_pass(r, text, at, err);
}

static int make(const char *text, struct gt_filter_regex **out, size_t *at, struct gt_error *err)
{
    struct gt_filter_regex *r = calloc(1, sizeof *r);
    int status = r ? compile_all(r, text, at, err) : gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (status < 0) {
        gt_filter_regex_free(r);
        return status;
    }
    r->undecided = &r->own;
    regex_find_part(text, r->part);
    *out = r;
    return 0;
}

int gt_filter_regex_parse(const char *text, struct gt_filter_regex **out, size_t *at,
                          struct gt_error *err)
{
    *out = NULL;
    *at = GT_REGEX_LENGTH;
    if (strnlen(text, GT_REGEX_LENGTH + 1) > GT_REGEX_LENGTH)
        return gt_error_set(err, GT_E_RANGE, "the pattern is too large");
    const char *refused = regex_refused(text, at);
    return refused ? gt_error_set(err, GT_E_USAGE, "%s", refused) : make(text, out, at, err);
}

int gt_filter_regex_parse_glob(const char *text, struct gt_filter_regex **out, size_t *at,
                               struct gt_error *err)
{
    char whole[GT_REGEX_LENGTH + 1];
    *out = NULL;
    *at = GT_REGEX_LENGTH / 2 - 2;
    if (strnlen(text, *at + 1) > *at)
        return gt_error_set(err, GT_E_RANGE, "the pattern is too large");
    const char *refused = regex_from_glob(text, whole, SIZE_MAX, at);
    if (refused)
        return gt_error_set(err, GT_E_USAGE, "%s", refused);
    int status = make(whole, out, at, err);
    if (status < 0)
        regex_from_glob(text, whole, *at, at);
    return status;
}

void gt_filter_regex_free(struct gt_filter_regex *r)
{
    if (!r)
        return;
    pcre2_code_free(r->code);
    pcre2_code_free(r->pass);
    pcre2_match_context_free(r->limit);
    free(r);
}

/* ---- to match ------------------------------------------------------------------------------ */

/* The branches of small expressions have room when each beginning is tried alone. */
static int run(const struct gt_filter_regex *r, const char *text, size_t n, pcre2_match_data *data)
{
    PCRE2_SPTR subject = (PCRE2_SPTR)text;
    uint32_t options = PCRE2_DFA_SHORTEST;
    int room[ROOM];
    if (n <= SHORT_TEXT || !r->pass) {
        int result = pcre2_dfa_match(r->code, subject, n, 0, options, data, r->limit, room,
                                     r->pass ? SHORT_ROOM : ROOM);
        if (!r->pass || result != PCRE2_ERROR_DFA_WSSIZE)
            return result;
    }
    return pcre2_dfa_match(r->pass, subject, n, 0, options | PCRE2_ANCHORED, data, r->limit, room,
                           ROOM);
}

bool gt_filter_regex_match_bytes(const struct gt_filter_regex *r, const char *text, size_t n)
{
    if (r->part[0] && !memmem(text, n, r->part, strlen(r->part)))
        return false;
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int result = data ? run(r, text, n, data) : PCRE2_ERROR_NOMEMORY;
    pcre2_match_data_free(data);
    if (result < 0 && result != PCRE2_ERROR_NOMATCH)
        __atomic_fetch_add(r->undecided, 1, __ATOMIC_RELAXED);
    return result >= 0;
}

bool gt_filter_regex_match(const struct gt_filter_regex *r, const char *text)
{
    return gt_filter_regex_match_bytes(r, text, strlen(text));
}

uint64_t gt_filter_regex_undecided(const struct gt_filter_regex *r)
{
    return r ? __atomic_load_n(r->undecided, __ATOMIC_RELAXED) : 0;
}

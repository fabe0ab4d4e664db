/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions, compiled and matched by PCRE2: see regex.h. */
#include "filter/regex.h"

#include "filter/regex_text.h"

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

struct gt_regex {
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
static int compile_pass(struct gt_regex *r, const char *text, size_t *at, struct gt_error *err)
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

static int check(const struct gt_regex *r, size_t *at, struct gt_error *err)
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

static int compile_all(struct gt_regex *r, const char *text, size_t *at, struct gt_error *err)
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

static int make(const char *text, struct gt_regex **out, size_t *at, struct gt_error *err)
{
    struct gt_regex *r = calloc(1, sizeof *r);
    int status = r ? compile_all(r, text, at, err) : gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (status < 0) {
        gt_regex_free(r);
        return status;
    }
    r->undecided = &r->own;
    gt_regex_find_part(text, r->part);
    *out = r;
    return 0;
}

int gt_regex_parse(const char *text, struct gt_regex **out, size_t *at, struct gt_error *err)
{
    *out = NULL;
    *at = GT_REGEX_LENGTH;
    if (strnlen(text, GT_REGEX_LENGTH + 1) > GT_REGEX_LENGTH)
        return gt_error_set(err, GT_E_RANGE, "the pattern is too large");
    const char *refused = gt_regex_refused(text, at);
    return refused ? gt_error_set(err, GT_E_USAGE, "%s", refused) : make(text, out, at, err);
}

int gt_regex_parse_glob(const char *text, struct gt_regex **out, size_t *at, struct gt_error *err)
{
    char whole[GT_REGEX_LENGTH + 1];
    *out = NULL;
    *at = GT_REGEX_LENGTH / 2 - 2;
    if (strnlen(text, *at + 1) > *at)
        return gt_error_set(err, GT_E_RANGE, "the pattern is too large");
    const char *refused = gt_regex_from_glob(text, whole, SIZE_MAX, at);
    if (refused)
        return gt_error_set(err, GT_E_USAGE, "%s", refused);
    int status = make(whole, out, at, err);
    if (status < 0)
        gt_regex_from_glob(text, whole, *at, at);
    return status;
}

void gt_regex_free(struct gt_regex *r)
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
static int run(const struct gt_regex *r, const char *text, size_t n, pcre2_match_data *data)
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

bool gt_regex_match_bytes(const struct gt_regex *r, const char *text, size_t n)
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

bool gt_regex_match(const struct gt_regex *r, const char *text)
{
    return gt_regex_match_bytes(r, text, strlen(text));
}

uint64_t gt_regex_undecided(const struct gt_regex *r)
{
    return r ? __atomic_load_n(r->undecided, __ATOMIC_RELAXED) : 0;
}

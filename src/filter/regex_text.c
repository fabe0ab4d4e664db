/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read off an expression's text: see regex_text.h. It is walked by items: an escaped
 * character, a set, an interval, or one character. */
#include "filter/regex_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

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

const char *gt_regex_refused(const char *text, size_t *at)
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

const char *gt_regex_from_glob(const char *glob, char *to, size_t most, size_t *at)
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

void gt_regex_find_part(const char *text, char part[GT_REGEX_PART])
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

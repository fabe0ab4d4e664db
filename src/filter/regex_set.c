/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of characters: [abc], [^a-z], [[:alpha:]_]. */
#include "filter/regex_program.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    int (*has)(int c);
} classes[] = {
    {"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
    {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
    {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
};

static void add_class(struct gt_regex_set *s, int (*has)(int c))
{
    for (int c = 1; c < 128; c++) /* ASCII, in every locale */
        if (has(c))
            gt_regex_set_add(s, (uint8_t)c);
}

static void invert(struct gt_regex_set *s)
{
    for (size_t i = 0; i < 4; i++)
        s->bits[i] = ~s->bits[i];
}

bool gt_regex_set_named(char letter, struct gt_regex_set *s)
{
    *s = (struct gt_regex_set){{0}};
    if (letter != 'w' && letter != 'W' && letter != 's' && letter != 'S')
        return false;
    add_class(s, letter == 'w' || letter == 'W' ? isalnum : isspace);
    if (letter == 'w' || letter == 'W')
        gt_regex_set_add(s, '_');
    if (letter == 'W' || letter == 'S')
        invert(s);
    return true;
}

/* [:NAME:], after "[:" */
static const char *parse_class(const char *at, struct gt_regex_set *s, const char **why)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        size_t n = strlen(classes[i].name);
        if (strncmp(at, classes[i].name, n) == 0 && at[n] == ':' && at[n + 1] == ']') {
            add_class(s, classes[i].has);
            return at + n + 2;
        }
    }
    *why =
        "no such class, expected [:alnum:] alpha blank cntrl digit graph lower print punct space "
        "upper or xdigit";
    return at;
}

/* One character of a set; [.x.] and [=x=] are x. */
static const char *take_byte(const char *at, bool glob, uint8_t *out)
{
    if (at[0] == '[' && (at[1] == '.' || at[1] == '=') && at[2] && at[3] == at[1] && at[4] == ']') {
        *out = (uint8_t)at[2];
        return at + 5;
    }
    if (glob && *at == '\\' && at[1])
        at++;
    *out = (uint8_t)*at;
    return at + 1;
}

/* X or X-Y */
static const char *parse_range(const char *at, bool glob, struct gt_regex_set *s, const char **why)
{
    uint8_t first, last;
    const char *start = at;
    at = take_byte(at, glob, &first);
    last = first;
    if (*at == '-' && at[1] && at[1] != ']')
        at = take_byte(at + 1, glob, &last);
    if (last < first) {
        *why = "a range whose end comes before its beginning";
        return start;
    }
    for (unsigned c = first; c <= last; c++)
        gt_regex_set_add(s, (uint8_t)c);
    return at;
}

const char *gt_regex_set_parse(const char *at, bool glob, struct gt_regex_set *s,
                               const char **where, const char **why)
{
    const char *open = at - 1;
    bool inverted = *at == '^' || (glob && *at == '!');
    *s = (struct gt_regex_set){{0}};
    *why = NULL;
    at += inverted;
    for (const char *first = at; *at && (*at != ']' || at == first);) {
        *where = at;
        if (at[0] == '[' && at[1] == ':')
            at = parse_class(at + 2, s, why);
        else
            at = parse_range(at, glob, s, why);
        if (*why)
            return at;
    }
    if (!*at) {
        *where = open;
        *why = "no ] for this [; \\[ is the character";
        return at;
    }
    if (inverted)
        invert(s);
    return at + 1;
}

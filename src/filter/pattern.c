/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of functions: see pattern.h. */
#include "filter/pattern.h"

#include "base/number.h"
#include "filter/regex.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum kind {
    NAME,       /* `text` is the name */
    EXPRESSION, /* `regex` matches it */
    ADDRESS,
    LINE,       /* of the file `text` */
    FILE_PART,  /* `text` is some components of the source file's path */
    FILE_REGEX, /* `regex` matches it */
};

enum module_kind { ANY_MODULE, MODULE_NAME, MODULE_GLOB, MODULE_KERNEL, MODULE_PLT };

struct gt_filter_pattern {
    enum kind kind;
    enum module_kind module_kind;
    struct gt_filter_regex *regex, *module_glob;
    uint64_t number; /* the address or line */
    char *module;    /* inside `own` */
    char *text;      /* inside `own` */
    char own[];      /* the module, NUL, the text, NUL */
};

static const char special[] = ".?*+-^$|()[]{}"; /* as in uftrace */

const char *const gt_filter_match_names[] = {
    [GT_FILTER_MATCH_REGEX] = "regex", [GT_FILTER_MATCH_GLOB] = "glob", NULL};

enum gt_filter_match gt_filter_match_of(const char *name)
{
    return name && strcmp(name, gt_filter_match_names[GT_FILTER_MATCH_GLOB]) == 0
               ? GT_FILTER_MATCH_GLOB
               : GT_FILTER_MATCH_REGEX;
}

/* The colon between the module and the name; NULL: none. */
static const char *find_colon(const char *text, size_t n)
{
    unsigned brackets = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\\')
            i++;
        else if (text[i] == '[' || text[i] == '(')
            brackets++;
        else if ((text[i] == ']' || text[i] == ')') && brackets)
            brackets--;
        else if (text[i] == ':' && i + 1 < n && text[i + 1] == ':')
            i++;
        else if (text[i] == ':' && !brackets)
            return text + i;
    }
    return NULL;
}

static bool all_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == 0;
}

/* A plain name: backslashes only protect what separates. */
static void remove_backslashes(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text == '\\' && text[1])
            text++;
        *to++ = *text;
    }
    *to = 0;
}

static int parse_name(struct gt_filter_pattern *p, enum gt_filter_match match, size_t *at,
                      struct gt_error *err)
{
    *at = 0;
    if (!*p->text)
        return gt_error_set(err, GT_E_USAGE, "expected a function");
    if (!strpbrk(p->text, special) || strncmp(p->text, "operator ", 9) == 0) {
        p->kind = NAME;
        remove_backslashes(p->text);
        return 0;
    }
    p->kind = EXPRESSION;
    return match == GT_FILTER_MATCH_GLOB ? gt_filter_regex_parse_glob(p->text, &p->regex, at, err)
                                         : gt_filter_regex_parse(p->text, &p->regex, at, err);
}

static int parse_address(struct gt_filter_pattern *p, size_t *at, struct gt_error *err)
{
    p->kind = ADDRESS;
    *at = 0;
    if (gt_text_number_parse(p->text, &p->number) < 0)
        return gt_error_set(err, GT_E_USAGE, "expected an address, 0x and up to 16 hex digits");
    return 0;
}

static int parse_module(struct gt_filter_pattern *p, size_t *at, struct gt_error *err)
{
    if (!p->module)
        return 0;
    if (!*p->module) {
        *at = 0;
        return gt_error_set(err, GT_E_USAGE, "expected a module before the colon");
    }
    if (strcasecmp(p->module, "kernel") == 0)
        p->module_kind = MODULE_KERNEL;
    else if (strcasecmp(p->module, "PLT") == 0)
        p->module_kind = MODULE_PLT;
    else
        p->module_kind = MODULE_NAME;
    if (!strpbrk(p->module, "*?["))
        return 0;
    p->module_kind = MODULE_GLOB;
    return gt_filter_regex_parse_glob(p->module, &p->module_glob, at, err);
}

/* A pattern whose text is the n bytes, split at the colon. NULL: no memory. */
static struct gt_filter_pattern *new_pattern(const char *text, size_t n, const char *colon)
{
    struct gt_filter_pattern *p = calloc(1, sizeof *p + n + 1);
    if (!p)
        return NULL;
    memcpy(p->own, text, n);
    p->text = p->own;
    if (colon) {
        p->own[colon - text] = 0;
        p->module = p->own;
        p->text = p->own + (colon - text) + 1;
    }
    return p;
}

static int finish(struct gt_filter_pattern *p, int status, struct gt_filter_pattern **out)
{
    if (status < 0)
        gt_filter_pattern_free(p);
    else
        *out = p;
    return status;
}

int gt_filter_pattern_parse(const char *text, size_t n, enum gt_filter_match match,
                            struct gt_filter_pattern **out, size_t *at, struct gt_error *err)
{
    const char *colon = find_colon(text, n);
    struct gt_filter_pattern *p = new_pattern(text, n, colon);
    int status;
    *out = NULL;
    *at = 0;
    if (!p)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    if (colon && all_digits(p->text) && *p->module) {
        p->kind = LINE;
        status = gt_text_number_parse(p->text, &p->number);
        *at = (size_t)(p->text - p->own);
        if (status < 0 || p->number > UINT32_MAX)
            return finish(p, gt_error_set(err, GT_E_RANGE, "a line number that is too large"), out);
        p->text = p->module;
        p->module = NULL;
        return finish(p, 0, out);
    }
    status = parse_module(p, at, err);
    if (status < 0)
        return finish(p, status, out);
    status =
        strncmp(p->text, "0x", 2) == 0 ? parse_address(p, at, err) : parse_name(p, match, at, err);
    *at += (size_t)(p->text - p->own);
    return finish(p, status, out);
}

int gt_filter_pattern_parse_file(const char *text, size_t n, enum gt_filter_match match,
                                 struct gt_filter_pattern **out, size_t *at, struct gt_error *err)
{
    struct gt_filter_pattern *p = new_pattern(text, n, NULL);
    *out = NULL;
    *at = 0;
    if (!p)
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    int status = parse_name(p, match, at, err);
    p->kind = p->kind == EXPRESSION ? FILE_REGEX : FILE_PART;
    for (size_t length = strlen(p->text); length > 1 && p->text[length - 1] == '/'; length--)
        p->text[length - 1] = 0;
    return finish(p, status, out);
}

void gt_filter_pattern_free(struct gt_filter_pattern *p)
{
    if (!p)
        return;
    gt_filter_regex_free(p->regex);
    gt_filter_regex_free(p->module_glob);
    free(p);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool is_in_module(const struct gt_filter_pattern *p, const struct gt_filter_function *f)
{
    const char *base = f->module ? base_name(f->module) : "";
    size_t n;
    switch (p->module_kind) {
    case ANY_MODULE:
        return true;
    case MODULE_KERNEL:
        return f->kernel;
    case MODULE_PLT:
        return f->plt;
    case MODULE_GLOB:
        return gt_filter_regex_match(p->module_glob, base);
    default:
        n = strlen(p->module);
        return strncmp(base, p->module, n) == 0 && (!base[n] || base[n] == '.' || base[n] == '-');
    }
}

static bool matches_name(const struct gt_filter_pattern *p, const char *name)
{
    return p->kind == NAME ? strcmp(p->text, name) == 0 : gt_filter_regex_match(p->regex, name);
}

static bool matches_a_name(const struct gt_filter_pattern *p, const struct gt_filter_function *f)
{
    if (f->name && matches_name(p, f->name))
        return true;
    for (const char *const *also = f->also; also && *also; also++)
        if (matches_name(p, *also))
            return true;
    return false;
}

static bool has_address(const struct gt_filter_pattern *p, const struct gt_filter_function *f)
{
    uint64_t lo = p->module_kind == ANY_MODULE ? f->address : f->file_address;
    return p->number >= lo && p->number - lo < (f->size ? f->size : 1);
}

/* The path has the part, from the beginning of a component to the end of one; `last`: of the last
 * one. */
static bool has_part(const char *path, const char *part, bool last)
{
    size_t n = strlen(part);
    for (const char *at = strstr(path, part); at; at = strstr(at + 1, part))
        if ((at == path || at[-1] == '/' || *part == '/') && (!at[n] || (at[n] == '/' && !last)))
            return true;
    return false;
}

/* "10-20,30": what cannot be read ends the list. */
static bool is_listed(const char *lines, uint64_t line)
{
    while (*lines >= '0' && *lines <= '9') {
        char *end;
        uint64_t first = strtoull(lines, &end, 10), last = first;
        if (*end == '-')
            last = strtoull(end + 1, &end, 10);
        if (line >= first && line <= last)
            return true;
        lines = *end == ',' ? end + 1 : "";
    }
    return false;
}

static bool has_line(const struct gt_filter_pattern *p, const struct gt_filter_function *f)
{
    return f->file && f->line &&
           (p->number == f->line || (f->lines && is_listed(f->lines, p->number))) &&
           has_part(f->file, p->text, true);
}

bool gt_filter_pattern_match(const struct gt_filter_pattern *p, const struct gt_filter_function *f)
{
    if (!is_in_module(p, f))
        return false;
    switch (p->kind) {
    case ADDRESS:
        return has_address(p, f);
    case LINE:
        return has_line(p, f);
    case FILE_PART:
        return f->file && has_part(f->file, p->text, false);
    case FILE_REGEX:
        return f->file && gt_filter_regex_match(p->regex, f->file);
    default:
        return matches_a_name(p, f);
    }
}

uint64_t gt_filter_pattern_undecided(const struct gt_filter_pattern *p)
{
    return p ? gt_filter_regex_undecided(p->regex) + gt_filter_regex_undecided(p->module_glob) : 0;
}

const char *gt_filter_pattern_exact(const struct gt_filter_pattern *p)
{
    return p->kind == NAME && p->module_kind == ANY_MODULE ? p->text : NULL;
}

const char *gt_filter_pattern_name(const struct gt_filter_pattern *p)
{
    return p->text;
}

bool gt_filter_pattern_needs_lines(const struct gt_filter_pattern *p)
{
    return p->kind == LINE || p->kind == FILE_PART || p->kind == FILE_REGEX;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are sought by a text: see find.h. */
#include "calls/profile/find.h"

#include "base/text.h"
#include "filter/regex.h"

#include <glib.h>
#include <string.h>

/* The text from a place on, and its part up to the next colon. */
struct piece {
    char *rest, *part; /* small letters */
};

struct gt_profile_find {
    char *text;
    struct gt_filter_regex *regex; /* NULL: the pieces count */
    GArray *pieces;                /* struct piece: modules, and at last the name */
};

/* Not all names are UTF-8. */
static char *small(const char *text)
{
    return g_str_is_ascii(text) || !g_utf8_validate(text, -1, NULL) ? g_ascii_strdown(text, -1)
                                                                    : g_utf8_strdown(text, -1);
}

/* The colon of MODULE:NAME: between other characters than colons. NULL: there is none. */
static const char *find_colon(const char *text)
{
    for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ':'))
        if (at > text && at[-1] != ':' && at[1] && at[1] != ':')
            return at;
    return NULL;
}

static void clear_piece(gpointer data)
{
    const struct piece *p = data;
    g_free(p->rest);
    g_free(p->part);
}

static void split(struct gt_profile_find *f)
{
    g_autofree char *low = small(f->text);
    const bool words = strchr(low, ' ') != NULL; /* of a name: "f(int, int)" */
    for (const char *at = low, *colon; at; at = colon ? colon + 1 : NULL) {
        colon = words ? NULL : find_colon(at);
        const struct piece p = {g_strdup(at),
                                colon ? g_strndup(at, (gsize)(colon - at)) : g_strdup(at)};
        g_array_append_val(f->pieces, p);
    }
}

static int parse_expression(struct gt_profile_find *f, struct gt_error *err)
{
    g_autofree char *text = g_strdup(f->text + 1);
    const size_t n = strlen(text);
    struct gt_error why = {0};
    size_t at = 0;
    if (n > 1 && text[n - 1] == '/')
        text[n - 1] = '\0';
    const int status = gt_filter_regex_parse(text, &f->regex, &at, &why);
    return status < 0 ? gt_error_set(err, status, "regular expression, at character %zu: %s",
                                     at + 1, why.text)
                      : 0;
}

int gt_profile_find_parse(const char *text, struct gt_profile_find **out, struct gt_error *err)
{
    *out = NULL;
    if (strlen(text) > GT_REGEX_LENGTH)
        return gt_error_set(err, GT_E_RANGE, "a search of %zu bytes; at most %d", strlen(text),
                            GT_REGEX_LENGTH);
    struct gt_profile_find *f = g_new0(struct gt_profile_find, 1);
    f->text = g_strdup(text);
    f->pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));
    g_array_set_clear_func(f->pieces, clear_piece);
    int status = 0;
    if (text[0] == '/' && text[1])
        status = parse_expression(f, err);
    else
        split(f);
    if (status < 0)
        gt_profile_find_free(f);
    else
        *out = f;
    return status;
}

void gt_profile_find_free(struct gt_profile_find *f)
{
    if (!f)
        return;
    gt_filter_regex_free(f->regex);
    g_array_free(f->pieces, TRUE);
    g_free(f->text);
    g_free(f);
}

static bool fits(const char *part, const char *low)
{
    return strpbrk(part, "*?") ? gt_text_glob_fits(part, low) : strstr(low, part) != NULL;
}

static bool is_exact(const struct gt_profile_find *f, const char *name, const char *module)
{
    const size_t n = strlen(module);
    return strcmp(f->text, name) == 0 || (strncmp(f->text, module, n) == 0 && f->text[n] == ':' &&
                                          strcmp(f->text + n + 1, name) == 0);
}

enum gt_profile_found gt_profile_find_match(const struct gt_profile_find *f, const char *name,
                                            const char *module)
{
    const char *slash = module ? strrchr(module, '/') : NULL;
    module = slash ? slash + 1 : module ? module : "";
    if (f->regex)
        return gt_filter_regex_match(f->regex, name) ? GT_FOUND : GT_FOUND_NOT;
    if (is_exact(f, name, module))
        return GT_FOUND_EXACTLY;
    g_autofree char *low = small(name), *of = small(module);
    const struct piece *p = (const void *)f->pieces->data;
    guint i = f->pieces->len - 1;
    bool found = fits(p[i].part, low);
    while (i-- > 0)
        found = (found && fits(p[i].part, of)) || strstr(low, p[i].rest);
    return found ? GT_FOUND : GT_FOUND_NOT;
}

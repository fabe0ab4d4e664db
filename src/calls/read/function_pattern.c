/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions by name: see function_pattern.h. */
#include "calls/read/function_pattern.h"

#include "base/text.h"

#include <glib.h>
#include <string.h>

/* Length of a name without its parameters and what follows them. */
static size_t bare_length(const char *name)
{
    const char *close = strrchr(name, ')');
    int open = 0;
    for (const char *p = close; p && p > name; p--) {
        open += *p == ')' ? 1 : *p == '(' ? -1 : 0;
        if (open == 0)
            return (size_t)(p - name);
    }
    return strlen(name);
}

static bool fits(const char *pattern, const char *name)
{
    if (strcmp(pattern, name) == 0 || gt_text_glob_fits(pattern, name))
        return true;
    size_t length = bare_length(name);
    if (!name[length])
        return false;
    g_autofree char *bare = g_strndup(name, length);
    return strcmp(pattern, bare) == 0 || gt_text_glob_fits(pattern, bare);
}

/* The colon that ends the module's name: none of a "::". */
static const char *find_colon(const char *pattern)
{
    for (const char *p = strchr(pattern, ':'); p; p = strchr(p, ':')) {
        size_t colons = strspn(p, ":");
        if (colons == 1)
            return p > pattern ? p : NULL;
        p += colons;
    }
    return NULL;
}

const char *gt_calls_function_module(const struct gt_calls_function *f)
{
    const char *slash = strrchr(f->module, '/');
    return slash && slash[1] ? slash + 1 : f->module;
}

bool gt_calls_function_pattern_matches(const char *pattern, const struct gt_calls_function *f,
                                       const char *shown)
{
    if (fits(pattern, shown) || (shown != f->name && fits(pattern, f->name)))
        return true;
    const char *colon = find_colon(pattern);
    if (!colon)
        return false;
    g_autofree char *module = g_strndup(pattern, (size_t)(colon - pattern));
    const char *own = gt_calls_function_module(f);
    return (strcmp(module, own) == 0 || gt_text_glob_fits(module, own)) &&
           (fits(colon + 1, shown) || fits(colon + 1, f->name));
}

const char *gt_calls_function_pattern_name(const char *pattern)
{
    const char *colon = find_colon(pattern);
    return colon ? colon + 1 : pattern;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions by name: see function_pattern.h. */
#include "cli/function_pattern.h"

#include "cli/nearest.h"
#include "guesttrace/control.h"

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
    if (strcmp(pattern, name) == 0 || gt_trace_match(pattern, name))
        return true;
    size_t length = bare_length(name);
    if (!name[length])
        return false;
    g_autofree char *bare = g_strndup(name, length);
    return strcmp(pattern, bare) == 0 || gt_trace_match(pattern, bare);
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

const char *gt_function_module(const struct gt_calls_function *f)
{
    const char *slash = strrchr(f->module, '/');
    return slash && slash[1] ? slash + 1 : f->module;
}

bool gt_function_pattern_matches(const char *pattern, const struct gt_calls_function *f,
                                 const char *shown)
{
    if (fits(pattern, shown) || (shown != f->name && fits(pattern, f->name)))
        return true;
    const char *colon = find_colon(pattern);
    if (!colon)
        return false;
    g_autofree char *module = g_strndup(pattern, (size_t)(colon - pattern));
    const char *own = gt_function_module(f);
    return (strcmp(module, own) == 0 || gt_trace_match(module, own)) &&
           (fits(colon + 1, shown) || fits(colon + 1, f->name));
}

static int not_found(const struct gt_calls *c, size_t n, struct gt_demangler *d,
                     const char *pattern, struct gt_error *err)
{
    const char *colon = find_colon(pattern);
    struct gt_nearest near = {.wanted = colon ? colon + 1 : pattern};
    for (uint32_t i = 0; i < n; i++)
        gt_nearest_offer(&near, gt_demangle(d, gt_calls_function(c, i)->name));
    g_autofree char *others = gt_nearest_text(&near);
    return gt_error_set(err, GT_E_NOT_FOUND, "%s: no function '%s' was called%s",
                        gt_calls_facts(c)->path, pattern, others);
}

int gt_function_pattern_choose(const struct gt_calls *c, size_t n, struct gt_demangler *d,
                               const char *pattern, bool *chosen, struct gt_error *err)
{
    bool any = false;
    for (uint32_t i = 0; i < n; i++) {
        const struct gt_calls_function *f = gt_calls_function(c, i);
        if (gt_function_pattern_matches(pattern, f, gt_demangle(d, f->name)))
            any = chosen[i] = true;
    }
    return any ? 0 : not_found(c, n, d, pattern, err);
}

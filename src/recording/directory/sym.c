/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NAME.sym:
 *   # symbols: N
 *   # path name: P
 *   # build-id: H
 *   <16 hex> T name
 * Each line before the symbols is optional; symbols are in ascending order. `<16 hex> ? __sym_end`
 * ends the symbol before it, and so does one without a name, which readers give its address. From
 * uftrace 0.14 on a size may follow the address: `<16 hex> <8 hex> T name`; this form is read, but
 * never written.
 */
#include "base/cursor.h"
#include "base/fnv.h"
#include "base/search.h"
#include "base/text.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What readers keep of a symbol's size. */
#define SIZE_LIMIT UINT32_MAX

bool gt_uftrace_name_is_special(const char *name)
{
    static const char *const special[] = {
        "execl",       "execlp",  "execle",     "execv",         "execve",
        "execvp",      "execvpe", "setjmp",     "_setjmp",       "sigsetjmp",
        "__sigsetjmp", "longjmp", "siglongjmp", "__longjmp_chk", "fork",
        "vfork",       "daemon",  "__sym_end",  "__dynsym_end",  "__func_end",
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (!strcmp(name, special[i]))
            return true;
    return false;
}

static bool type_is_good(char type)
{
    return type && strchr("TtwPDdvuK", type);
}

/* Chrome output of uftrace 0.13 crashes above some 2100 bytes. */
enum { NAME_MAX_SHOWN = 2000, NAME_KEPT = 1980 };

/* A name that is too long is cut and made unique by a hash of all of it (FNV-1a). */
static void add_name(struct gt_text *t, const char *name)
{
    uint64_t hash = GT_FNV_BEGIN;
    if (strlen(name) <= NAME_MAX_SHOWN) {
        gt_text_add_value(t, name, SIZE_MAX);
        return;
    }
    for (const char *p = name; *p; p++)
        hash = gt_bytes_fnv(hash, (unsigned char)*p);
    gt_text_add_value(t, name, NAME_KEPT);
    gt_text_printf(t, "~%016" PRIx64, hash);
}

static void write_name(struct gt_text *t, const char *name)
{
    size_t at = t->len;
    add_name(t, *name ? name : "?");
    for (; !t->failed && at < t->len; at++) /* graphviz output does not escape these */
        if (t->data[at] == '"' || t->data[at] == '\\')
            t->data[at] = '?';
    if (gt_uftrace_name_is_special(name))
        gt_text_add(t, "()", 2);
    gt_text_add(t, "\n", 1);
}

static void write_header(struct gt_text *t, const struct gt_uftrace_module *module, size_t n,
                         const char **base, char *path, size_t size)
{
    gt_uftrace_path(module->path, path, size);
    const char *slash = strrchr(path, '/');
    *base = slash ? slash + 1 : path;
    gt_text_printf(t, "# symbols: %zu\n# path name: %s\n", n, path);
    const char *id = module->build_id;
    if (id && *id && strlen(id) <= 40 && gt_text_is_hex(id, strlen(id)))
        gt_text_printf(t, "# build-id: %s\n", id);
}

/* One symbol, and an end marker where it does not reach the next one. */
static void write_symbol(struct gt_text *t, const struct gt_uftrace_symbol *s, uint64_t next,
                         bool last)
{
    uint64_t room = last ? SIZE_LIMIT : next - s->addr;
    uint64_t size = s->size ? s->size : last ? 1 : room;
    if (size > SIZE_LIMIT)
        size = SIZE_LIMIT;
    if (size > UINT64_MAX - s->addr)
        size = UINT64_MAX - s->addr;
    gt_text_printf(t, "%016" PRIx64 " %c ", s->addr, type_is_good(s->type) ? s->type : 'T');
    write_name(t, s->name);
    if (last || size < room)
        gt_text_printf(t, "%016" PRIx64 " ? __sym_end\n", s->addr + size);
}

int gt_uftrace_sym_write(struct gt_text *t, const struct gt_uftrace_module *module,
                         const struct gt_uftrace_symbol *sym, size_t n, struct gt_error *err)
{
    size_t unique = n > 0;
    for (size_t i = 1; i < n; i++) {
        if (sym[i].addr < sym[i - 1].addr)
            return gt_error_set(err, GT_E_USAGE, "%.200s: symbol %.100s is not in order",
                                module->path, sym[i].name);
        unique += sym[i].addr > sym[i - 1].addr;
    }
    char path[GT_UFTRACE_PATH_MAX];
    const char *base;
    write_header(t, module, unique ? unique : 1, &base, path, sizeof path);
    if (!n)
        write_symbol(t, &(struct gt_uftrace_symbol){0, SIZE_LIMIT, base, 'T'}, 0, true);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && sym[next].addr == sym[i].addr; next++)
            ;
        write_symbol(t, &sym[i], next < n ? sym[next].addr : 0, next == n);
    }
    return t->failed ? gt_error_set(err, GT_E_NOMEM, "%.200s: out of memory", module->path) : 0;
}

/* The fields of a symbol line; its fault, or NULL. */
static const char *parse(struct gt_text_cursor *c, struct gt_uftrace_symbol *s,
                         struct gt_text_cursor *name)
{
    uint64_t size = 0;
    if (!gt_text_take_hex(c, UINT64_MAX, &s->addr) || !gt_text_take(c, " "))
        return "a hex address";
    struct gt_text_cursor at = *c;
    if (c->left > 1 && c->at[1] != ' ' && gt_text_take_hex(&at, UINT64_MAX, &size) &&
        gt_text_take(&at, " "))
        *c = at;
    s->size = size;
    if (c->left < 2 || c->at[1] != ' ' || (c->at[0] != '?' && !type_is_good(c->at[0])))
        return "a type and a name";
    s->type = c->left > 2 ? c->at[0] : '?';
    *name = (struct gt_text_cursor){c->at + 2, c->left - 2};
    return memchr(name->at, 0, name->left) ? "no zero byte" : NULL;
}

struct sym_reader {
    struct gt_uftrace_symtab tab;
    const char *text;
    char *copy;
    bool open;   /* the last symbol has no size yet */
    uint64_t at; /* address of the last line */
};

static char *in_copy(const struct sym_reader *r, const struct gt_text_cursor *c)
{
    return r->copy + (c->at - r->text);
}

/* Takes off what write_name() has appended. */
static void take_off_parentheses(char *name)
{
    size_t n = strlen(name), all = n;
    while (n > 2 && memcmp(name + n - 2, "()", 2) == 0)
        n -= 2;
    name[n] = '\0';
    if (n < all && !gt_uftrace_name_is_special(name))
        name[n] = '(';
}

/* One whole line; returns its fault, or NULL. */
static const char *take_symbol_line(struct sym_reader *r, struct gt_text_cursor c)
{
    if (gt_text_take(&c, "#")) {
        if (memchr(c.at, 0, c.left))
            return "no zero byte";
        if (gt_text_take(&c, " path name: "))
            r->tab.path = in_copy(r, &c);
        else if (gt_text_take(&c, " build-id: "))
            r->tab.build_id = in_copy(r, &c);
        return NULL;
    }
    struct gt_uftrace_symbol s = {0};
    struct gt_text_cursor name;
    const char *expected = parse(&c, &s, &name);
    if (expected)
        return expected;
    if (s.addr < r->at)
        return "an address that does not fall";
    r->at = s.addr;
    struct gt_uftrace_symbol *last = r->tab.n ? &r->tab.sym[r->tab.n - 1] : NULL;
    if (last && s.type != '?' && s.addr == last->addr)
        return NULL; /* readers drop a second name at an address too */
    if (last && r->open)
        last->size = s.addr - last->addr;
    r->open = s.type != '?' && s.size == 0;
    if (s.type != '?') {
        char *own = in_copy(r, &name);
        take_off_parentheses(own);
        s.name = own;
        r->tab.sym[r->tab.n++] = s;
    }
    return NULL;
}

int gt_uftrace_sym_read(const char *text, size_t size, struct gt_uftrace_symtab *out,
                        struct gt_error *err)
{
    struct gt_text_cursor all = {text, size}, line;
    char show[64];
    bool whole;
    struct sym_reader r = {.text = text, .copy = gt_text_copy_lines(text, size)};
    r.tab.storage = r.copy;
    r.tab.sym = calloc(gt_text_count_lines(text, size) + 1, sizeof *r.tab.sym);
    int status = r.copy && r.tab.sym ? 0 : gt_error_set(err, GT_E_NOMEM, "symbols: out of memory");
    if (!status)
        r.tab.path = r.tab.build_id = r.copy + size;
    for (size_t number = 1; !status && gt_text_take_line(&all, &line, &whole); number++) {
        const char *expected = whole ? take_symbol_line(&r, line) : "a whole line";
        if (expected)
            status = gt_error_set(err, whole ? GT_E_FORMAT : GT_E_TRUNC,
                                  "symbols line %zu: '%s': expected %s", number,
                                  gt_text_cursor_show(&line, show), expected);
    }
    if (status)
        gt_uftrace_symtab_free(&r.tab);
    else
        *out = r.tab;
    return status;
}

void gt_uftrace_symtab_free(struct gt_uftrace_symtab *tab)
{
    free(tab->sym);
    free(tab->storage);
    *tab = (struct gt_uftrace_symtab){0};
}

const struct gt_uftrace_symbol *gt_uftrace_symtab_find(const struct gt_uftrace_symtab *tab,
                                                       uint64_t rel)
{
    size_t lo = GT_SEARCH_UP_TO(tab->sym, tab->n, addr, rel);
    if (!lo)
        return NULL;
    const struct gt_uftrace_symbol *s = &tab->sym[lo - 1];
    return rel - s->addr < s->size ? s : NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* code.map: see code_map.h. */
#include "recording/code_map/code_map.h"

#include "base/cursor.h"
#include "base/fnv.h"
#include "base/text.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC   "# guesttrace code: "
#define VERSION 1
#define FACT    "+ "

uint64_t gt_recording_code_hash(const uint8_t *bytes)
{
    uint64_t hash = GT_FNV_BEGIN;
    for (size_t i = 0; i < GT_CODE_HASHED; i++)
        hash = gt_bytes_fnv(hash, bytes[i]);
    return hash;
}

/* ---- writing ------------------------------------------------------------------------------- */

static int check_module(const struct gt_recording_code_map *map,
                        const struct gt_recording_code_module *m, struct gt_error *err)
{
    if (m->end <= m->start || m->first > map->n_functions || m->n > map->n_functions - m->first)
        return gt_error_set(err, GT_E_USAGE, "code map: %.200s: bad module", m->path);
    for (size_t i = m->first; i < m->first + m->n; i++) {
        const struct gt_recording_code_function *f = &map->function[i];
        if (f->addr < m->start || f->addr >= m->end || f->size == 0 || f->size > m->end - f->addr ||
            (i > m->first && f->addr <= f[-1].addr) ||
            (f->pattern &&
             (f->pattern->n == 0 || f->pattern->n > GT_CODE_PATTERN || f->pattern->n > f->size)))
            return gt_error_set(err, GT_E_USAGE, "code map: %.200s: bad place of %.100s", m->path,
                                f->name);
    }
    return 0;
}

static int compare_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The hashes that occur more than once, sorted, each once. The caller frees it; NULL: no memory. */
static uint64_t *find_doubles(const struct gt_recording_code_map *map, size_t *n_doubles)
{
    uint64_t *all = calloc(map->n_functions + 1, sizeof *all);
    size_t n = 0, doubles = 0;
    if (!all)
        return NULL;
    for (size_t i = 0; i < map->n_functions; i++)
        if (map->function[i].hashed && !map->function[i].pattern)
            all[n++] = map->function[i].hash;
    qsort(all, n, sizeof *all, compare_hash);
    for (size_t i = 1; i < n; i++)
        if (all[i] == all[i - 1] && (doubles == 0 || all[doubles - 1] != all[i]))
            all[doubles++] = all[i]; /* doubles < i, always */
    *n_doubles = doubles;
    return all;
}

static void write_linux(struct gt_text *t, const struct gt_recording_code_linux *os)
{
    if (os->current == GT_CODE_NO_LINUX)
        return;
    gt_text_printf(t, "# linux: current=");
    if (os->current == GT_CODE_GS)
        gt_text_printf(t, "gs:0x%" PRIx64, os->gs_offset);
    else
        gt_text_printf(t, "%s", os->current == GT_CODE_TP ? "tp" : "sp_el0");
    gt_text_printf(t, " comm=%" PRIu32 " pid=%" PRIu32 " tgid=%" PRIu32 "\n", os->comm, os->pid,
                   os->tgid);
}

static void write_pattern(struct gt_text *t, const struct gt_recording_code_pattern *p)
{
    gt_text_add(t, "=", 1);
    for (unsigned i = 0; i < p->n; i++)
        if (gt_recording_code_pattern_knows(p, i))
            gt_text_printf(t, "%02x", p->byte[i]);
        else
            gt_text_add(t, "..", 2);
    gt_text_add(t, " ", 1);
}

static void write_facts(struct gt_text *t, const struct gt_recording_code_function *f)
{
    if (!f->file)
        return;
    gt_text_printf(t, FACT "line %" PRIu32 " %s ", f->line, f->lines);
    gt_text_add_value(t, *f->file ? f->file : "?", SIZE_MAX);
    gt_text_add(t, "\n", 1);
}

static void write_module(struct gt_text *t, const struct gt_recording_code_map *map,
                         const struct gt_recording_code_module *m, const uint64_t *doubles,
                         size_t n_doubles)
{
    char path[GT_UFTRACE_PATH_MAX];
    gt_uftrace_path(m->path, path, sizeof path);
    gt_text_printf(t, "# module: %" PRIx64 " %" PRIx64 " %s\n", m->start, m->end, path);
    for (size_t i = m->first; i < m->first + m->n; i++) {
        const struct gt_recording_code_function *f = &map->function[i];
        gt_text_printf(t, "%" PRIx64 " %" PRIx64 " ", f->addr, f->size);
        if (f->pattern)
            write_pattern(t, f->pattern);
        else if (f->hashed && !bsearch(&f->hash, doubles, n_doubles, sizeof *doubles, compare_hash))
            gt_text_printf(t, "%016" PRIx64 " ", f->hash);
        else
            gt_text_add(t, "- ", 2);
        gt_text_add_value(t, *f->name ? f->name : "?", SIZE_MAX);
        gt_text_add(t, "\n", 1);
        write_facts(t, f);
    }
}

int gt_recording_code_map_write(struct gt_text *t, const struct gt_recording_code_map *map,
                                struct gt_error *err)
{
    for (size_t i = 0; i < map->n_modules; i++) {
        int status = check_module(map, &map->module[i], err);
        if (status < 0)
            return status;
    }
    size_t n_doubles;
    uint64_t *doubles = find_doubles(map, &n_doubles);
    if (!doubles)
        return gt_error_set(err, GT_E_NOMEM, "code map: out of memory");
    gt_text_printf(t, MAGIC "%d\n", VERSION);
    write_linux(t, &map->os);
    for (size_t i = 0; i < map->n_modules; i++)
        write_module(t, map, &map->module[i], doubles, n_doubles);
    free(doubles);
    return t->failed ? gt_error_set(err, GT_E_NOMEM, "code map: out of memory") : 0;
}

/* ---- reading ------------------------------------------------------------------------------- */

struct map_reader {
    struct gt_recording_code_map map;
    size_t n_patterns;
    const char *text;
    char *copy;
};

static char *in_copy(const struct map_reader *r, const struct gt_text_cursor *c)
{
    return r->copy + (c->at - r->text);
}

/* Returns the fault of the line, or NULL; so do the next ones. */
static const char *take_linux(struct gt_text_cursor c, struct gt_recording_code_linux *os)
{
    uint64_t comm, pid, tgid;
    if (gt_text_take(&c, "sp_el0"))
        os->current = GT_CODE_SP_EL0;
    else if (gt_text_take(&c, "tp"))
        os->current = GT_CODE_TP;
    else if (gt_text_take(&c, "gs:0x") && gt_text_take_hex(&c, UINT64_MAX, &os->gs_offset))
        os->current = GT_CODE_GS;
    else
        return "sp_el0, tp or gs:0xOFFSET";
    if (!gt_text_take(&c, " comm=") || !gt_text_take_dec(&c, UINT32_MAX, &comm) ||
        !gt_text_take(&c, " pid=") || !gt_text_take_dec(&c, UINT32_MAX, &pid) ||
        !gt_text_take(&c, " tgid=") || !gt_text_take_dec(&c, UINT32_MAX, &tgid) || c.left)
        return "comm=, pid= and tgid=";
    os->comm = (uint32_t)comm;
    os->pid = (uint32_t)pid;
    os->tgid = (uint32_t)tgid;
    return NULL;
}

static const char *take_module(struct map_reader *r, struct gt_text_cursor c)
{
    struct gt_recording_code_module m = {.first = r->map.n_functions};
    if (!gt_text_take_hex(&c, UINT64_MAX, &m.start) || !gt_text_take(&c, " ") ||
        !gt_text_take_hex(&c, UINT64_MAX, &m.end) || m.end <= m.start)
        return "a range of addresses";
    if (!gt_text_take(&c, " ") || !c.left || memchr(c.at, ' ', c.left))
        return "a path without spaces";
    m.path = in_copy(r, &c);
    r->map.module[r->map.n_modules++] = m;
    return NULL;
}

static bool take_byte(struct gt_text_cursor *c, uint8_t *out)
{
    struct gt_text_cursor two = {c->at, 2};
    uint64_t value;
    if (c->left < 2 || !gt_text_take_hex(&two, UINT8_MAX, &value) || two.left)
        return false;
    *out = (uint8_t)value;
    c->at += 2;
    c->left -= 2;
    return true;
}

/* Behind its '='. There is room: each of them has a '=' of its own, and those were counted. */
static bool take_pattern(struct map_reader *r, struct gt_text_cursor *c,
                         struct gt_recording_code_function *f)
{
    struct gt_recording_code_pattern *p = &r->map.patterns[r->n_patterns++];
    for (uint8_t byte; p->n < GT_CODE_PATTERN && p->n < f->size; p->n++) {
        if (take_byte(c, &byte))
            gt_recording_code_pattern_set(p, p->n, byte);
        else if (!gt_text_take(c, ".."))
            break;
    }
    f->pattern = p;
    return p->n > 0 && c->left && *c->at == ' ';
}

static const char *take_function(struct map_reader *r, struct gt_text_cursor c)
{
    struct gt_recording_code_module *m =
        r->map.n_modules ? &r->map.module[r->map.n_modules - 1] : NULL;
    struct gt_recording_code_function f = {0};
    if (!m)
        return "a module before its functions";
    if (!gt_text_take_hex(&c, UINT64_MAX, &f.addr) || f.addr < m->start || f.addr >= m->end)
        return "an address in the module";
    if (m->n && f.addr <= r->map.function[r->map.n_functions - 1].addr)
        return "an address above the one before";
    if (!gt_text_take(&c, " ") || !gt_text_take_hex(&c, m->end - f.addr, &f.size) || f.size == 0)
        return "a size that fits the module";
    if (!gt_text_take(&c, " "))
        return "a hash";
    if (gt_text_take(&c, "=")) {
        if (!take_pattern(r, &c, &f))
            return "a pattern no longer than the function";
    } else {
        f.hashed = !gt_text_take(&c, "-");
        if (f.hashed && !gt_text_take_hex(&c, UINT64_MAX, &f.hash))
            return "a hash, a pattern or '-'";
    }
    if (!gt_text_take(&c, " ") || !c.left)
        return "a name";
    f.name = in_copy(r, &c);
    r->map.function[r->map.n_functions++] = f;
    m->n++;
    return NULL;
}

/* Of the function before it. Zero bytes end texts in the copy. */
static const char *take_fact(struct map_reader *r, struct gt_text_cursor c)
{
    struct gt_recording_code_function *f =
        r->map.n_functions ? &r->map.function[r->map.n_functions - 1] : NULL;
    uint64_t line;
    if (!f || !r->map.module[r->map.n_modules - 1].n)
        return "a function before it";
    if (!gt_text_take(&c, "line "))
        return NULL;
    if (!gt_text_take_dec(&c, UINT32_MAX, &line) || line == 0 || !gt_text_take(&c, " "))
        return "the number of a line";
    struct gt_text_cursor lines = c;
    const char *space = memchr(c.at, ' ', c.left);
    if (!space || space == c.at || space + 1 == c.at + c.left)
        return "lines and a source file";
    c.left -= (size_t)(space + 1 - c.at);
    c.at = space + 1;
    f->line = (uint32_t)line;
    f->lines = in_copy(r, &lines);
    *(in_copy(r, &c) - 1) = '\0';
    f->file = in_copy(r, &c);
    return NULL;
}

static const char *take_code_line(struct map_reader *r, struct gt_text_cursor c)
{
    if (memchr(c.at, 0, c.left))
        return "no zero byte";
    if (gt_text_take(&c, FACT))
        return take_fact(r, c);
    if (gt_text_take(&c, "# module: "))
        return take_module(r, c);
    if (!gt_text_take(&c, "# linux: current="))
        return take_function(r, c);
    if (r->map.n_modules || r->map.os.current != GT_CODE_NO_LINUX)
        return "one linux line, before the modules";
    return take_linux(c, &r->map.os);
}

static int take_version(struct gt_text_cursor *all, struct gt_error *err)
{
    struct gt_text_cursor line;
    char show[64];
    bool whole;
    uint64_t version;
    if (!gt_text_take_line(all, &line, &whole))
        return gt_error_set(err, GT_E_TRUNC, "code map: empty");
    if (!whole)
        return gt_error_set(err, GT_E_TRUNC, "code map line 1: '%s': expected a whole line",
                            gt_text_cursor_show(&line, show));
    struct gt_text_cursor c = line;
    if (!gt_text_take(&c, MAGIC) || !gt_text_take_dec(&c, UINT32_MAX, &version) || c.left)
        return gt_error_set(err, GT_E_FORMAT, "code map line 1: '%s': expected '%s%d'",
                            gt_text_cursor_show(&line, show), MAGIC, VERSION);
    if (version != VERSION)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "code map line 1: version %" PRIu64 ", expected %d", version, VERSION);
    return 0;
}

/* Counted, so that the arrays are as long as they need to be and no longer. */
static int allocate(struct map_reader *r, size_t size)
{
    struct gt_text_cursor all = {r->text, size}, line;
    bool whole;
    size_t modules = 1, functions = 1, patterns = 1;
    while (gt_text_take_line(&all, &line, &whole)) {
        if (gt_text_take(&line, FACT))
            continue;
        patterns += memchr(line.at, '=', line.left) != NULL;
        *(gt_text_take(&line, "#") ? &modules : &functions) += 1;
    }
    r->copy = gt_text_copy_lines(r->text, size);
    r->map.storage = r->copy;
    r->map.module = calloc(modules, sizeof *r->map.module);
    r->map.function = calloc(functions, sizeof *r->map.function);
    r->map.patterns = calloc(patterns, sizeof *r->map.patterns);
    return r->copy && r->map.module && r->map.function && r->map.patterns ? 0 : GT_E_NOMEM;
}

int gt_recording_code_map_read(const char *text, size_t size, struct gt_recording_code_map *out,
                               struct gt_error *err)
{
    struct gt_text_cursor all = {text, size}, line;
    struct map_reader r = {.text = text};
    char show[64];
    bool whole;
    int status = take_version(&all, err);
    if (status == 0 && allocate(&r, size) < 0)
        status = gt_error_set(err, GT_E_NOMEM, "code map: out of memory");
    for (size_t number = 2; status == 0 && gt_text_take_line(&all, &line, &whole); number++) {
        const char *expected = whole ? take_code_line(&r, line) : "a whole line";
        if (expected)
            status = gt_error_set(err, whole ? GT_E_FORMAT : GT_E_TRUNC,
                                  "code map line %zu: '%s': expected %s", number,
                                  gt_text_cursor_show(&line, show), expected);
    }
    if (status < 0)
        gt_recording_code_map_free(&r.map);
    else
        *out = r.map;
    return status;
}

void gt_recording_code_map_free(struct gt_recording_code_map *map)
{
    free(map->module);
    free(map->function);
    free(map->patterns);
    free(map->storage);
    *map = (struct gt_recording_code_map){0};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses a values file: see spec.h. Two passes over a copy of the text: count, then fill. */
#include "base/search.h"
#include "recording/values/spec.h"

#include <stdlib.h>
#include <string.h>

struct storage {
    char *text;
    struct gt_value_module *module;
    struct gt_value_function *function;
    struct gt_value_item *item;
    struct gt_value_enum *enums;
    struct gt_value_enumerator *value;
    uint64_t *base;
    size_t n_bases;
    size_t n_modules, n_functions, n_items, n_enums, n_values;
};

/* One line, of which fields are taken: NUL ends each. */
struct line {
    char *at; /* NULL: no field is left */
};

static char *take_field(struct line *l)
{
    char *field = l->at;
    if (!field)
        return NULL;
    char *blank = strchr(field, ' ');
    l->at = blank ? blank + 1 : NULL;
    if (blank)
        *blank = 0;
    return *field ? field : NULL;
}

static bool field_number(const char *field, uint64_t max, uint64_t *out)
{
    struct gt_text_cursor c = {field, strlen(field)};
    return gt_text_take_dec(&c, max, out) && !c.left;
}

static const char *name_or_null(char *field)
{
    return strcmp(field, "-") == 0 ? NULL : field;
}

static const char *read_enumerator(char *field, struct gt_value_enumerator *out)
{
    static const char expected[] = "NAME=NUMBER";
    char *equal = strchr(field, '=');
    if (!equal || equal == field)
        return expected;
    struct gt_text_cursor c = {equal + 1, strlen(equal + 1)};
    bool minus = gt_text_take(&c, "-");
    uint64_t n, most = minus ? (uint64_t)1 << 63 : UINT64_MAX;
    if (!gt_text_take_dec(&c, most, &n) || c.left)
        return expected;
    *equal = 0;
    *out = (struct gt_value_enumerator){field, (int64_t)(minus ? -n : n)};
    return NULL;
}

static const char *read_enum(struct storage *s, struct line *l)
{
    struct gt_value_enum *e = &s->enums[s->n_enums];
    const char *expected = NULL;
    e->name = take_field(l);
    e->value = s->value + s->n_values;
    if (!e->name)
        return "a name after enum";
    while (!expected && l->at) {
        char *field = take_field(l);
        if (!field)
            return "one blank between fields";
        if (!e->n && !e->flags && strcmp(field, "flags") == 0) {
            e->flags = true;
            continue;
        }
        expected = read_enumerator(field, &s->value[s->n_values]);
        s->n_values += !expected;
        e->n += !expected;
    }
    s->n_enums++;
    return expected;
}

static const char *read_module(struct storage *s, struct line *l)
{
    struct gt_value_module *m = &s->module[s->n_modules];
    char *id = take_field(l);
    if (!id || !l->at || !*l->at)
        return "module BUILD-ID|- PATH";
    m->build_id = strcmp(id, "-") == 0 ? "" : id;
    if (!gt_text_is_hex(m->build_id, strlen(m->build_id)))
        return "a build-id in hex, or -";
    m->path = l->at;
    m->function = s->function + s->n_functions;
    s->n_modules++;
    return NULL;
}

static const char *read_base(struct storage *s, struct line *l)
{
    struct gt_value_module *m = s->n_modules ? &s->module[s->n_modules - 1] : NULL;
    char *addr = take_field(l);
    struct gt_text_cursor c = {addr, addr ? strlen(addr) : 0};
    if (!m || m->n)
        return "a module right before it";
    if (!addr || l->at || !gt_text_take_hex(&c, UINT64_MAX, &s->base[s->n_bases]) || c.left)
        return "at ADDRESS";
    if (!m->base)
        m->base = s->base + s->n_bases;
    s->n_bases++;
    m->n_bases++;
    return NULL;
}

static const char *read_function(struct storage *s, struct line *l)
{
    struct gt_value_function *f = &s->function[s->n_functions];
    if (!s->n_modules)
        return "a module before it";
    struct gt_value_module *m = &s->module[s->n_modules - 1];
    char *addr = take_field(l);
    struct gt_text_cursor c = {addr, addr ? strlen(addr) : 0};
    if (!addr || !gt_text_take_hex(&c, UINT64_MAX, &f->addr) || c.left || !l->at || !*l->at)
        return "function ADDRESS NAME";
    if (m->n && f->addr <= m->function[m->n - 1].addr)
        return "a higher address than the function before it";
    f->name = l->at;
    f->spec.item = s->item + s->n_items;
    s->n_functions++;
    m->n++;
    return NULL;
}

enum kind { ARG, FPARG, FIELD, RET };

/* Turns the digits into bytes, in their place. False: they are not two a byte of the value. */
static bool take_mask(char *hex, struct gt_value_item *item)
{
    uint8_t *mask = (uint8_t *)hex;
    uint64_t byte;
    if (item->format != GT_VALUE_STRUCT || strlen(hex) != 2 * (size_t)item->size)
        return false;
    for (unsigned i = 0; i < item->size; i++) {
        struct gt_text_cursor digits = {hex + 2 * (size_t)i, 2};
        if (!gt_text_take_hex(&digits, UINT8_MAX, &byte) || digits.left)
            return false;
        mask[i] = (uint8_t)byte;
    }
    item->mask = mask;
    return true;
}

static const char *read_options(struct line *l, struct gt_value_item *item)
{
    static const char begin[] = "mask=";
    while (l->at) {
        char *word = take_field(l);
        if (word && !item->unsure && !item->mask && strcmp(word, "unsure") == 0)
            item->unsure = true;
        else if (!word || item->mask || strncmp(word, begin, sizeof begin - 1) != 0)
            return "unsure, mask=HEX, or the end of the line";
        else if (!take_mask(word + sizeof begin - 1, item))
            return "two hex digits after mask= for each byte of a struct";
    }
    return NULL;
}

static const char *read_fields(struct line *l, enum kind kind, struct gt_value_item *item)
{
    char *number = take_field(l), *format = take_field(l), *size = take_field(l);
    char *name = take_field(l), *type = take_field(l), *source = take_field(l);
    uint64_t n = 0, bytes;
    if (!number || !format || !size || !name || !type || !source)
        return "NUMBER FORMAT SIZE NAME TYPE SOURCE";
    if (kind == FIELD || kind == RET) {
        if (strcmp(number, "-") != 0)
            return "- as the number";
    } else if (!field_number(number, UINT16_MAX, &n) || !n) {
        return "a number from 1";
    }
    if (format[1] || !field_number(size, UINT16_MAX, &bytes) ||
        !gt_value_size_fits(*format, (unsigned)bytes))
        return "a format, and a size that it may have";
    *item = (struct gt_value_item){.format = *format,
                                   .size = (uint16_t)bytes,
                                   .number = (uint16_t)n,
                                   .is_return = kind == RET,
                                   .is_float = kind == FPARG,
                                   .name = name_or_null(name),
                                   .type = name_or_null(type)};
    const char *expected = read_options(l, item);
    if (expected)
        return expected;
    return strcmp(source, "-") == 0 ? NULL : gt_value_source_read(source, item);
}

static const char *read_item(struct storage *s, struct line *l, enum kind kind)
{
    struct gt_value_module *m = s->n_modules ? &s->module[s->n_modules - 1] : NULL;
    if (!m || !m->n)
        return "a function before it";
    struct gt_value_spec *spec = &m->function[m->n - 1].spec;
    if (kind != RET && spec->n_returns)
        return "arguments before what the function returns";
    size_t *n = kind == RET ? &spec->n_returns : &spec->n_arguments;
    if (*n == GT_VALUES_MOST)
        return "at most 14 values of one call";
    const char *expected = read_fields(l, kind, &s->item[s->n_items]);
    s->n_items += !expected;
    *n += !expected;
    return expected;
}

static const char *read_line(struct storage *s, char *text)
{
    struct line l = {text};
    const char *word = take_field(&l);
    if (!word)
        word = "";
    if (strcmp(word, "function") == 0)
        return read_function(s, &l);
    if (strcmp(word, "arg") == 0)
        return read_item(s, &l, ARG);
    if (strcmp(word, "fparg") == 0)
        return read_item(s, &l, FPARG);
    if (strcmp(word, "field") == 0)
        return read_item(s, &l, FIELD);
    if (strcmp(word, "ret") == 0)
        return read_item(s, &l, RET);
    if (strcmp(word, "module") == 0)
        return read_module(s, &l);
    if (strcmp(word, "at") == 0)
        return read_base(s, &l);
    if (strcmp(word, "enum") == 0)
        return read_enum(s, &l);
    return "enum, module, at, function, arg, fparg, field or ret";
}

/* Room for all that the text can have, by the first letters of its lines. */
static bool make_room(struct storage *s, const char *text, size_t size)
{
    struct gt_text_cursor all = {text, size}, line;
    size_t modules = 1, functions = 1, items = 1, enums = 1, values = 1, bases = 1;
    bool whole;
    while (gt_text_take_line(&all, &line, &whole)) {
        char first = line.left ? *line.at : 0;
        modules += first == 'm';
        enums += first == 'e';
        functions += line.left > 1 && first == 'f' && line.at[1] == 'u';
        items +=
            first == 'a' || first == 'r' || (first == 'f' && line.left > 1 && line.at[1] != 'u');
        bases += first == 'a' && line.left > 1 && line.at[1] == 't';
        for (size_t i = 0; first == 'e' && i < line.left; i++)
            values += line.at[i] == '=';
    }
    s->text = gt_text_copy_lines(text, size);
    s->module = calloc(modules, sizeof *s->module);
    s->function = calloc(functions, sizeof *s->function);
    s->item = calloc(items, sizeof *s->item);
    s->enums = calloc(enums, sizeof *s->enums);
    s->value = calloc(values, sizeof *s->value);
    s->base = calloc(bases, sizeof *s->base);
    return s->base && s->text && s->module && s->function && s->item && s->enums && s->value;
}

static void free_storage(struct storage *s)
{
    free(s->text);
    free(s->module);
    free(s->function);
    free(s->item);
    free(s->enums);
    free(s->value);
    free(s->base);
    free(s);
}

static int read_head(struct gt_text_cursor *all, struct gt_error *err)
{
    struct gt_text_cursor line;
    bool whole = false;
    char show[64];
    uint64_t version;
    if (!gt_text_take_line(all, &line, &whole))
        return gt_error_set(err, GT_E_TRUNC, "values line 1: the file is empty");
    struct gt_text_cursor c = line;
    if (!whole || !gt_text_take(&c, "guesttrace values ") ||
        !gt_text_take_dec(&c, UINT32_MAX, &version) || c.left)
        return gt_error_set(err, whole ? GT_E_FORMAT : GT_E_TRUNC,
                            "values line 1: '%s': expected guesttrace values 1",
                            gt_text_cursor_show(&line, show));
    if (version != 1)
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "values line 1: version %llu: this guesttrace reads version 1",
                            (unsigned long long)version);
    return 0;
}

int gt_values_read(const char *text, size_t size, struct gt_values *out, struct gt_error *err)
{
    struct gt_text_cursor all = {text, size}, line;
    struct storage *s = calloc(1, sizeof *s);
    char show[64];
    bool whole;
    int status = read_head(&all, err);
    if (!status && (!s || !make_room(s, text, size)))
        status = gt_error_set(err, GT_E_NOMEM, "values: out of memory");
    for (size_t number = 2; !status && gt_text_take_line(&all, &line, &whole); number++) {
        const char *expected = !whole                          ? "a whole line"
                               : memchr(line.at, 0, line.left) ? "no zero byte"
                                                               : NULL;
        if (!expected)
            expected = read_line(s, s->text + (line.at - text));
        if (expected)
            status = gt_error_set(err, whole ? GT_E_FORMAT : GT_E_TRUNC,
                                  "values line %zu: '%s': expected %s", number,
                                  gt_text_cursor_show(&line, show), expected);
    }
    if (status) {
        if (s)
            free_storage(s);
        return status;
    }
    *out = (struct gt_values){.module = s->module,
                              .n_modules = s->n_modules,
                              .enums = s->enums,
                              .n_enums = s->n_enums,
                              .storage = s};
    return 0;
}

void gt_values_free(struct gt_values *v)
{
    if (v->storage)
        free_storage(v->storage);
    *v = (struct gt_values){0};
}

const struct gt_value_module *gt_values_module(const struct gt_values *v, const char *path,
                                               const char *build_id)
{
    const struct gt_value_module *by_path = NULL;
    bool has_id = build_id && *build_id;
    for (size_t i = 0; i < v->n_modules; i++) {
        const struct gt_value_module *m = &v->module[i];
        bool both = has_id && *m->build_id;
        if (both && strcmp(m->build_id, build_id) == 0)
            return m;
        if (!both && !by_path && strcmp(m->path, path) == 0)
            by_path = m;
    }
    return by_path;
}

const struct gt_value_function *gt_value_module_find(const struct gt_value_module *m, uint64_t addr)
{
    size_t i = GT_SEARCH_BELOW(m->function, m->n, addr, addr);
    return i < m->n && m->function[i].addr == addr ? &m->function[i] : NULL;
}

const struct gt_value_enum *gt_values_enum(const struct gt_values *v, const char *name)
{
    for (size_t i = 0; name && i < v->n_enums; i++)
        if (strcmp(v->enums[i].name, name) == 0)
            return &v->enums[i];
    return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of arguments and return values in uftrace's words: the grammar is in spec.h. */
#include "base/cursor.h"
#include "recording/values/spec.h"

#include <stdlib.h>
#include <string.h>

struct list {
    struct gt_text_cursor at;
    const char *text; /* the user's */
    char *copy;       /* for names, of the same text */
    struct gt_error *err;
};

static int fail(const struct list *l, const char *expected)
{
    return gt_error_set(l->err, GT_E_USAGE, "%.300s: at '%.40s': expected %s", l->text,
                        l->text + (l->at.at - l->copy), expected);
}

/* A number right after the word. */
static bool take_numbered(struct gt_text_cursor *c, const char *word, uint64_t *number)
{
    struct gt_text_cursor at = *c;
    if (!gt_text_take(&at, word) || !gt_text_take_dec(&at, UINT16_MAX, number))
        return false;
    *c = at;
    return true;
}

bool gt_value_is_item(const char *word, size_t size)
{
    struct gt_text_cursor c = {word, size};
    uint64_t number;
    if (gt_text_take(&c, "retval") || take_numbered(&c, "arg", &number) ||
        take_numbered(&c, "fparg", &number))
        return !c.left || *c.at == '/' || *c.at == '%' || *c.at == ',';
    return false;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == ':' || c == '<' || c == '>' || c == '~';
}

/* Takes a name of the user's types. It is ended with a NUL when the whole list was read. */
static bool take_name(struct gt_text_cursor *c, const char **name, char **end)
{
    *name = c->at;
    while (c->left && is_name(*c->at)) {
        c->at++;
        c->left--;
    }
    *end = (char *)c->at;
    return c->at != *name;
}

/* Bits behind a format, as bytes. */
static int take_bits(struct list *l, struct gt_value_item *item)
{
    uint64_t bits;
    struct gt_text_cursor before = l->at;
    if (!gt_text_take_dec(&l->at, UINT16_MAX, &bits))
        return 0;
    if (bits % 8 == 0 && bits && !gt_value_is_text(item->format) &&
        gt_value_size_fits(item->format, (unsigned)bits / 8)) {
        item->size = (uint16_t)(bits / 8);
        return 0;
    }
    l->at = before;
    return fail(l,
                item->format == GT_VALUE_FLOAT ? "32, 64, 80 or 128 bits" : "8, 16, 32 or 64 bits");
}

static int take_struct(struct list *l, struct gt_value_item *item, char **end)
{
    uint64_t size;
    if (!gt_text_take_dec(&l->at, GT_VALUE_SIZE_MOST, &size) || !size)
        return fail(l, "the size of the struct, 1 to 64 bytes, after t");
    item->size = (uint16_t)size;
    if (gt_text_take(&l->at, ":") && !take_name(&l->at, &item->type, end))
        return fail(l, "the struct's name after the colon");
    return 0;
}

static int take_format(struct list *l, struct gt_value_item *item, char **end)
{
    static const char formats[] = "diuxocfsSpb";
    if (l->at.left && *l->at.at >= '0' && *l->at.at <= '9')
        return take_bits(l, item);
    if (gt_text_take(&l->at, "e:")) {
        item->format = GT_VALUE_ENUM;
        item->size = 4;
        return take_name(&l->at, &item->type, end) ? 0 : fail(l, "the enumeration's name after e:");
    }
    if (gt_text_take(&l->at, "t")) {
        item->format = GT_VALUE_STRUCT;
        return take_struct(l, item, end);
    }
    if (!l->at.left || !strchr(formats, *l->at.at))
        return fail(l, "a format: d i u x o c f s S p b, e:ENUM or tSIZE");
    item->format = *l->at.at;
    l->at.at++;
    l->at.left--;
    item->size = item->format == GT_VALUE_FLOAT                                   ? 8
                 : item->format == GT_VALUE_CHAR || item->format == GT_VALUE_BOOL ? 1
                                                                                  : 0;
    return take_bits(l, item);
}

static int take_place(struct list *l, struct gt_value_item *item, char **end)
{
    struct gt_value_piece *p = &item->piece[0];
    uint64_t words = 1;
    item->n_pieces = 1;
    if (gt_text_take(&l->at, "stack")) {
        if (gt_text_take(&l->at, "+") && (!gt_text_take_dec(&l->at, 4096, &words) || !words))
            return fail(l, "a number of words from 1 to 4096 after stack+");
        p->offset = (int32_t)words;
        return 0;
    }
    return take_name(&l->at, &p->reg, end) ? 0 : fail(l, "a register's name after %, or stack+N");
}

static int take_item(struct list *l, struct gt_value_request *r, char *end[2])
{
    uint64_t number = 0;
    struct gt_value_item *item = &r->item;
    *r = (struct gt_value_request){.item.format = GT_VALUE_AUTO};
    if (gt_text_take(&l->at, "retval"))
        item->is_return = true;
    else if (take_numbered(&l->at, "fparg", &number))
        *item = (struct gt_value_item){.format = GT_VALUE_FLOAT, .size = 8, .is_float = true};
    else if (!take_numbered(&l->at, "arg", &number))
        return fail(l, "argN, fpargN or retval");
    if (!item->is_return && (!number || number > 4096))
        return fail(l, "a number of an argument, from 1");
    item->number = (uint16_t)number;
    int status = 0;
    struct gt_text_cursor slash = l->at;
    if (gt_text_take(&slash, "/") && !(slash.left && *slash.at == '*')) {
        l->at = slash;
        status = take_format(l, item, &end[0]);
    }
    if (!status && gt_text_take(&l->at, "%"))
        status = take_place(l, item, &end[1]);
    if (!status)
        r->fields = gt_text_take(&l->at, "/*");
    return status;
}

/* All that a list asks for of one function: arguments by number, then what it returns. */
static int by_order(const void *a, const void *b)
{
    const struct gt_value_item *x = &((const struct gt_value_request *)a)->item;
    const struct gt_value_item *y = &((const struct gt_value_request *)b)->item;
    if (x->is_return != y->is_return)
        return x->is_return - y->is_return;
    if (x->is_float != y->is_float)
        return x->is_float - y->is_float;
    return (x->number > y->number) - (x->number < y->number);
}

static int take_items(struct list *l, struct gt_value_request *request, size_t *n)
{
    char *end[2 * GT_VALUES_MOST][2] = {{NULL}};
    size_t returns = 0;
    *n = 0;
    do {
        if (*n == (size_t)2 * GT_VALUES_MOST)
            return fail(l, "at most 14 arguments and 14 return values");
        int status = take_item(l, &request[*n], end[*n]);
        if (status)
            return status;
        returns += request[(*n)++].item.is_return;
        if (returns > GT_VALUES_MOST || *n - returns > GT_VALUES_MOST)
            return fail(l, "at most 14 arguments and 14 return values");
    } while (gt_text_take(&l->at, ","));
    if (l->at.left)
        return fail(l, "a comma, or the end of the list");
    for (size_t i = 0; i < *n; i++)
        for (unsigned k = 0; k < 2; k++)
            if (end[i][k])
                *end[i][k] = 0;
    qsort(request, *n, sizeof *request, by_order);
    return 0;
}

int gt_value_parse(const char *list, struct gt_value_request request[2 * GT_VALUES_MOST], size_t *n,
                   void **storage, struct gt_error *err)
{
    struct list l = {.text = list, .copy = strdup(list), .err = err};
    *storage = NULL;
    if (!l.copy)
        return gt_error_set(err, GT_E_NOMEM, "%.300s: out of memory", list);
    l.at = (struct gt_text_cursor){l.copy, strlen(l.copy)};
    int status = take_items(&l, request, n);
    if (status)
        free(l.copy);
    else
        *storage = l.copy;
    return status;
}

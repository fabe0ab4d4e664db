/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions have values, and where these are: see arguments.h. */
#include "calls/recorder/values/arguments.h"
#include "base/file.h"
#include "calls/recorder/output/function.h"
#include "calls/recorder/recorder.h"
#include "filter/pattern.h"
#include "qemu/support/args.h"

#include <string.h>

/* What one option says of the functions that a pattern matches. */
struct rule {
    struct gt_filter_pattern *pattern;
    struct gt_value_request request[2 * GT_VALUES_MOST];
    size_t n;
    void *storage;
    bool implied; /* a condition compares it: any other rule wins */
};

enum { FILE_MOST = 256 << 20 };

/* ---- options ------------------------------------------------------------------------------- */

static int add_rule(struct gt_recorder_argument_reading *a, const char *option, const char *text,
                    size_t n, struct gt_error *err)
{
    g_autofree char *word = g_strndup(text, n);
    char *items = strrchr(word, '@');
    size_t at;
    if (!items || items == word)
        return gt_error_set(err, GT_E_USAGE, "%s=%.200s: expected FUNCTION@arg1,... or @retval",
                            option, word);
    *items++ = 0;
    struct rule *rule = g_new0(struct rule, 1);
    int status = gt_filter_pattern_parse(word, strlen(word), GT_FILTER_MATCH_REGEX, &rule->pattern,
                                         &at, err);
    if (status == 0)
        status = gt_value_parse(items, rule->request, &rule->n, &rule->storage, err);
    if (status == 0)
        g_ptr_array_add(a->rules, rule);
    return status;
}

/* Values that the triggers of filters record, and then those that their conditions compare: these
 * are recorded, too, so that readers can compare them. */
static int take_triggers(struct gt_recorder_argument_reading *a, const struct gt_filter_set *set,
                         bool implied, struct gt_error *err)
{
    struct gt_filter_value value;
    int status = 0;
    for (size_t i = 0; status == 0 && gt_filter_set_value(set, i, &value); i++) {
        struct gt_error why;
        if (value.implied != implied)
            continue;
        struct rule *rule = g_new0(struct rule, 1);
        rule->pattern = (struct gt_filter_pattern *)(uintptr_t)value.pattern;
        rule->implied = implied;
        status = gt_value_parse(value.items, rule->request, &rule->n, &rule->storage, &why);
        if (status < 0)
            return gt_error_set(err, status, "%s %.200s: %.300s", value.option, value.text,
                                why.text);
        g_ptr_array_add(a->rules, rule);
    }
    return status;
}

/* Several, separated by semicolons. */
static int take_rules(struct gt_recorder_argument_reading *a, const char *option, const char *text,
                      struct gt_error *err)
{
    int status = 0;
    while (status == 0 && *text) {
        size_t n = strcspn(text, ";");
        status = n ? add_rule(a, option, text, n, err) : 0;
        text += n + (text[n] == ';');
    }
    return status;
}

static int take_arguments(void *self, const char *text, struct gt_error *err)
{
    return take_rules(self, "argument argument", text, err);
}

static int take_results(void *self, const char *text, struct gt_error *err)
{
    return take_rules(self, "argument retval", text, err);
}

size_t gt_recorder_arguments_options(struct gt_recorder_argument_reading *a,
                                     struct gt_support_arg *table)
{
    a->rules = g_ptr_array_new();
    table[0] = (struct gt_support_arg){
        .name = "argument", .kind = GT_ARG_EACH, .value = a, .each = take_arguments};
    table[1] = (struct gt_support_arg){
        .name = "retval", .kind = GT_ARG_EACH, .value = a, .each = take_results};
    table[2] = (struct gt_support_arg){.name = "values", .kind = GT_ARG_TEXT, .value = &a->file};
    return GT_ARGUMENT_OPTIONS;
}

static int read_values(struct gt_recorder_argument_reading *a, struct gt_error *err)
{
    char *text;
    size_t size;
    int status = gt_file_read(a->file, FILE_MOST, &text, &size, err);
    if (status < 0)
        return status;
    struct gt_error why;
    status = gt_values_read(text, size, &a->values, &why);
    free(text);
    return status < 0 ? gt_error_set(err, status, "%.200s: %.280s", a->file, why.text) : 0;
}

static bool is_in_code(const struct gt_recorder_argument_reading *a)
{
    bool yes = a->rules->len > 0;
    for (size_t i = 0; i < a->values.n_modules && !yes; i++)
        yes = strcmp(a->values.module[i].path, GT_SYSCALLS_MODULE) != 0;
    return yes;
}

static bool is_long_double(const struct gt_value_item *item)
{
    return item->format == GT_VALUE_FLOAT && item->size > 8;
}

/* Where a long double is may depend on the arguments before it, which no rule says. */
static int check_long_doubles(const struct gt_recorder_argument_reading *a, const char *target,
                              struct gt_error *err)
{
    struct gt_abi_value v;
    for (guint i = 0; i < a->rules->len; i++) {
        const struct rule *rule = g_ptr_array_index(a->rules, i);
        for (size_t k = 0; k < rule->n; k++) {
            const struct gt_value_item *item = &rule->request[k].item;
            if (is_long_double(item) && !item->n_pieces &&
                !gt_abi_long_double(a->abi, item->is_return ? 0 : item->number, item->size, &v))
                return gt_error_set(err, GT_E_USAGE,
                                    "%s%.0u/f%u: on %s its place depends on the arguments before "
                                    "it; name it: fpargN/f%u%%REGISTER or %%stack+N",
                                    item->is_return ? "retval" : "fparg", item->number,
                                    item->size * 8, target, item->size * 8);
        }
    }
    return 0;
}

/* What the host can, and the convention of the functions. */
static int check(struct gt_recorder *r, struct gt_error *err)
{
    static const char what[] = "arguments and return values";
    if (!r->arguments.in_code)
        return 0;
    if (!gt_host_can(GT_HOST_REGISTERS) || !gt_host_can(GT_HOST_CONDITIONAL))
        return gt_error_set(err, GT_E_UNSUPPORTED,
                            "%s cannot be read here: QEMU 9.0 and later let plugins read registers",
                            what);
    if (r->options.privilege_levels)
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: not with trace-privilege-level=on", what);
    int status = gt_abi_of_target(r->host.target, r->options.abi, &r->arguments.abi, err);
    if (status < 0)
        return status;
    if (!r->arguments.abi && r->arguments.rules->len)
        return gt_error_set(err, GT_E_UNSUPPORTED, "%s: the calling convention of %s is not known",
                            what, r->host.target);
    return check_long_doubles(&r->arguments, r->host.target, err);
}

int gt_recorder_arguments_init(struct gt_recorder *r, struct gt_error *err)
{
    struct gt_recorder_argument_reading *a = &r->arguments;
    const struct gt_filter_set *set = r->filters.values;
    int status = set ? take_triggers(a, set, false, err) : 0;
    if (set && status == 0)
        status = take_triggers(a, set, true, err);
    if (status < 0 || (!a->rules->len && !a->file))
        return status;
    if (a->file)
        status = read_values(a, err);
    a->in_code = is_in_code(a);
    if (status == 0)
        status = check(r, err);
    a->on = status == 0;
    a->functions = g_hash_table_new(NULL, NULL);
    a->registers = g_hash_table_new(g_str_hash, g_str_equal);
    a->used = g_ptr_array_new();
    return status;
}

/* ---- where values are ---------------------------------------------------------------------- */

static void place_by_abi(struct gt_value_item *item, const struct gt_abi_value *v)
{
    item->n_pieces = 0;
    for (unsigned i = 0; i < v->n && i < GT_VALUE_PIECES && !v->unknown; i++) {
        const struct gt_abi_piece *p = &v->piece[i];
        item->piece[item->n_pieces++] = (struct gt_value_piece){
            .reg = p->reg,
            .offset = p->reg ? (int32_t)p->in_reg : p->stack,
            .size = v->n > 1 ? (uint16_t)p->size : 0,
        };
    }
}

/* A struct of two words is in two places. */
static void place_argument(const struct gt_abi *abi, struct gt_value_item *item)
{
    struct gt_abi_value v;
    struct gt_value_item second;
    if (is_long_double(item)) {
        if (gt_abi_long_double(abi, item->number, item->size, &v))
            place_by_abi(item, &v);
        return;
    }
    if (!gt_abi_argument(abi, item->number, item->is_float, &v))
        return;
    place_by_abi(item, &v);
    if (item->format != GT_VALUE_STRUCT || item->size <= abi->slot || item->n_pieces != 1)
        return;
    item->piece[0].size = abi->slot;
    second = *item;
    if (item->size > 2 * abi->slot || !gt_abi_argument(abi, item->number + 1u, false, &v)) {
        item->n_pieces = 0;
        return;
    }
    place_by_abi(&second, &v);
    item->piece[1] = second.piece[0];
    item->piece[1].size = (uint16_t)(item->size - abi->slot);
    item->n_pieces = 2;
}

static void place_result(const struct gt_abi *abi, struct gt_value_item *item)
{
    bool is_float = item->format == GT_VALUE_FLOAT;
    const char *reg = is_float ? abi->float_result : abi->result;
    struct gt_abi_value v;
    if (is_long_double(item)) {
        if (gt_abi_long_double(abi, 0, item->size, &v))
            place_by_abi(item, &v);
        return;
    }
    if (!reg || (item->size > abi->slot && !is_float))
        return;
    item->piece[0] = (struct gt_value_piece){.reg = reg};
    item->n_pieces = 1;
    if (is_float && g_str_has_prefix(reg, "st"))
        item->size = 10;
}

/* What a rule leaves open is the ABI's. */
static void complete(const struct gt_abi *abi, struct gt_value_item *item)
{
    if (!item->size && !gt_value_is_text(item->format))
        item->size = abi->slot;
    if (!item->n_pieces && item->is_return)
        place_result(abi, item);
    else if (!item->n_pieces)
        place_argument(abi, item);
    else if (!item->piece[0].reg)
        item->piece[0].offset = abi->first_stack + (item->piece[0].offset - 1) * abi->slot;
}

static bool same_value(const struct gt_value_item *a, const struct gt_value_item *b)
{
    return a->is_return == b->is_return && a->is_float == b->is_float && a->number == b->number;
}

/* A later rule wins over an earlier one, and any over the values file, if it is not implied. */
static void add_item(GArray *items, const struct gt_value_item *item, bool implied)
{
    guint at = 0;
    for (; at < items->len; at++) {
        struct gt_value_item *other = &g_array_index(items, struct gt_value_item, at);
        if (same_value(other, item)) {
            const char *name = other->name;
            if (implied)
                return;
            *other = *item;
            other->name = name;
            return;
        }
        if (item->is_return < other->is_return ||
            (item->is_return == other->is_return &&
             (item->is_float < other->is_float ||
              (item->is_float == other->is_float && item->number < other->number))))
            break;
    }
    g_array_insert_val(items, at, *item);
}

static const struct gt_value_spec *spec_in_file(const struct gt_recorder_argument_reading *a,
                                                const struct gt_support_module *m,
                                                const struct gt_track_func *fn)
{
    const char *id = m->symbols ? m->symbols->build_id : NULL;
    const struct gt_value_module *module = gt_values_module(&a->values, m->path, id);
    const struct gt_value_function *f =
        module ? gt_value_module_find(module, fn->lo - m->lo) : NULL;
    return f ? &f->spec : NULL;
}

static GArray *collect(struct gt_recorder *r, const struct gt_support_module *m,
                       const struct gt_track_func *fn, const struct gt_filter_function *what)
{
    const struct gt_recorder_argument_reading *a = &r->arguments;
    const struct gt_value_spec *file = spec_in_file(a, m, fn);
    GArray *items = g_array_new(FALSE, FALSE, sizeof(struct gt_value_item));
    if (file)
        g_array_append_vals(items, file->item, (guint)(file->n_arguments + file->n_returns));
    for (guint i = 0; i < a->rules->len && !m->made; i++) {
        const struct rule *rule = g_ptr_array_index(a->rules, i);
        if (!gt_filter_pattern_match(rule->pattern, what))
            continue;
        for (size_t k = 0; k < rule->n; k++) {
            struct gt_value_item item = rule->request[k].item;
            complete(a->abi, &item);
            add_item(items, &item, rule->implied);
        }
    }
    return items;
}

static struct gt_recorder_argument_register *find_register(struct gt_recorder_argument_reading *a,
                                                           const char *name)
{
    struct gt_recorder_argument_register *reg = g_hash_table_lookup(a->registers, name);
    if (!reg) {
        reg = g_new0(struct gt_recorder_argument_register, 1);
        reg->wide_name = *name == 'v' ? g_strdup_printf("z%s", name + 1) : NULL;
        g_hash_table_insert(a->registers, (gpointer)name, reg);
    }
    return reg;
}

/* NULL: too many values, or none. */
static struct gt_recorder_argument_function *make_function(struct gt_recorder_argument_reading *a,
                                                           GArray *items)
{
    size_t returns = 0;
    for (guint i = 0; i < items->len; i++)
        returns += g_array_index(items, struct gt_value_item, i).is_return;
    if (!items->len || returns > GT_VALUES_MOST || items->len - returns > GT_VALUES_MOST)
        return NULL;
    struct gt_recorder_argument_function *f = g_new0(struct gt_recorder_argument_function, 1);
    f->spec = (struct gt_value_spec){g_memdup2(items->data, items->len * sizeof *f->spec.item),
                                     items->len - returns, returns};
    f->reg = g_malloc0_n(items->len, sizeof *f->reg);
    for (guint i = 0; i < items->len; i++)
        for (unsigned k = 0; k < f->spec.item[i].n_pieces; k++)
            if (f->spec.item[i].piece[k].reg)
                f->reg[i][k] = find_register(a, f->spec.item[i].piece[k].reg);
    return f;
}

/* The debug file has the function before its first record has values; of many functions, as a
 * killed recording is to be read, all but the newest. */
static void write_files(void *arg)
{
    gt_recorder_arguments_write(arg, NULL);
}

static void write_new(struct gt_recorder *r)
{
    enum { EACH = 64, PART = 8 };
    struct gt_recorder_argument_reading *a = &r->arguments;
    if (a->used->len < a->next_write)
        return;
    a->next_write = a->used->len < EACH ? 0 : a->used->len + a->used->len / PART;
    gt_thread_worker_call(r->output.worker, write_files, r);
}

const struct gt_recorder_argument_function *
gt_recorder_arguments_of(struct gt_recorder *r, const struct gt_support_module *module,
                         const struct gt_track_func *fn)
{
    struct gt_recorder_argument_reading *a = &r->arguments;
    gpointer known;
    if (!module || fn->flags & (GT_FUNC_ANON | GT_FUNC_STUB))
        return NULL;
    if (g_hash_table_lookup_extended(a->functions, fn, NULL, &known))
        return known;
    struct gt_filter_function what;
    gt_recorder_function_describe(r, module, fn->lo, NULL, &what);
    gt_recorder_function_add_names(module, fn, &a->arena, &what);
    GArray *items = collect(r, module, fn, &what);
    struct gt_recorder_argument_function *f = make_function(a, items);
    g_array_unref(items);
    g_hash_table_insert(a->functions, (gpointer)fn, f);
    if (!f)
        return NULL;
    f->fn = fn;
    f->module = module;
    f->name = what.name ? what.name : "?";
    if (f->spec.n_returns)
        __atomic_fetch_or(&((struct gt_track_func *)(uintptr_t)fn)->flags, GT_FUNC_RESULT,
                          __ATOMIC_RELAXED);
    g_ptr_array_add(a->used, f);
    write_new(r);
    return f;
}

struct gt_recorder_argument_point *
gt_recorder_argument_point_new(struct gt_code *code, const struct gt_recorder_argument_function *of,
                               uint64_t insns)
{
    struct gt_recorder_argument_point *p = g_new(struct gt_recorder_argument_point, 1);
    *p = (struct gt_recorder_argument_point){code, of, insns};
    return p;
}

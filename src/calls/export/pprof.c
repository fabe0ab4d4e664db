/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof's profile.proto, compressed by gzip: a sample for each path of calls of each task, whose
 * values are how often its last function was called there and the time that it spent itself.
 *
 * Samples have the labels `task` and `process` (names), `tid` and `pid` (numbers). A function is a
 * location, too; a module is a mapping. Nothing depends on when or where the file is written.
 */
#include "calls/export/frames.h"
#include "calls/export/gzip.h"
#include "calls/export/protobuf.h"
#include "calls/export/sums.h"

enum profile {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};
enum value_type { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum sample { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum label { LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3 };
enum mapping {
    MAPPING_ID = 1,
    MAPPING_FILENAME = 5,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILENAMES = 8,
    MAPPING_HAS_LINE_NUMBERS = 9,
};
enum location { LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum line { LINE_FUNCTION_ID = 1, LINE_LINE = 2 };
enum function {
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5,
};

enum { FLUSH = 64 << 10 }; /* bytes that are gathered before they are compressed */

struct pprof {
    const struct gt_calls *calls;
    const struct gt_profile_tree *tree;
    struct gt_export_frames frames;
    struct gt_export_protobuf out;
    struct gt_export_gzip gzip;
    struct gt_export_protobuf labels; /* of the task whose samples are written */
    GHashTable *string;               /* text to number */
    GPtrArray *strings;               /* by number */
    GPtrArray *mappings;              /* paths; number N is at N - 1 */
    GHashTable *mapping;              /* path to number, from 1 */
};

static uint64_t string_of(struct pprof *p, const char *text)
{
    void *number;
    if (!g_hash_table_lookup_extended(p->string, text, NULL, &number)) {
        char *own = g_strdup(text);
        number = GUINT_TO_POINTER(p->strings->len);
        g_hash_table_insert(p->string, own, number);
        g_ptr_array_add(p->strings, own);
    }
    return GPOINTER_TO_UINT(number);
}

static void put_string(struct pprof *p, struct gt_export_protobuf *to, uint32_t field,
                       const char *text)
{
    gt_export_protobuf_u64(to, field, string_of(p, text));
}

static void flush(struct pprof *p, size_t most)
{
    if (p->out.len < most)
        return;
    gt_export_gzip_add(&p->gzip, p->out.data, p->out.len);
    p->out.len = 0;
}

/* ---- samples ------------------------------------------------------------------------------- */

static void put_label(struct pprof *p, const char *key, const char *text, uint64_t number)
{
    size_t label = gt_export_protobuf_begin(&p->labels, SAMPLE_LABEL);
    put_string(p, &p->labels, LABEL_KEY, key);
    if (text)
        put_string(p, &p->labels, LABEL_STR, text);
    else
        gt_export_protobuf_u64(&p->labels, LABEL_NUM, number);
    gt_export_protobuf_end(&p->labels, label);
}

static void make_labels(struct pprof *p, uint32_t index)
{
    const struct gt_calls_task *task = gt_calls_task(p->calls, index);
    g_autofree char *name = gt_export_frames_task_name(p->calls, index);
    g_autofree char *process = gt_export_frames_process_name(p->calls, task->process);
    p->labels.len = 0;
    put_label(p, "task", name, 0);
    put_label(p, "tid", NULL, task->id);
    put_label(p, "process", process, 0);
    put_label(p, "pid", NULL, gt_calls_process(p->calls, task->process)->pid);
}

static void put_sample(struct pprof *p, const struct gt_profile_tree_node *n)
{
    size_t sample = gt_export_protobuf_begin(&p->out, PROFILE_SAMPLE);
    size_t packed = gt_export_protobuf_begin(&p->out, SAMPLE_LOCATION_ID);
    for (const struct gt_profile_tree_node *at = n; at->function != GT_TREE_NONE;
         at = &p->tree->node[at->parent])
        gt_export_protobuf_varint(&p->out, p->frames.number[at->function] + 1);
    gt_export_protobuf_end(&p->out, packed);
    packed = gt_export_protobuf_begin(&p->out, SAMPLE_VALUE);
    gt_export_protobuf_varint(&p->out, n->calls);
    gt_export_protobuf_varint(&p->out, (uint64_t)n->self);
    gt_export_protobuf_end(&p->out, packed);
    if (p->labels.len)
        memcpy(gt_export_protobuf_room(&p->out, p->labels.len), p->labels.data, p->labels.len);
    p->out.len += p->labels.len;
    gt_export_protobuf_end(&p->out, sample);
}

static void put_samples(struct pprof *p)
{
    const struct gt_profile_tree *t = p->tree;
    for (size_t r = 0; r < t->n_roots; r++) {
        const struct gt_profile_tree_node *root = &t->node[t->root[r].node];
        make_labels(p, t->root[r].group);
        for (const struct gt_profile_tree_node *n = root + 1; n < t->node + root->end; n++) {
            if (p->gzip.out->failed)
                return;
            if (n->calls || n->self)
                put_sample(p, n);
            flush(p, FLUSH);
        }
    }
}

/* ---- tables -------------------------------------------------------------------------------- */

static uint32_t mapping_of(struct pprof *p, const char *path)
{
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(p->mapping, path));
    if (number || !*path)
        return number;
    g_ptr_array_add(p->mappings, (void *)(uintptr_t)path);
    g_hash_table_insert(p->mapping, (void *)(uintptr_t)path, GUINT_TO_POINTER(p->mappings->len));
    return p->mappings->len;
}

/* The program is the first, and gives the profile its name. */
static void number_mappings(struct pprof *p)
{
    const char *program = gt_calls_facts(p->calls)->exename;
    for (uint32_t i = 0; i < p->frames.n; i++)
        if (strcmp(p->frames.frame[i].function->module, program) == 0)
            mapping_of(p, program);
    for (uint32_t i = 0; i < p->frames.n; i++)
        mapping_of(p, p->frames.frame[i].function->module);
}

static void put_mappings(struct pprof *p)
{
    for (uint32_t i = 0; i < p->mappings->len; i++) {
        size_t m = gt_export_protobuf_begin(&p->out, PROFILE_MAPPING);
        gt_export_protobuf_u64(&p->out, MAPPING_ID, i + 1);
        put_string(p, &p->out, MAPPING_FILENAME, p->mappings->pdata[i]);
        gt_export_protobuf_u64(&p->out, MAPPING_HAS_FUNCTIONS, true);
        gt_export_protobuf_u64(&p->out, MAPPING_HAS_FILENAMES, true);
        gt_export_protobuf_u64(&p->out, MAPPING_HAS_LINE_NUMBERS, true);
        gt_export_protobuf_end(&p->out, m);
    }
}

static void put_function(struct pprof *p, uint32_t i)
{
    const struct gt_calls_function *f = p->frames.frame[i].function;
    uint32_t mapping = mapping_of(p, f->module), line = f->file ? f->line : 0;
    size_t location = gt_export_protobuf_begin(&p->out, PROFILE_LOCATION);
    gt_export_protobuf_u64(&p->out, LOCATION_ID, i + 1);
    if (mapping)
        gt_export_protobuf_u64(&p->out, LOCATION_MAPPING_ID, mapping);
    gt_export_protobuf_u64(&p->out, LOCATION_ADDRESS, f->address);
    size_t l = gt_export_protobuf_begin(&p->out, LOCATION_LINE);
    gt_export_protobuf_u64(&p->out, LINE_FUNCTION_ID, i + 1);
    if (line)
        gt_export_protobuf_u64(&p->out, LINE_LINE, line);
    gt_export_protobuf_end(&p->out, l);
    gt_export_protobuf_end(&p->out, location);

    size_t function = gt_export_protobuf_begin(&p->out, PROFILE_FUNCTION);
    gt_export_protobuf_u64(&p->out, FUNCTION_ID, i + 1);
    put_string(p, &p->out, FUNCTION_NAME, p->frames.frame[i].name);
    put_string(p, &p->out, FUNCTION_SYSTEM_NAME, *f->name ? f->name : "?");
    if (f->file)
        put_string(p, &p->out, FUNCTION_FILENAME, f->file);
    if (line)
        gt_export_protobuf_u64(&p->out, FUNCTION_START_LINE, line);
    gt_export_protobuf_end(&p->out, function);
}

static void put_tables(struct pprof *p)
{
    number_mappings(p);
    put_mappings(p);
    for (uint32_t i = 0; i < p->frames.n; i++) {
        put_function(p, i);
        flush(p, FLUSH);
    }
    for (guint i = 0; i < p->strings->len; i++) {
        gt_export_protobuf_text(&p->out, PROFILE_STRING_TABLE, p->strings->pdata[i]);
        flush(p, FLUSH);
    }
}

/* ---- all ----------------------------------------------------------------------------------- */

static void put_value_type(struct pprof *p, uint32_t field, const char *type, const char *unit)
{
    size_t m = gt_export_protobuf_begin(&p->out, field);
    put_string(p, &p->out, VALUE_TYPE_TYPE, type);
    put_string(p, &p->out, VALUE_TYPE_UNIT, unit);
    gt_export_protobuf_end(&p->out, m);
}

static void put_head(struct pprof *p)
{
    const struct gt_calls_facts *facts = gt_calls_facts(p->calls);
    bool insn = gt_export_frames_in_instructions(p->calls);
    const char *type = insn ? "instructions" : "time", *unit = insn ? "count" : "nanoseconds";
    string_of(p, ""); /* has to be the first */
    put_value_type(p, PROFILE_SAMPLE_TYPE, "calls", "count");
    put_value_type(p, PROFILE_SAMPLE_TYPE, type, unit);
    put_string(p, &p->out, PROFILE_DEFAULT_SAMPLE_TYPE, type);
    if (!insn)
        gt_export_protobuf_u64(&p->out, PROFILE_DURATION_NANOS, facts->last - facts->first);
    put_string(p, &p->out, PROFILE_COMMENT, "guesttrace " GT_VERSION);
    if (*facts->command)
        put_string(p, &p->out, PROFILE_COMMENT, facts->command);
}

static void write_profile(struct pprof *p)
{
    p->string = g_hash_table_new(g_str_hash, g_str_equal);
    p->strings = g_ptr_array_new_with_free_func(g_free);
    p->mapping = g_hash_table_new(g_str_hash, g_str_equal);
    p->mappings = g_ptr_array_new();
    gt_export_frames_make(p->calls, p->tree, &p->frames);
    put_head(p);
    put_samples(p);
    put_tables(p);
    flush(p, 1);
    gt_export_frames_clear(&p->frames);
    gt_export_protobuf_free(&p->out);
    gt_export_protobuf_free(&p->labels);
    g_hash_table_destroy(p->string);
    g_hash_table_destroy(p->mapping);
    g_ptr_array_unref(p->strings);
    g_ptr_array_unref(p->mappings);
}

int gt_export_pprof(struct gt_calls *c, const struct gt_export_sums_options *o,
                    struct gt_output *out, struct gt_error *err)
{
    struct gt_profile_tree tree;
    int status = gt_export_sums_make_paths(c, o, GT_TREE_BY_TOTAL, &tree, err);
    if (status < 0)
        return status;
    struct pprof p = {.calls = c, .tree = &tree};
    status = gt_export_gzip_begin(&p.gzip, out, err);
    if (status == 0) {
        write_profile(&p);
        gt_export_gzip_end(&p.gzip);
    }
    gt_profile_tree_clear(&tree);
    return status;
}

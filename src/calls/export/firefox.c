/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles for profiler.firefox.com: its "processed" format, version 48, whose tables are columns.
 * Later versions of the viewer convert it. A task is a thread with tables of its own: strings,
 * functions, frames (one a function), stacks and samples; events and the console's lines are
 * markers.
 *
 * Source: docs-developer and src/types of github.com/firefox-devtools/profiler.
 */
#include "base/json.h"
#include "calls/export/frames.h"
#include "calls/export/samples.h"

enum {
    VERSION = 48,       /* of the processed format */
    GECKO_VERSION = 27, /* of the browser's own, at that time */
    OTHER = 0,          /* categories */
    HANDLER = 1,
    LIBRARY = 1, /* type of a resource */
};

struct firefox {
    struct gt_json json;
    const struct gt_calls *calls;
    const struct gt_export_samples *samples;
    struct gt_image_demangler *demangler;
    bool instructions; /* times are */
    uint64_t start;    /* time 0 of the file */
    /* of the thread at hand */
    const struct gt_export_sample_task *task;
    GHashTable *number; /* of the index of a function: its number in the thread, + 1 */
    GArray *functions;  /* uint32_t: indexes, by number */
    GPtrArray *strings;
    GHashTable *string; /* its number, + 1 */
};

/* ---- tables of a thread -------------------------------------------------------------------- */

static uint32_t string_of(struct firefox *f, const char *text)
{
    const uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(f->string, text));
    if (known)
        return known - 1;
    g_ptr_array_add(f->strings, (void *)text);
    g_hash_table_insert(f->string, (void *)text, GUINT_TO_POINTER(f->strings->len));
    return f->strings->len - 1;
}

static const struct gt_calls_function *function_of(const struct firefox *f, guint number)
{
    return gt_calls_function(f->calls, g_array_index(f->functions, uint32_t, number));
}

static const char *name_of(const struct firefox *f, const struct gt_calls_function *function)
{
    return *function->name ? gt_image_demangle(f->demangler, function->name) : "?";
}

static const struct gt_export_sample_stack *stack_of(const struct firefox *f, guint i)
{
    return &g_array_index(f->task->stacks, struct gt_export_sample_stack, i);
}

static uint32_t number_of(const struct firefox *f, uint32_t function)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(f->number, GUINT_TO_POINTER(function))) - 1;
}

static void thread_begin(struct firefox *f, const struct gt_export_sample_task *task)
{
    f->task = task;
    f->number = g_hash_table_new(NULL, NULL);
    f->functions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    f->strings = g_ptr_array_new();
    f->string = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < task->stacks->len; i++) {
        const uint32_t function = stack_of(f, i)->function;
        if (g_hash_table_contains(f->number, GUINT_TO_POINTER(function)))
            continue;
        g_array_append_val(f->functions, function);
        g_hash_table_insert(f->number, GUINT_TO_POINTER(function),
                            GUINT_TO_POINTER(f->functions->len));
    }
}

static void thread_end(struct firefox *f)
{
    g_hash_table_destroy(f->number);
    g_array_free(f->functions, TRUE);
    g_ptr_array_free(f->strings, TRUE);
    g_hash_table_destroy(f->string);
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Milliseconds. */
static void put_ms(struct firefox *f, uint64_t ns)
{
    char text[2 * GT_DECIMAL_SIZE], *p = gt_text_decimal_put(text, ns / 1000000);
    g_snprintf(p, GT_DECIMAL_SIZE, ".%06u", (unsigned)(ns % 1000000));
    gt_json_number(&f->json, text);
}

static void put_null(struct gt_json *j)
{
    gt_json_number(j, "null");
}

static void table_begin(struct gt_json *j, const char *name, size_t length)
{
    gt_json_newline(j);
    gt_json_key(j, name);
    gt_json_begin_object(j);
    gt_json_member_u64(j, "length", length);
}

static void column_begin(struct gt_json *j, const char *name)
{
    gt_json_newline(j);
    gt_json_key(j, name);
    gt_json_begin_array(j);
}

/* n times the same value, which is a number or a word. */
static void put_column(struct gt_json *j, const char *name, size_t n, const char *value)
{
    column_begin(j, name);
    for (size_t i = 0; i < n; i++)
        gt_json_number(j, value);
    gt_json_end_array(j);
}

static void put_empty(struct gt_json *j, const char *name, const char *const *columns)
{
    table_begin(j, name, 0);
    for (size_t i = 0; columns[i]; i++)
        put_column(j, columns[i], 0, "");
    gt_json_end_object(j);
}

/* ---- functions ----------------------------------------------------------------------------- */

/* Modules that functions are in, in the order of the functions. */
static GPtrArray *make_modules(const struct firefox *f, GHashTable *number)
{
    GPtrArray *modules = g_ptr_array_new();
    for (guint i = 0; i < f->functions->len; i++) {
        const char *module = function_of(f, i)->module;
        if (!*module || g_hash_table_contains(number, module))
            continue;
        g_hash_table_insert(number, (void *)module, GUINT_TO_POINTER(modules->len));
        g_ptr_array_add(modules, (void *)module);
    }
    return modules;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void put_resources(struct firefox *f, const GPtrArray *modules)
{
    struct gt_json *j = &f->json;
    char library[] = {'0' + LIBRARY, '\0'};
    table_begin(j, "resourceTable", modules->len);
    column_begin(j, "name");
    for (guint i = 0; i < modules->len; i++)
        gt_json_u64(j, string_of(f, base_name(modules->pdata[i])));
    gt_json_end_array(j);
    put_column(j, "lib", modules->len, "null");
    put_column(j, "host", modules->len, "null");
    put_column(j, "type", modules->len, library);
    gt_json_end_object(j);
}

static void put_functions(struct firefox *f)
{
    struct gt_json *j = &f->json;
    const guint n = f->functions->len;
    g_autoptr(GHashTable) number = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) modules = make_modules(f, number);
    put_resources(f, modules);
    table_begin(j, "funcTable", n);
    column_begin(j, "name");
    for (guint i = 0; i < n; i++)
        gt_json_u64(j, string_of(f, name_of(f, function_of(f, i))));
    gt_json_end_array(j);
    column_begin(j, "resource");
    for (guint i = 0; i < n; i++) {
        const char *module = function_of(f, i)->module;
        gt_json_i64(j,
                    *module ? (int64_t)GPOINTER_TO_UINT(g_hash_table_lookup(number, module)) : -1);
    }
    gt_json_end_array(j);
    column_begin(j, "fileName");
    for (guint i = 0; i < n; i++) {
        const char *file = function_of(f, i)->file;
        file ? gt_json_u64(j, string_of(f, file)) : put_null(j);
    }
    gt_json_end_array(j);
    put_column(j, "isJS", n, "false");
    put_column(j, "relevantForJS", n, "false");
    put_column(j, "lineNumber", n, "null");
    put_column(j, "columnNumber", n, "null");
    gt_json_end_object(j);
}

static void put_frames(struct firefox *f)
{
    struct gt_json *j = &f->json;
    const guint n = f->functions->len;
    table_begin(j, "frameTable", n);
    column_begin(j, "func");
    for (guint i = 0; i < n; i++)
        gt_json_u64(j, i);
    gt_json_end_array(j);
    column_begin(j, "line");
    for (guint i = 0; i < n; i++) {
        const struct gt_calls_function *function = function_of(f, i);
        function->file && function->line ? gt_json_u64(j, function->line) : put_null(j);
    }
    gt_json_end_array(j);
    column_begin(j, "category");
    for (guint i = 0; i < n; i++)
        function_of(f, i)->is_handler ? gt_json_u64(j, HANDLER) : put_null(j);
    gt_json_end_array(j);
    put_column(j, "address", n, "-1");
    put_column(j, "inlineDepth", n, "0");
    put_column(j, "subcategory", n, "0");
    put_column(j, "innerWindowID", n, "0");
    static const char *const absent[] = {"nativeSymbol", "implementation", "column"};
    for (size_t i = 0; i < G_N_ELEMENTS(absent); i++)
        put_column(j, absent[i], n, "null");
    gt_json_end_object(j);
}

/* ---- stacks and samples -------------------------------------------------------------------- */

/* What a handler calls is of its category. */
static void put_categories(struct firefox *f)
{
    const guint n = f->task->stacks->len;
    g_autofree uint8_t *category = g_new(uint8_t, n + 1);
    column_begin(&f->json, "category");
    for (guint i = 0; i < n; i++) {
        const struct gt_export_sample_stack *s = stack_of(f, i);
        const uint8_t outer = s->parent == GT_TREE_NONE ? OTHER : category[s->parent];
        category[i] = gt_calls_function(f->calls, s->function)->is_handler ? HANDLER : outer;
        gt_json_u64(&f->json, category[i]);
    }
    gt_json_end_array(&f->json);
}

static void put_stacks(struct firefox *f)
{
    struct gt_json *j = &f->json;
    const guint n = f->task->stacks->len;
    table_begin(j, "stackTable", n);
    column_begin(j, "frame");
    for (guint i = 0; i < n; i++)
        gt_json_u64(j, number_of(f, stack_of(f, i)->function));
    gt_json_end_array(j);
    column_begin(j, "prefix");
    for (guint i = 0; i < n; i++)
        stack_of(f, i)->parent == GT_TREE_NONE ? put_null(j)
                                               : gt_json_u64(j, stack_of(f, i)->parent);
    gt_json_end_array(j);
    put_categories(f);
    put_column(j, "subcategory", n, "0");
    gt_json_end_object(j);
}

static void put_samples(struct firefox *f)
{
    struct gt_json *j = &f->json;
    const struct gt_export_sample *s = &g_array_index(f->task->samples, struct gt_export_sample, 0);
    const guint n = f->task->samples->len;
    table_begin(j, "samples", n);
    gt_json_member_text(j, "weightType", f->instructions ? "samples" : "tracing-ms");
    column_begin(j, "stack");
    for (guint i = 0; i < n; i++)
        s[i].stack == GT_TREE_NONE ? put_null(j) : gt_json_u64(j, s[i].stack);
    gt_json_end_array(j);
    column_begin(j, "time");
    for (guint i = 0; i < n; i++)
        put_ms(f, s[i].time - f->start);
    gt_json_end_array(j);
    column_begin(j, "weight");
    for (guint i = 0; i < n; i++)
        f->instructions ? gt_json_u64(j, s[i].weight) : put_ms(f, s[i].weight);
    gt_json_end_array(j);
    gt_json_end_object(j);
}

static void put_markers(struct firefox *f, const GArray *instants)
{
    struct gt_json *j = &f->json;
    const struct gt_export_sample_instant *one =
        &g_array_index(instants, struct gt_export_sample_instant, 0);
    table_begin(j, "markers", instants->len);
    column_begin(j, "name");
    for (guint i = 0; i < instants->len; i++)
        gt_json_u64(j, string_of(f, one[i].text));
    gt_json_end_array(j);
    column_begin(j, "startTime");
    for (guint i = 0; i < instants->len; i++)
        put_ms(f, one[i].time - f->start);
    gt_json_end_array(j);
    put_column(j, "data", instants->len, "null");
    put_column(j, "endTime", instants->len, "null");
    put_column(j, "phase", instants->len, "0"); /* an instant */
    put_column(j, "category", instants->len, "0");
    gt_json_end_object(j);
}

/* ---- threads ------------------------------------------------------------------------------- */

struct title {
    const char *name, *process;
    uint32_t tid, pid;
};

static void put_title(struct gt_json *j, const struct title *t)
{
    char pid[16];
    g_snprintf(pid, sizeof pid, "%u", t->pid);
    gt_json_member_text(j, "name", t->name);
    gt_json_member_text(j, "processName", t->process);
    gt_json_member_text(j, "processType", "default");
    gt_json_member_text(j, "pid", pid);
    gt_json_member_u64(j, "tid", t->tid);
    gt_json_key(j, "isMainThread");
    gt_json_bool(j, t->tid == t->pid);
    gt_json_member_u64(j, "registerTime", 0);
    gt_json_member_u64(j, "processStartupTime", 0);
    static const char *const absent[] = {"unregisterTime", "processShutdownTime"};
    for (size_t i = 0; i < G_N_ELEMENTS(absent); i++) {
        gt_json_key(j, absent[i]);
        put_null(j);
    }
    put_column(j, "pausedRanges", 0, "");
}

static void put_thread(struct firefox *f, const struct gt_export_sample_task *task,
                       const GArray *instants, const struct title *title)
{
    static const char *const symbols[] = {"libIndex", "address", "name", "functionSize", NULL};
    struct gt_json *j = &f->json;
    thread_begin(f, task);
    gt_json_newline(j);
    gt_json_begin_object(j);
    put_title(j, title);
    put_functions(f);
    put_frames(f);
    put_empty(j, "nativeSymbols", symbols);
    put_stacks(f);
    put_samples(f);
    put_markers(f, instants);
    column_begin(j, "stringArray");
    for (guint i = 0; i < f->strings->len; i++)
        gt_json_text(j, f->strings->pdata[i]);
    gt_json_end_array(j);
    gt_json_end_object(j);
    thread_end(f);
}

static void put_task(struct firefox *f, uint32_t index)
{
    const struct gt_calls_task *t = gt_calls_task(f->calls, index);
    const struct gt_export_sample_task *task = &f->samples->task[index];
    g_autofree char *name = gt_export_frames_task_name(f->calls, index);
    g_autofree char *process = gt_export_frames_process_name(f->calls, t->process);
    const struct title title = {name, process, t->id, gt_calls_process(f->calls, t->process)->pid};
    put_thread(f, task, task->instants, &title);
}

/* The console's lines are on no task: a thread without calls. */
static void put_console(struct firefox *f)
{
    g_autoptr(GArray) stacks = g_array_new(FALSE, FALSE, sizeof(struct gt_export_sample_stack));
    g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(struct gt_export_sample));
    const struct gt_export_sample_task none = {stacks, samples, NULL};
    const struct title title = {"console", "console", 0, 0};
    if (f->samples->console->len)
        put_thread(f, &none, f->samples->console, &title);
}

/* ---- the file ------------------------------------------------------------------------------ */

static void put_category(struct gt_json *j, const char *name, const char *color)
{
    gt_json_begin_object(j);
    gt_json_member_text(j, "name", name);
    gt_json_member_text(j, "color", color);
    gt_json_key(j, "subcategories");
    gt_json_begin_array(j);
    gt_json_text(j, "Other");
    gt_json_end_array(j);
    gt_json_end_object(j);
}

static void put_meta(struct firefox *f)
{
    struct gt_json *j = &f->json;
    g_autofree char *name = g_path_get_basename(gt_calls_facts(f->calls)->path);
    gt_json_key(j, "meta");
    gt_json_begin_object(j);
    gt_json_member_u64(j, "version", GECKO_VERSION);
    gt_json_member_u64(j, "preprocessedProfileVersion", VERSION);
    gt_json_member_u64(j, "startTime", 0);
    gt_json_key(j, "interval"); /* ms: of no use here, but it has to be there */
    gt_json_number(j, "0.000001");
    gt_json_member_u64(j, "processType", 0);
    gt_json_member_u64(j, "stackwalk", 1);
    gt_json_member_text(j, "product", name);
    gt_json_member_text(j, "importedFrom", "guesttrace " GT_VERSION);
    gt_json_key(j, "symbolicated");
    gt_json_bool(j, true);
    gt_json_key(j, "categories");
    gt_json_begin_array(j);
    put_category(j, "Other", "grey");
    put_category(j, "Handler", "orange");
    gt_json_end_array(j);
    put_column(j, "markerSchema", 0, "");
    gt_json_end_object(j);
}

static void put_file(struct firefox *f)
{
    struct gt_json *j = &f->json;
    gt_json_resume(j);
    gt_json_begin_object(j);
    put_meta(f);
    put_column(j, "libs", 0, "");
    gt_json_key(j, "threads");
    gt_json_begin_array(j);
    for (uint32_t i = 0; i < f->samples->n && !j->out->failed; i++)
        if (f->samples->task[i].stacks)
            put_task(f, i);
    put_console(f);
    gt_json_end_array(j);
    gt_json_end_object(j);
    gt_json_end_line(j);
    gt_json_commit(j);
}

int gt_export_firefox(struct gt_calls *c, const struct gt_export_sums_options *o,
                      struct gt_output *out, struct gt_error *err)
{
    struct gt_export_samples samples;
    int status = gt_export_samples_make(c, o, out, &samples, err);
    if (status < 0)
        return status;
    struct firefox f = {.calls = c, .samples = &samples, .demangler = gt_image_demangler_create()};
    f.instructions = gt_export_frames_in_instructions(c);
    if (samples.in_time)
        f.start = MAX(o->window->from, gt_calls_facts(c)->first);
    gt_json_init(&f.json, out, GT_JSON_REPLACE);
    put_file(&f);
    gt_image_demangler_destroy(f.demangler);
    gt_export_samples_clear(&samples);
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Common Trace Format 1.8, for babeltrace2, Trace Compass and others: a directory with the file
 * "metadata", which describes all others, and a stream a task, in packets. A call is func_entry and
 * func_exit; its function is a number whose name the metadata has, in an enumeration. Events and
 * the console's lines are events with a text.
 *
 * Times of a stream have to be in order; events of all tasks together are not always in order.
 */
#include "base/bytes.h"
#include "base/file.h"
#include "calls/export/frames.h"
#include "calls/export/recording.h"
#include "calls/export/slices.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
    PACKET = 32 << 10, /* bytes after which one is written */
    MAGIC_BYTES = 8,
    CONTEXT_BYTES = 4 * 8 + 2 * 4,
    ENTRY = 0, /* events, as the metadata numbers them */
    EXIT = 1,
    EVENT = 2,
    CONSOLE = 3,
};
#define MAGIC 0xC1FC1FC1u

struct stream {
    GByteArray *events; /* of the packet that is being made; NULL: the task has had none */
    uint64_t begin, end;
};

struct ctf {
    struct gt_calls *calls;
    const char *folder; /* for messages */
    int dir;
    struct gt_output out;  /* the metadata; its `failed` ends the reading, too */
    struct stream *stream; /* by task; the last one is the console's */
    size_t n;
    GHashTable *number; /* of the index of a function: the number in the file, + 1 */
    GArray *functions;  /* uint32_t: indexes, by number */
};

/* ---- packets ------------------------------------------------------------------------------- */

static void write_all(struct ctf *c, int fd, const void *data, size_t size)
{
    const uint8_t *p = data;
    while (size && !c->out.failed) {
        const ssize_t n = write(fd, p, size);
        if (n < 0 && errno != EINTR)
            c->out.failed = errno;
        p += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

static void flush_packet(struct ctf *c, uint32_t task)
{
    struct stream *s = &c->stream[task];
    const bool console = task + 1 == c->n;
    const struct gt_calls_task *t = console ? NULL : gt_calls_task(c->calls, task);
    uint8_t head[MAGIC_BYTES + CONTEXT_BYTES], *p = head;
    g_autofree char *title =
        console ? g_strdup("console") : gt_export_frames_task_name(c->calls, task);
    g_autoptr(GString) name = g_string_new(NULL);
    char file[32];
    gt_export_frames_add_clean(name, title, '\0', '\0');
    snprintf(file, sizeof file, console ? "console" : "task_%" PRIu32, task);
    const uint64_t bits = 8 * (uint64_t)(sizeof head + name->len + 1 + s->events->len);
    p = gt_bytes_put32(gt_bytes_put32(p, MAGIC), 0);
    p = gt_bytes_put64(gt_bytes_put64(p, s->begin), s->end);
    p = gt_bytes_put64(gt_bytes_put64(p, bits), bits);
    p = gt_bytes_put32(p, t ? gt_calls_process(c->calls, t->process)->pid : 0);
    gt_bytes_put32(p, t ? t->id : 0);
    const int fd =
        openat(c->dir, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        c->out.failed = errno;
        return;
    }
    write_all(c, fd, head, sizeof head);
    write_all(c, fd, name->str, name->len + 1);
    write_all(c, fd, s->events->data, s->events->len);
    close(fd);
    g_byte_array_set_size(s->events, 0);
}

/* Begins an event: its header. */
static GByteArray *event_begin(struct ctf *c, uint32_t task, uint8_t id, uint64_t time)
{
    struct stream *s = &c->stream[task];
    uint8_t header[1 + 8] = {id};
    if (!s->events)
        s->events = g_byte_array_new();
    if (s->events->len >= PACKET)
        flush_packet(c, task);
    if (s->events->len == 0)
        s->begin = time;
    s->end = time;
    gt_bytes_put64(header + 1, time);
    return g_byte_array_append(s->events, header, sizeof header);
}

static void add_text(GByteArray *to, const char *text)
{
    g_autoptr(GString) clean = g_string_new(NULL);
    gt_export_frames_add_clean(clean, text, '\0', '\0');
    g_byte_array_append(to, (const uint8_t *)clean->str, (guint)clean->len + 1);
}

static void add_values(GByteArray *to, const struct gt_export_slice_value *v, size_t n)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < n; i++)
        if (v[i].text)
            g_string_append_printf(text, "%s%s=%s", text->len ? ", " : "", v[i].name, v[i].text);
    add_text(to, text->str);
}

static void add_function(struct ctf *c, GByteArray *to, uint32_t function)
{
    uint8_t word[4];
    uint32_t n = GPOINTER_TO_UINT(g_hash_table_lookup(c->number, GUINT_TO_POINTER(function)));
    if (n == 0) {
        g_array_append_val(c->functions, function);
        n = c->functions->len;
        g_hash_table_insert(c->number, GUINT_TO_POINTER(function), GUINT_TO_POINTER(n));
    }
    gt_bytes_put32(word, n - 1);
    g_byte_array_append(to, word, sizeof word);
}

/* ---- events -------------------------------------------------------------------------------- */

static void put_begin(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                      size_t n)
{
    struct ctf *c = self;
    GByteArray *to = event_begin(c, e->task, ENTRY, e->time);
    add_function(c, to, e->function);
    add_values(to, v, n);
}

static void put_end(void *self, const struct gt_call *e, const struct gt_export_slice_value *v,
                    size_t n)
{
    struct ctf *c = self;
    uint8_t facts[8 + 1];
    GByteArray *to = event_begin(c, e->task, EXIT, e->time);
    add_function(c, to, e->function);
    *gt_bytes_put64(facts, e->slept) = gt_calls_is_open(c->calls, e);
    g_byte_array_append(to, facts, sizeof facts);
    add_values(to, v, n);
}

static void put_instant(void *self, uint32_t task, uint64_t time, const char *text)
{
    struct ctf *c = self;
    const bool console = task == GT_SLICES_CONSOLE;
    add_text(event_begin(c, console ? (uint32_t)c->n - 1 : task, console ? CONSOLE : EVENT, time),
             text);
}

/* ---- metadata ------------------------------------------------------------------------------ */

/* A string literal of the metadata. */
static void put_literal(struct ctf *c, const char *text)
{
    g_autoptr(GString) clean = g_string_new(NULL);
    gt_export_frames_add_clean(clean, text, '\0', '\0');
    g_string_replace(clean, "\\", "\\\\", 0);
    g_string_replace(clean, "\"", "\\\"", 0);
    gt_output_text(&c->out, "\"");
    gt_output_bytes(&c->out, clean->str, clean->len);
    gt_output_text(&c->out, "\"");
}

static void put_functions(struct ctf *c)
{
    struct gt_image_demangler *demangler = gt_image_demangler_create();
    gt_output_text(&c->out, "typealias enum : uint32_t {\n");
    for (guint i = 0; i < c->functions->len; i++) {
        const struct gt_calls_function *f =
            gt_calls_function(c->calls, g_array_index(c->functions, uint32_t, i));
        put_literal(c, *f->name ? gt_image_demangle(demangler, f->name) : "?");
        gt_output_text(&c->out, " = ");
        gt_output_decimal(&c->out, i);
        gt_output_text(&c->out, ",\n");
    }
    /* An enumeration has to have a label. */
    gt_output_text(&c->out, "\"no function\" = 4294967295\n} := function_t;\n");
    gt_image_demangler_destroy(demangler);
}

static void put_event(struct ctf *c, int id, const char *name, const char *fields)
{
    gt_output_text(&c->out, "event {\nname = ");
    put_literal(c, name);
    gt_output_text(&c->out, ";\nid = ");
    gt_output_decimal(&c->out, (uint64_t)id);
    gt_output_text(&c->out, ";\nstream_id = 0;\nfields := struct { ");
    gt_output_text(&c->out, fields);
    gt_output_text(&c->out, " };\n};\n");
}

static void put_metadata(struct ctf *c)
{
    g_autofree char *name = g_path_get_basename(gt_calls_facts(c->calls)->path);
    gt_output_text(&c->out, "/* CTF 1.8 */\n"
                            "typealias integer { size = 8; align = 8; } := uint8_t;\n"
                            "typealias integer { size = 32; align = 8; } := uint32_t;\n"
                            "typealias integer { size = 64; align = 8; } := uint64_t;\n"
                            "trace {\nmajor = 1;\nminor = 8;\nbyte_order = le;\n"
                            "packet.header := struct { uint32_t magic; uint32_t stream_id; };\n};\n"
                            "env {\ntracer_name = \"guesttrace\";\ntracer_version = \"" GT_VERSION
                            "\";\ntrace_name = ");
    put_literal(c, name);
    gt_output_text(&c->out, ";\n};\nclock {\nname = guest;\nfreq = 1000000000;\ndescription = ");
    put_literal(c, gt_export_frames_in_instructions(c->calls) ? "instructions" : "nanoseconds");
    gt_output_text(&c->out,
                   ";\n};\ntypealias integer { size = 64; align = 8; map = clock.guest.value; } := "
                   "guest_t;\n");
    put_functions(c);
    gt_output_text(&c->out,
                   "stream {\nid = 0;\nevent.header := struct { uint8_t id; guest_t timestamp; };\n"
                   "packet.context := struct { guest_t timestamp_begin; guest_t timestamp_end; "
                   "uint64_t content_size; uint64_t packet_size; uint32_t pid; uint32_t tid; "
                   "string comm; };\n};\n");
    put_event(c, ENTRY, "func_entry", "function_t function; string values;");
    put_event(c, EXIT, "func_exit",
              "function_t function; uint64_t slept; uint8_t open; string values;");
    put_event(c, EVENT, "event", "string text;");
    put_event(c, CONSOLE, "console", "string text;");
}

/* ---- all ----------------------------------------------------------------------------------- */

static int write_metadata(struct ctf *c, struct gt_error *err)
{
    c->out.fd = openat(c->dir, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (c->out.fd < 0)
        return gt_error_errno(err, errno, "%s/metadata: cannot be made", c->folder);
    put_metadata(c);
    const int status = gt_output_finish(&c->out, c->folder, err);
    close(c->out.fd);
    return status;
}

/* Into the empty directory. */
static int write_folder(struct gt_calls *calls, const struct gt_calls_window *w, int dir,
                        const char *folder, struct gt_error *err)
{
    struct ctf *c = g_new(struct ctf, 1);
    const struct gt_export_slices slices = {c, put_begin, put_end, put_instant, NULL};
    c->calls = calls;
    c->folder = folder;
    c->dir = dir;
    gt_output_init(&c->out, -1);
    c->n = gt_calls_n_tasks(calls) + 1;
    c->stream = g_new0(struct stream, c->n);
    c->number = g_hash_table_new(NULL, NULL);
    c->functions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    int status = gt_export_slices_read(calls, w, &slices, &c->out, err);
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->stream[i].events && c->stream[i].events->len && status >= 0 && !c->out.failed)
            flush_packet(c, i);
        g_clear_pointer(&c->stream[i].events, g_byte_array_unref);
    }
    if (status >= 0 && c->out.failed)
        status = gt_error_errno(err, c->out.failed, "%s: cannot be written", folder);
    if (status >= 0)
        status = write_metadata(c, err);
    g_free(c->stream);
    g_hash_table_destroy(c->number);
    g_array_free(c->functions, TRUE);
    g_free(c);
    return status < 0 ? status : 0;
}

/* True where a trace of this format may be replaced. */
static bool is_ctf(const char *path)
{
    static const char start[] = "/* CTF 1.8 */";
    char begin[sizeof start - 1];
    g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
    const int fd = open(metadata, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    const bool is = fd >= 0 && read(fd, begin, sizeof begin) == (ssize_t)sizeof begin &&
                    memcmp(begin, start, sizeof begin) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* What has the name is a trace, or an empty directory. */
static int check_replace(const char *path, struct gt_error *err)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    if (access(path, F_OK) != 0 || (dir && (!g_dir_read_name(dir) || is_ctf(path))))
        return 0;
    return gt_error_set(err, GT_E_EXISTS,
                        "%s: exists and is not a CTF trace: it is left alone, name another", path);
}

int gt_export_ctf(struct gt_calls *c, const struct gt_calls_window *w, const char *path,
                  struct gt_error *err)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *base = g_path_get_basename(path);
    g_autofree char *tmp = g_strdup_printf("%s/.%s.%d.tmp", folder, base, (int)getpid());
    gt_file_remove_left_beside(path);
    int status = check_replace(path, err);
    if (status == 0)
        status = gt_file_make_dir(tmp, err);
    if (status < 0)
        return status;
    const int dir = open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    status = dir < 0 ? gt_error_errno(err, errno, "%s: cannot be opened", tmp)
                     : write_folder(c, w, dir, path, err);
    if (dir >= 0)
        close(dir);
    const bool keep = status == 0 && gt_calls_gave(c);
    if (keep && is_ctf(path))
        status = gt_file_remove_dir(path, err);
    if (keep && status == 0)
        status = gt_file_move_dir(tmp, path, err);
    if (!keep || status < 0)
        gt_file_remove_dir(tmp, NULL);
    return status;
}

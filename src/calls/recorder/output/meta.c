/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Content of the recorder's text files: see meta.h. */
#include "calls/recorder/output/meta.h"
#include "calls/recorder/recorder.h"
#include "qemu/support/execs.h"
#include "recording/texts/files.h"
#include "recording/texts/stats.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static char *read_cmdline(const char *program)
{
    char *raw = NULL;
    gsize size = 0;
    if (!g_file_get_contents("/proc/self/cmdline", &raw, &size, NULL))
        return g_strdup(program);
    GString *line = g_string_new(NULL);
    const char *end = raw + size;
    for (const char *word = raw; word < end; word += strlen(word) + 1) {
        /* User mode: QEMU's own words come first, then the guest's program. */
        if (program && word != raw && strcmp(word, program) == 0)
            g_string_truncate(line, 0);
        g_string_append_printf(line, "%s%s", line->len ? " " : "", word);
    }
    g_free(raw);
    return g_string_free(line, FALSE);
}

void gt_recorder_meta_thread_name(uint32_t tid, char name[16])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, name, 15);
    if (fd >= 0)
        close(fd);
    name[n > 0 ? n : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
}

void gt_recorder_meta_init(struct gt_recorder *r)
{
    prctl(PR_GET_NAME, r->process.first_name);
    char *program = r->guest.user ? gt_host_program() : NULL;
    r->process.exename =
        program && *program ? g_strdup(program) : g_strdup_printf("qemu-%s", r->host.target);
    r->process.cmdline = read_cmdline(program);
    r->code.modules.program = r->guest.user ? r->process.exename : NULL;
    g_free(program);
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    gt_uftrace_sid((uint64_t)r->process.pid << 48 ^ (uint64_t)ts.tv_sec << 20 ^
                       (uint64_t)ts.tv_nsec,
                   r->output.sid);
}

uint64_t gt_recorder_meta_last_time(const struct gt_uftrace_dir *dir, uint32_t tid)
{
    char path[4200];
    uint8_t word[8] = {0};
    snprintf(path, sizeof path, "%s/%u.dat", dir->path, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    struct stat st;
    ssize_t n = 0;
    if (fstat(fd, &st) == 0 && st.st_size >= GT_UFTRACE_RECORD_SIZE)
        n = pread(fd, word, sizeof word,
                  st.st_size - st.st_size % GT_UFTRACE_RECORD_SIZE - GT_UFTRACE_RECORD_SIZE);
    close(fd);
    struct gt_bytes_reader r;
    gt_bytes_reader_init(&r, word, n > 0 ? (size_t)n : 0);
    return gt_bytes_read_u64(&r);
}

/* A module in whose place another was mapped later cannot have a line in the map, nor can a file
 * have two lines. task.txt can distinguish them: its libraries have times. */
static int list(struct gt_recorder *r, struct gt_support_module *m, struct gt_error *err)
{
    if (m->listed)
        return 0;
    int status = gt_uftrace_dir_add_library(&r->output.dir, m->loaded, r->process.pid,
                                            r->output.sid, m->lo, m->path, err);
    if (status < 0)
        return status;
    m->listed = true;
    r->output.map_is_stale |= m->mapped;
    return 0;
}

/* The newest module, after those that it displaces. */
static int list_newest(struct gt_recorder *r, struct gt_support_module *m, struct gt_error *err)
{
    const GPtrArray *others = r->code.modules.displaced;
    int status = 0;
    for (guint i = 0; i < others->len && status == 0; i++)
        status = list(r, others->pdata[i], err);
    return status == 0 && m->apart ? list(r, m, err) : status;
}

static gint by_time(gconstpointer a, gconstpointer b)
{
    const struct gt_support_module *x = *(struct gt_support_module *const *)a,
                                   *y = *(struct gt_support_module *const *)b;
    return x->loaded < y->loaded ? -1 : x->loaded > y->loaded;
}

static int list_all(struct gt_recorder *r, struct gt_error *err)
{
    g_autoptr(GPtrArray) apart = g_ptr_array_new();
    int status = 0;
    for (guint i = 1; i < r->code.modules.all->len; i++) {
        struct gt_support_module *m = g_ptr_array_index(r->code.modules.all, i);
        if (m->apart && !m->listed)
            g_ptr_array_add(apart, m);
    }
    g_ptr_array_sort(apart, by_time);
    for (guint i = 0; i < apart->len && status == 0; i++)
        status = list(r, apart->pdata[i], err);
    return status;
}

static const char *build_id_of(const struct gt_support_module *m)
{
    return m->symbols && m->symbols->build_id[0] ? m->symbols->build_id : NULL;
}

static int write_map(struct gt_recorder *r, struct gt_error *err)
{
    GPtrArray *all = r->code.modules.all;
    struct gt_uftrace_mapping *map = g_new0(struct gt_uftrace_mapping, all->len);
    size_t n = 0;
    for (guint i = r->guest.user ? 1 : 0; i < all->len; i++) {
        struct gt_support_module *m = g_ptr_array_index(all, i);
        m->mapped = !m->listed;
        if (m->mapped)
            map[n++] = (struct gt_uftrace_mapping){.start = m->lo,
                                                   .end = MIN(m->hi, UINT64_C(0xfffffffff000)),
                                                   .path = m->path,
                                                   .build_id = build_id_of(m)};
    }
    int status = gt_uftrace_dir_put_map(&r->output.dir, r->output.sid, map, n, err);
    r->output.map_is_stale = status < 0;
    g_free(map);
    return status;
}

int gt_recorder_meta_put_map(struct gt_recorder *r, struct gt_error *err)
{
    if (!r->output.started)
        return 0;
    int status = list_all(r, err);
    return status < 0 ? status : write_map(r, err);
}

int gt_recorder_meta_add_module(struct gt_recorder *r, struct gt_support_module *m,
                                struct gt_error *err)
{
    int status = m->saved ? 0 : gt_recorder_meta_put_symbols(r, m, err);
    m->saved = status == 0;
    if (status < 0 || !r->output.started)
        return status;
    status = list_newest(r, m, err);
    r->output.map_is_stale |= m->mapped == m->listed;
    return status < 0 || !r->output.map_is_stale ? status : write_map(r, err);
}

static const char *cpu_desc(const struct gt_recorder *r)
{
    if (r->guest.arch->e_machine == 183)
        return "ARM64 (emulated)";
    if (r->guest.arch->e_machine == 243)
        return "RISCV64 (emulated)";
    return r->guest.arch->name;
}

/* True: the file names the program already; a later one is a child's. False: it cannot be
 * read. */
static bool keep_program(const struct gt_recorder *r, struct gt_uftrace_info *info,
                         struct gt_uftrace_info *there)
{
    char *data;
    size_t size;
    bool good =
        gt_uftrace_dir_read_text(&r->output.dir, "info", 1 << 24, &data, &size, NULL) == 0 &&
        gt_uftrace_info_read(data, size, there, NULL) == 0;
    free(data);
    if (!good)
        return false;
    info->exename = there->exename;
    info->build_id = there->build_id;
    info->cmdline = there->cmdline;
    info->has_exit_status = there->has_exit_status;
    info->exit_status = there->exit_status;
    return true;
}

int gt_recorder_meta_put_info(struct gt_recorder *r, struct gt_error *err)
{
    struct utsname os;
    uname(&os);
    char kernel[256];
    snprintf(kernel, sizeof kernel, "%s %s", os.sysname, os.release);
    long online = sysconf(_SC_NPROCESSORS_ONLN), possible = sysconf(_SC_NPROCESSORS_CONF);
    const struct gt_support_module *first =
        r->code.modules.all->len > 1 ? g_ptr_array_index(r->code.modules.all, 1) : NULL;
    struct gt_uftrace_info info = {
        .max_stack = (uint16_t)MIN(r->options.depth, 65535),
        .exename = r->process.exename,
        .build_id = first ? build_id_of(first) : NULL,
        .has_exit_status = r->process.has_exit_status,
        .exit_status = r->process.exit_status << 8,
        .cmdline = r->process.cmdline,
        .cpus_online = (unsigned)MAX(online, 1),
        .cpus_possible = (unsigned)MAX(possible, 1),
        .cpu_desc = cpu_desc(r),
        .os_kernel = kernel,
        .os_hostname = os.nodename,
        .os_distro = "guest of QEMU",
        .pattern_type = "regex",
    };
    if (r->arguments.on) {
        info.feat_mask = GT_UFTRACE_FEAT_ARGUMENT | GT_UFTRACE_FEAT_RETVAL |
                         GT_UFTRACE_FEAT_AUTO_ARGS | GT_UFTRACE_FEAT_DEBUG_INFO;
        info.argspec = "auto-args:1";
    }
    struct gt_uftrace_info there;
    bool kept = gt_execs_is_child() && keep_program(r, &info, &there);
    int status = gt_uftrace_dir_put_info(&r->output.dir, &info, err);
    if (kept)
        gt_uftrace_info_free(&there);
    return status;
}

static gint compare_symbols(gconstpointer a, gconstpointer b)
{
    const struct gt_uftrace_symbol *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Names for code without symbols: where it is. */
static void add_entered(GArray *list, GStringChunk *names, const struct gt_support_module *m)
{
    const char *slash = strrchr(m->path, '/');
    for (guint i = 0; i < m->entered->len; i++) {
        uint64_t rel = g_array_index(m->entered, uint64_t, i);
        char name[300];
        if (m->hi == UINT64_MAX)
            snprintf(name, sizeof name, "0x%llx", (unsigned long long)rel);
        else
            snprintf(name, sizeof name, "%.255s+0x%llx", slash ? slash + 1 : m->path,
                     (unsigned long long)rel);
        struct gt_uftrace_symbol sym = {
            .addr = rel, .name = g_string_chunk_insert(names, name), .type = 't'};
        g_array_append_val(list, sym);
    }
}

int gt_recorder_meta_put_symbols(struct gt_recorder *r, struct gt_support_module *m,
                                 struct gt_error *err)
{
    GArray *list = g_array_new(FALSE, TRUE, sizeof(struct gt_uftrace_symbol));
    GStringChunk *names = g_string_chunk_new(4096);
    for (size_t i = 0; m->symbols && i < m->symbols->n_sym; i++) {
        const struct gt_elf_symbol *s = &m->symbols->sym[i];
        struct gt_uftrace_symbol sym = {
            .addr = s->addr, .size = s->size, .name = s->name, .type = s->type};
        if (s->type == 'e')
            sym.type = 't';
        g_array_append_val(list, sym);
    }
    if (m->entered->len) {
        add_entered(list, names, m);
        g_array_sort(list, compare_symbols);
    }
    struct gt_uftrace_module module = {.path = m->path, .build_id = build_id_of(m)};
    int status = gt_uftrace_dir_put_symbols(
        &r->output.dir, &module, (const struct gt_uftrace_symbol *)list->data, list->len, err);
    g_string_chunk_free(names);
    g_array_free(list, TRUE);
    return status;
}

/* What a process adds to the recording's statistics. */
struct gt_recorder_meta_figures {
    uint64_t calls, tracked, again, matched, tasks, processes, unfinished, host_clock, records,
        bytes, lost, waits;
    uint64_t counters[GT_COUNTERS];
};

static struct gt_recorder_meta_figures figures_of(const struct gt_recorder *r, uint64_t recorded,
                                                  const struct gt_streams_stats *w)
{
    uint64_t again = __atomic_load_n(&r->tracker.again, __ATOMIC_RELAXED);
    struct gt_recorder_meta_figures f = {.calls = recorded,
                                         .tracked = r->totals.calls + again,
                                         .again = again,
                                         .matched = r->totals.matched,
                                         .tasks = r->totals.tasks - r->process.went_on,
                                         .processes = !r->process.went_on,
                                         .unfinished =
                                             0 - (uint64_t)(r->process.first && r->process.went_on),
                                         .host_clock = r->hot.host_clock,
                                         .records = w->records - w->lost,
                                         .bytes = w->bytes,
                                         .lost = w->lost,
                                         .waits = w->waits};
    memcpy(f.counters, r->totals.counters, sizeof f.counters);
    return f;
}

/* Adds to the counts that other processes of the recording have under the key. */
static void put_stat(struct gt_text *out, const struct gt_recording_stats *old, const char *key,
                     uint64_t value)
{
    gt_recording_stats_put(out, key, value + gt_recording_stats_number(old, key));
}

static void put_figures(struct gt_text *out, const struct gt_recording_stats *old,
                        const struct gt_recorder_meta_figures *f)
{
    char key[48];
    put_stat(out, old, "calls", f->calls);
    put_stat(out, old, "calls_tracked", f->tracked);
    put_stat(out, old, "calls_again", f->again);
    put_stat(out, old, "matched", f->matched);
    put_stat(out, old, "tasks", f->tasks);
    put_stat(out, old, "records", f->records);
    put_stat(out, old, "bytes", f->bytes);
    put_stat(out, old, "lost_records", f->lost);
    put_stat(out, old, "waits", f->waits);
    put_stat(out, old, "processes", f->processes);
    put_stat(out, old, GT_STATS_UNFINISHED, f->unfinished);
    put_stat(out, old, GT_STATS_HOST_CLOCK, f->host_clock);
    for (int i = 0; i < GT_COUNTERS; i++) {
        const char *kind = gt_track_counter_is_anomaly(i) ? GT_STATS_ANOMALY
                           : gt_track_counter_is_rule(i)  ? GT_STATS_RULE
                                                          : GT_STATS_COUNT;
        snprintf(key, sizeof key, "%s%s", kind, gt_track_counter_name(i));
        put_stat(out, old, key, f->counters[i]);
    }
}

/* `outside`: of the first process, before an execve; NULL: the line stays as it is; "": it goes. */
static int add_figures(struct gt_recorder *r, const struct gt_recorder_meta_figures *f,
                       const char *outside, struct gt_error *err)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/task.txt", r->output.dir.path);
    int lock = open(path, O_RDONLY | O_CLOEXEC);
    if (lock >= 0)
        flock(lock, LOCK_EX);
    char *written;
    size_t size;
    gt_uftrace_dir_read_text(&r->output.dir, GT_STATS_FILE, 1 << 16, &written, &size, NULL);
    struct gt_recording_stats old;
    gt_recording_stats_parse(&old, written);
    struct gt_text text = {0};
    put_figures(&text, &old, f);
    if (!outside)
        outside = gt_recording_stats_text(&old, GT_STATS_OUTSIDE);
    if (outside && *outside) {
        gt_text_printf(&text, GT_STATS_OUTSIDE "=");
        gt_text_add_value(&text, outside, SIZE_MAX);
        gt_text_add(&text, "\n", 1);
    }
    gt_recording_stats_put(&text, GT_STATS_MACHINE, !r->guest.user);
    int status = gt_uftrace_dir_put_text(&r->output.dir, GT_STATS_FILE, &text, err);
    gt_text_free(&text);
    gt_recording_stats_clear(&old);
    if (lock >= 0)
        close(lock);
    return status;
}

static bool is_said_outside(const struct gt_recorder *r)
{
    char *text;
    size_t size;
    struct gt_recording_stats s;
    gt_uftrace_dir_read_text(&r->output.dir, GT_STATS_FILE, 1 << 16, &text, &size, NULL);
    gt_recording_stats_parse(&s, text);
    bool said = gt_recording_stats_text(&s, GT_STATS_OUTSIDE) != NULL;
    gt_recording_stats_clear(&s);
    return said;
}

int gt_recorder_meta_put_stats(struct gt_recorder *r, uint64_t recorded, struct gt_error *err)
{
    struct gt_recorder_meta_figures f = figures_of(r, recorded, &r->totals.written);
    bool again = r->process.first && r->process.went_on;
    if (again && is_said_outside(r)) /* what it executed was a QEMU, with this recording */
        f.counters[GT_COUNT_OUTSIDE]--;
    return add_figures(r, &f, again ? "" : NULL, err);
}

/* Of the one execve that is under way. */
static struct gt_recorder_meta_figures put;

int gt_recorder_meta_put_stats_of_exec(struct gt_recorder *r,
                                       const struct gt_recorder_meta_running *running,
                                       const char *outside, struct gt_error *err)
{
    struct gt_streams_stats w;
    gt_streams_get_stats(r->output.streams, &w);
    put = figures_of(r, running->recorded, &w);
    put.tracked += running->tracked;
    put.matched += running->matched;
    for (int i = 0; i < GT_COUNTERS; i++)
        put.counters[i] += running->counters[i];
    put.unfinished += !outside && r->process.first;
    return add_figures(r, &put, r->process.first ? outside : NULL, err);
}

int gt_recorder_meta_take_back_stats(struct gt_recorder *r, struct gt_error *err)
{
    uint64_t *figure = (uint64_t *)&put;
    for (size_t i = 0; i < sizeof put / sizeof *figure; i++)
        figure[i] = -figure[i];
    return add_figures(r, &put, r->process.first ? "" : NULL, err);
}

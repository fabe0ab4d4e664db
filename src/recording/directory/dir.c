/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A uftrace data directory under construction: see dir.h. */
#include "recording/directory/dir.h"

#include "base/cursor.h"
#include "base/text.h"
#include "recording/directory/dir_internal.h"
#include "recording/directory/info.h"
#include "recording/texts/dir_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

const char *gt_uftrace_dir_file(const struct gt_uftrace_dir *d, const char *name, char *out)
{
    snprintf(out, GT_UFTRACE_FILE_MAX, "%s/%s", d->path, name);
    return out;
}

/* ---- existing files ------------------------------------------------------------------------ */

enum content { NOTHING, EMPTY_DIR, UFTRACE_DIR, OTHER };

/* A recorder's own files, from a recording that was killed before it wrote, are not counted. */
static bool has_files(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return true;
    const struct dirent *e;
    int n = 0;
    while (n < 3 && (e = readdir(dir)))
        n += strncmp(e->d_name, ".guesttrace", 11) != 0;
    closedir(dir);
    return n > 2; /* "." and ".." */
}

/* An info with uftrace's magic, or a task.txt that begins as one does. */
static bool is_uftrace(const char *path)
{
    static const struct {
        const char *name, *start;
        size_t n;
    } sign[] = {{"info", GT_UFTRACE_INFO_MAGIC, 8}, {"task.txt", "SESS timestamp=", 15}};
    for (size_t i = 0; i < sizeof sign / sizeof *sign; i++) {
        char file[GT_UFTRACE_FILE_MAX], start[16];
        if (snprintf(file, sizeof file, "%s/%s", path, sign[i].name) >= (int)sizeof file)
            continue;
        int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            continue;
        bool same = read(fd, start, sign[i].n) == (ssize_t)sign[i].n &&
                    !memcmp(start, sign[i].start, sign[i].n);
        close(fd);
        if (same)
            return true;
    }
    return false;
}

static enum content look(const char *path)
{
    struct stat st;
    if (lstat(path, &st))
        return NOTHING; /* or what cannot be: making it says why */
    if (!S_ISDIR(st.st_mode))
        return OTHER;
    if (!has_files(path))
        return EMPTY_DIR;
    return is_uftrace(path) ? UFTRACE_DIR : OTHER;
}

/* Absolute, without slashes at the end and, where it exists, without symbolic links. */
static int resolve(struct gt_uftrace_dir *d, const char *path, struct gt_error *err)
{
    char cwd[PATH_MAX] = "", real[PATH_MAX];
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    if (!len)
        return gt_error_set(err, GT_E_USAGE, "the directory's name is empty");
    if (*path != '/' && !getcwd(cwd, sizeof cwd))
        return gt_error_errno(err, errno, "the current directory is unknown");
    char full[2 * PATH_MAX];
    if (len >= PATH_MAX)
        return gt_error_set(err, GT_E_RANGE, "%.200s...: path too long", path);
    snprintf(full, sizeof full, "%s%s%.*s", cwd, *path != '/' ? "/" : "", (int)len, path);
    const char *best = realpath(full, real) ? real : full;
    if (strlen(best) >= sizeof d->path)
        return gt_error_set(err, GT_E_RANGE, "%.200s...: path too long", path);
    memcpy(d->path, best, strlen(best) + 1);
    return 0;
}

/* No process records there. Where there is a lock it is held, until *lock is closed. */
static int check_use(const char *path, int *lock, struct gt_error *err)
{
    int status = gt_recording_dir_lock_alone(path, path, lock, err);
    return status == GT_E_NOT_FOUND ? 0 : status;
}

static void end_use(int lock)
{
    if (lock >= 0)
        close(lock);
}

static int move_both(const char *path, struct gt_error *err)
{
    char old[GT_UFTRACE_FILE_MAX];
    snprintf(old, sizeof old, "%s.old", path);
    enum content there = look(old);
    if (there == OTHER)
        return gt_error_set(err, GT_E_EXISTS,
                            "%s: cannot be moved aside, %s is in the way and is not uftrace data",
                            path, old);
    int lock = -1, status = there == UFTRACE_DIR ? check_use(old, &lock, err) : 0;
    if (status == 0 && there == UFTRACE_DIR)
        status = gt_file_remove_dir(old, err);
    end_use(lock);
    return status ? status : gt_file_move_dir(path, old, err);
}

static int move_aside(const char *path, struct gt_error *err)
{
    int lock, status = check_use(path, &lock, err);
    if (status == 0)
        status = move_both(path, err);
    end_use(lock);
    return status;
}

static int refuse_other(const char *path, struct gt_error *err)
{
    return gt_error_set(err, GT_E_EXISTS,
                        "%s: exists and is not uftrace data: it is left alone, name another", path);
}

int gt_uftrace_dir_check(const char *path, struct gt_error *err)
{
    struct gt_uftrace_dir d;
    int lock = -1, status = resolve(&d, path, err);
    if (status == 0 && look(d.path) == OTHER)
        status = refuse_other(d.path, err);
    if (status == 0)
        status = check_use(d.path, &lock, err);
    end_use(lock);
    return status;
}

int gt_uftrace_dir_create(struct gt_uftrace_dir *d, const char *path, struct gt_error *err)
{
    int status = resolve(d, path, err);
    if (status)
        return status;
    switch (look(d->path)) {
    case EMPTY_DIR:
        return 0;
    case OTHER:
        return refuse_other(d->path, err);
    case UFTRACE_DIR:
        status = move_aside(d->path, err);
        break;
    case NOTHING:
        break;
    }
    return status ? status : gt_file_make_dir(d->path, err);
}

int gt_uftrace_dir_open(struct gt_uftrace_dir *d, const char *path, struct gt_error *err)
{
    int status = resolve(d, path, err);
    if (status)
        return status;
    switch (look(d->path)) {
    case EMPTY_DIR:
    case UFTRACE_DIR:
        return 0;
    case NOTHING:
        return gt_error_set(err, GT_E_NOT_FOUND, "%s: no such directory", d->path);
    case OTHER:
        break;
    }
    return gt_error_set(err, GT_E_FORMAT, "%s: not uftrace data", d->path);
}

int gt_uftrace_dir_lock(const struct gt_uftrace_dir *d, struct gt_error *err)
{
    int fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return gt_error_errno(err, errno, "%s: cannot be opened", d->path);
    while (flock(fd, LOCK_EX))
        if (errno != EINTR)
            break; /* a file system without locks: as good as it gets */
    return fd;
}

void gt_uftrace_dir_unlock(int lock)
{
    flock(lock, LOCK_UN); /* a child that was forked meanwhile may hold the description too */
    close(lock);
}

/* ---- text files ---------------------------------------------------------------------------- */

int gt_uftrace_dir_put_text(const struct gt_uftrace_dir *d, const char *name,
                            const struct gt_text *t, struct gt_error *err)
{
    char file[GT_UFTRACE_FILE_MAX];
    return gt_file_replace_text(gt_uftrace_dir_file(d, name, file), t, err);
}

int gt_uftrace_dir_add_text(const struct gt_uftrace_dir *d, const char *name,
                            const struct gt_text *t, struct gt_error *err)
{
    char file[GT_UFTRACE_FILE_MAX];
    gt_uftrace_dir_file(d, name, file);
    if (t->failed)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", file);
    return gt_file_append(file, t->data, t->len, err);
}

int gt_uftrace_dir_read_text(const struct gt_uftrace_dir *d, const char *name, size_t limit,
                             char **data, size_t *size, struct gt_error *err)
{
    char file[GT_UFTRACE_FILE_MAX];
    *data = NULL;
    return gt_file_read(gt_uftrace_dir_file(d, name, file), limit, data, size, err);
}

/* ---- task.txt ------------------------------------------------------------------------------ */

static int add_line(const struct gt_uftrace_dir *d, const struct gt_uftrace_task *line,
                    struct gt_error *err)
{
    struct gt_text t = {0};
    int status = gt_uftrace_task_write(&t, line, err);
    if (!status)
        status = gt_uftrace_dir_add_text(d, "task.txt", &t, err);
    gt_text_free(&t);
    return status;
}

int gt_uftrace_dir_add_session(const struct gt_uftrace_dir *d, uint64_t time, uint32_t pid,
                               const char *sid, const char *exename, struct gt_error *err)
{
    struct gt_uftrace_task line = {.kind = GT_UFTRACE_SESS, .time = time, .pid = pid};
    snprintf(line.sid, sizeof line.sid, "%s", sid);
    gt_uftrace_path(exename, line.path, sizeof line.path);
    return add_line(d, &line, err);
}

int gt_uftrace_dir_add_task(const struct gt_uftrace_dir *d, uint64_t time, uint32_t tid,
                            uint32_t pid, struct gt_error *err)
{
    struct gt_uftrace_task line = {.kind = GT_UFTRACE_TASK, .time = time, .tid = tid, .pid = pid};
    return add_line(d, &line, err);
}

int gt_uftrace_dir_add_fork(const struct gt_uftrace_dir *d, uint64_t time, uint32_t child,
                            uint32_t parent, struct gt_error *err)
{
    struct gt_uftrace_task line = {
        .kind = GT_UFTRACE_FORK, .time = time, .tid = child, .pid = parent};
    return add_line(d, &line, err);
}

int gt_uftrace_dir_add_library(const struct gt_uftrace_dir *d, uint64_t time, uint32_t tid,
                               const char *sid, uint64_t base, const char *path,
                               struct gt_error *err)
{
    struct gt_uftrace_task line = {
        .kind = GT_UFTRACE_DLOP, .time = time, .tid = tid, .base = base & GT_UFTRACE_ADDR_MASK};
    snprintf(line.sid, sizeof line.sid, "%s", sid);
    gt_uftrace_path(path, line.path, sizeof line.path);
    return add_line(d, &line, err);
}

/* ---- files that are replaced --------------------------------------------------------------- */

int gt_uftrace_dir_put_map(const struct gt_uftrace_dir *d, const char *sid,
                           const struct gt_uftrace_mapping *map, size_t n, struct gt_error *err)
{
    char name[64];
    if (strlen(sid) != GT_UFTRACE_SID_LEN || !gt_text_is_hex(sid, GT_UFTRACE_SID_LEN))
        return gt_error_set(err, GT_E_RANGE, "session id '%.20s' is not 16 hex digits", sid);
    snprintf(name, sizeof name, "sid-%s.map", sid);
    struct gt_text t = {0};
    int status = gt_uftrace_map_write(&t, map, n, err);
    if (!status)
        status = gt_uftrace_dir_put_text(d, name, &t, err);
    gt_text_free(&t);
    return status;
}

int gt_uftrace_dir_add_event(const struct gt_uftrace_dir *d, uint32_t id, const char *name,
                             struct gt_error *err)
{
    char *old;
    size_t size = 0;
    if (id < GT_UFTRACE_EV_USER || !strchr(name, ':') || strpbrk(name, " \n"))
        return gt_error_set(err, GT_E_RANGE,
                            "event %" PRIu32 " '%.100s': expected %d or more, "
                            "PROVIDER:NAME",
                            id, name, GT_UFTRACE_EV_USER);
    int lock = gt_uftrace_dir_lock(d, err);
    if (lock < 0)
        return lock;
    int status = gt_uftrace_dir_read_text(d, "events.txt", GT_UFTRACE_TEXT_MAX, &old, &size, err);
    struct gt_text t = {0};
    gt_text_printf(&t, "EVENT: %" PRIu32 " ", id);
    bool known = !status && t.data && strstr(old, t.data);
    gt_text_printf(&t, "%s\n", name);
    if (status == GT_E_NOT_FOUND)
        status = 0;
    if (!status && !known)
        status = gt_uftrace_dir_add_text(d, "events.txt", &t, err);
    gt_text_free(&t);
    free(old);
    gt_uftrace_dir_unlock(lock);
    return status;
}

/* The info file of a directory, whose list of tasks comes from task.txt. */

static int by_tid(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorted, each once. */
static size_t unique(uint32_t *tids, size_t n)
{
    size_t kept = 0;
    qsort(tids, n, sizeof *tids, by_tid);
    for (size_t i = 0; i < n; i++)
        if (!kept || tids[i] != tids[kept - 1])
            tids[kept++] = tids[i];
    return kept;
}

int gt_uftrace_dir_read_tids(const struct gt_uftrace_dir *d, uint32_t **tids, size_t *n,
                             struct gt_error *err)
{
    char file[GT_UFTRACE_FILE_MAX], *text;
    size_t size, count = 0;
    bool whole;
    struct gt_text_cursor all, line;
    struct gt_error why = {0};
    gt_uftrace_dir_file(d, "task.txt", file);
    int status = gt_uftrace_dir_read_text(d, "task.txt", GT_UFTRACE_TEXT_MAX, &text, &size, err);
    if (status)
        return status;
    uint32_t *list = calloc(gt_text_count_lines(text, size) + 1, sizeof *list);
    if (!list)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", file);
    all = (struct gt_text_cursor){text, size};
    for (size_t number = 1; !status && gt_text_take_line(&all, &line, &whole) && whole; number++) {
        struct gt_uftrace_task task;
        status = gt_uftrace_task_read(line.at, line.left, &task, &why);
        if (status)
            gt_error_set(err, status, "%.300s line %zu, %s", file, number, why.text);
        else if (task.kind == GT_UFTRACE_TASK || task.kind == GT_UFTRACE_FORK)
            list[count++] = task.tid;
    }
    free(text);
    if (status) {
        free(list);
        return status;
    }
    *n = unique(list, count);
    *tids = list;
    return 0;
}

int gt_uftrace_dir_read_info(const struct gt_uftrace_dir *d, struct gt_uftrace_info *out,
                             struct gt_error *err)
{
    char *data;
    size_t size;
    int status = gt_uftrace_dir_read_text(d, "info", GT_UFTRACE_TEXT_MAX, &data, &size, err);
    if (status)
        return status;
    status = gt_uftrace_info_read(data, size, out, err);
    free(data);
    return status;
}

uint64_t gt_uftrace_dir_features(const struct gt_uftrace_dir *d)
{
    char file[GT_UFTRACE_FILE_MAX];
    uint64_t mask = 0;
    if (access(gt_uftrace_dir_file(d, "events.txt", file), F_OK) == 0)
        mask |= GT_UFTRACE_FEAT_EVENT;
    if (access(gt_uftrace_dir_file(d, GT_UFTRACE_NAMES, file), F_OK) == 0)
        mask |= GT_UFTRACE_FEAT_PERF_EVENT;
    return mask;
}

int gt_uftrace_dir_write_info(const struct gt_uftrace_dir *d, const struct gt_uftrace_info *info,
                              struct gt_error *err)
{
    struct gt_uftrace_info full = *info, old;
    uint32_t *tids = NULL;
    full.n_tids = 0;
    int status = gt_uftrace_dir_read_tids(d, &tids, &full.n_tids, err);
    if (status && status != GT_E_NOT_FOUND)
        return status;
    full.tids = tids;
    if (gt_uftrace_dir_read_info(d, &old, NULL) == 0) {
        if (old.max_stack > full.max_stack)
            full.max_stack = old.max_stack;
        gt_uftrace_info_free(&old);
    }
    full.feat_mask |= gt_uftrace_dir_features(d);
    struct gt_text t = {0};
    status = gt_uftrace_info_write(&t, &full, err);
    if (!status)
        status = gt_uftrace_dir_put_text(d, "info", &t, err);
    gt_text_free(&t);
    free(tids);
    return status;
}

int gt_uftrace_dir_put_info(const struct gt_uftrace_dir *d, const struct gt_uftrace_info *info,
                            struct gt_error *err)
{
    int lock = gt_uftrace_dir_lock(d, err);
    if (lock < 0)
        return lock;
    int status = gt_uftrace_dir_write_info(d, info, err);
    gt_uftrace_dir_unlock(lock);
    return status;
}

/*
 * Names of tasks. uftrace takes a task's name from its session, or from a perf recording beside it:
 * perf-cpuN.dat, in perf's format. A name is one COMM record of 48 bytes in that file:
 *
 *   u32 type (3: COMM), u16 misc, u16 size, u32 pid, u32 tid, char name[16],
 *   u32 pid, u32 tid, u64 time
 *
 * All commands show the last name of a task; replay shows each name as an event, if the task has an
 * open call at that time.
 */

enum { COMM = 3, RECORD = 48, NAME = 16 };

/* As much of the name as fits, without what a terminal would act on. */
static void put_name(struct gt_bytes_writer *w, const char *name)
{
    char text[NAME] = {0};
    for (size_t i = 0; i < NAME - 1 && name[i]; i++)
        text[i] = (unsigned char)name[i] < ' ' || name[i] == 127 ? '?' : name[i];
    gt_bytes_write_bytes(w, text, sizeof text);
}

int gt_uftrace_dir_add_name(const struct gt_uftrace_dir *d, uint64_t time, uint32_t tid,
                            uint32_t pid, const char *name, struct gt_error *err)
{
    uint8_t record[RECORD];
    const struct gt_text one = {.data = (char *)record, .len = sizeof record};
    struct gt_bytes_writer w;
    gt_bytes_writer_init(&w, record, sizeof record);
    gt_bytes_write_u32(&w, COMM);
    gt_bytes_write_u16(&w, 0);
    gt_bytes_write_u16(&w, RECORD);
    gt_bytes_write_u32(&w, pid);
    gt_bytes_write_u32(&w, tid);
    put_name(&w, name);
    gt_bytes_write_u32(&w, pid);
    gt_bytes_write_u32(&w, tid);
    gt_bytes_write_u64(&w, time);
    return gt_uftrace_dir_add_text(d, GT_UFTRACE_NAMES, &one, err);
}

/*
 * The file of a module's symbols. Readers open BASE.sym and compare its path and build-id; if
 * either differs they open BASE-XXXX.sym, where XXXX is the first four digits of the build-id or,
 * without one, the low 16 bits of the sum of the path's bytes.
 */

enum { NAME_ROOM = 320 };

/* True where the file is there and names another module. */
static bool is_anothers(const struct gt_uftrace_dir *d, const char *name, const char *path,
                        const char *build_id)
{
    char *text;
    size_t size;
    struct gt_text_cursor all, line;
    bool whole, other = false;
    if (gt_uftrace_dir_read_text(d, name, GT_UFTRACE_TEXT_MAX, &text, &size, NULL))
        return false;
    all = (struct gt_text_cursor){text, size};
    while (!other && gt_text_take_line(&all, &line, &whole) && gt_text_take(&line, "# ")) {
        if (gt_text_take(&line, "path name: "))
            other = line.left != strlen(path) || memcmp(line.at, path, line.left) != 0;
        else if (gt_text_take(&line, "build-id: ") && *build_id)
            other = line.left != strlen(build_id) || memcmp(line.at, build_id, line.left) != 0;
    }
    free(text);
    return other;
}

/* The suffix must be what readers compute: they add up plain chars, signed on most machines. */
static void add_suffix(char *name, size_t size, const char *path, const char *build_id)
{
    size_t len = strlen(name);
    uint16_t sum = 0;
    for (const char *p = path; *p; p++)
        sum = (uint16_t)(sum + (signed char)*p);
    if (*build_id)
        snprintf(name + len, size - len, "-%.4s", build_id);
    else
        snprintf(name + len, size - len, "-%04x", sum);
}

/* The name of the module's file with that extension. */
static int choose(const struct gt_uftrace_dir *d, const struct gt_uftrace_module *m,
                  const char *extension, char name[NAME_ROOM], struct gt_error *err)
{
    char path[GT_UFTRACE_PATH_MAX], base[300];
    const char *id = m->build_id && strlen(m->build_id) <= 40 ? m->build_id : "";
    gt_uftrace_path(m->path, path, sizeof path);
    const char *slash = strrchr(path, '/');
    snprintf(base, sizeof base, "%.250s", slash ? slash + 1 : path);
    snprintf(name, NAME_ROOM, "%s.sym", base);
    if (is_anothers(d, name, path, id)) {
        add_suffix(base, sizeof base, path, id);
        snprintf(name, NAME_ROOM, "%s.sym", base);
        if (is_anothers(d, name, path, id))
            return gt_error_set(err, GT_E_EXISTS, "%s/%s: belongs to another module than %s",
                                d->path, name, path);
    }
    snprintf(name, NAME_ROOM, "%s%s", base, extension);
    return 0;
}

static int put(const struct gt_uftrace_dir *d, const struct gt_uftrace_module *m,
               const char *extension, const struct gt_text *t, struct gt_error *err)
{
    char name[NAME_ROOM];
    int lock = gt_uftrace_dir_lock(d, err);
    if (lock < 0)
        return lock;
    int status = choose(d, m, extension, name, err);
    if (!status)
        status = gt_uftrace_dir_put_text(d, name, t, err);
    gt_uftrace_dir_unlock(lock);
    return status;
}

int gt_uftrace_dir_put_symbols(const struct gt_uftrace_dir *d,
                               const struct gt_uftrace_module *module,
                               const struct gt_uftrace_symbol *sym, size_t n, struct gt_error *err)
{
    struct gt_text t = {0};
    int status = gt_uftrace_sym_write(&t, module, sym, n, err);
    if (!status)
        status = put(d, module, ".sym", &t, err);
    gt_text_free(&t);
    return status;
}

int gt_uftrace_dir_put_debug(const struct gt_uftrace_dir *d, const struct gt_uftrace_module *module,
                             const struct gt_uftrace_dbg *item, size_t n, struct gt_error *err)
{
    struct gt_text t = {0};
    int status = gt_uftrace_dbg_write(&t, module, item, n, err);
    if (!status)
        status = put(d, module, ".dbg", &t, err);
    gt_text_free(&t);
    return status;
}

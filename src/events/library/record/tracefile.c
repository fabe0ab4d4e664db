/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The trace file: see tracefile.h; and the state of the simple backend (simple.h). */
#include "events/library/record/tracefile.h"

#include "events/library/control/registry.h"
#include "events/library/read/simpletrace.h"
#include "events/library/record/clock.h"
#include "events/library/record/simple.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECT = 16 << 10 }; /* bytes that are worth a write of their own, without the buffer */

void gt_events_tracefile_name(const struct gt_events_tracefile *f, char *name, size_t size)
{
    if (!*f->path)
        snprintf(name, size, "trace-%d", (int)getpid());
    else if (f->forked)
        snprintf(name, size, "%s.%d", f->path, (int)getpid());
    else
        snprintf(name, size, "%s", f->path);
}

void gt_events_tracefile_close(struct gt_events_tracefile *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
    f->failed = false;
}

/* Empties a file that no other process writes: one's lock is not its children's. Where there are no
 * locks it is as good as it gets. 0 or an errno value. */
static int take(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    if (fcntl(fd, F_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES))
        return EBUSY;
    return ftruncate(fd, 0) == 0 ? 0 : errno;
}

static bool create(struct gt_events_tracefile *f)
{
    char name[sizeof f->path + 16];
    gt_events_tracefile_name(f, name, sizeof name);
    f->fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
    f->error = f->fd < 0 ? errno : take(f->fd);
    if (f->error)
        gt_events_tracefile_close(f);
    f->failed = f->error != 0;
    f->threads = gt_events_simple.threads;
    f->size = 0;
    f->named = NULL;
    return !f->failed;
}

/* Writes all of it; the bytes that were written. */
static size_t write_all(struct gt_events_tracefile *f, const uint8_t *data, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(f->fd, data + done, size - done);
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            f->error = f->error ? f->error : n == 0 ? ENOSPC : errno;
            break;
        }
    }
    return done;
}

/* Writes all of it, or leaves the file as it was. */
static bool write_item(struct gt_events_tracefile *f, const uint8_t *data, size_t size)
{
    size_t n = write_all(f, data, size);
    if (n == size) {
        f->size += size;
        return true;
    }
    if (n > 0 && ftruncate(f->fd, (off_t)f->size) != 0)
        f->failed = true; /* a pipe that ends in the middle of a record */
    lseek(f->fd, (off_t)f->size, SEEK_SET);
    return false;
}

static bool write_names(struct gt_events_tracefile *f)
{
    uint8_t record[GT_SIMPLETRACE_MAPPING_HEADER_SIZE + GT_SIMPLETRACE_NAME_LIMIT];
    for (struct gt_events_name *n; (n = gt_events_names_used_after(f->named)); f->named = n) {
        uint32_t length = (uint32_t)strnlen(n->text, GT_SIMPLETRACE_NAME_LIMIT);
        uint8_t *end = gt_events_simpletrace_put_mapping(record, n->id, n->text, length);
        if (!write_item(f, record, (size_t)(end - record)))
            return false;
    }
    return true;
}

/* What stands before the next records: the header, new names, records lost on the way here. */
static bool ready(struct gt_events_tracefile *f)
{
    uint8_t item[GT_SIMPLETRACE_DROPPED_SIZE];
    if (f->failed || (f->fd < 0 && !create(f)))
        return false;
    uint8_t *end = gt_events_simpletrace_put_file_header(
        item, f->threads ? GT_SIMPLETRACE_VERSION_THREADS : GT_SIMPLETRACE_VERSION);
    if (f->size == 0 && !write_item(f, item, (size_t)(end - item)))
        return false;
    if (!write_names(f))
        return false;
    if (f->lost == 0)
        return true;
    gt_events_simpletrace_put_dropped(item, gt_events_system_clock(), (uint32_t)getpid(), f->lost);
    if (!write_item(f, item, sizeof item))
        return false;
    f->lost = 0;
    return true;
}

bool gt_events_tracefile_open(struct gt_events_tracefile *f)
{
    return ready(f);
}

/* The bytes of whole records among the first `written`; records after them are counted as lost. */
static size_t whole_records(struct gt_events_tracefile *f, const uint8_t *data, size_t size,
                            size_t written)
{
    struct gt_events_simpletrace_order order = {.version = GT_SIMPLETRACE_VERSION_THREADS};
    struct gt_events_simpletrace_item item;
    size_t whole = 0, need;
    uint64_t lost = 0;
    for (size_t at = 0; at < size;) {
        int n = gt_events_simpletrace_get_record(data + at, size - at, &order, &item, &need);
        if (n <= 0)
            break;
        at += (size_t)n;
        if (at <= written)
            whole = at;
        else if (item.id == GT_SIMPLETRACE_DROPPED_ID)
            f->lost += gt_events_simpletrace_get_u64(item.data, false); /* counted before */
        else
            lost++;
    }
    f->lost += lost;
    f->lost_ever += lost;
    f->events -= lost;
    return whole;
}

static void write_records(struct gt_events_tracefile *f, const uint8_t *data, size_t size)
{
    size_t written = ready(f) ? write_all(f, data, size) : 0;
    if (written == size) {
        f->size += size;
        return;
    }
    size_t whole = whole_records(f, data, size, written);
    f->size += whole;
    if (written > whole && ftruncate(f->fd, (off_t)f->size) != 0)
        f->failed = true;
    if (f->fd >= 0)
        lseek(f->fd, (off_t)f->size, SEEK_SET);
}

void gt_events_tracefile_flush(struct gt_events_tracefile *f)
{
    if (f->used)
        write_records(f, f->buffer, f->used);
    f->used = 0;
}

void gt_events_tracefile_add(struct gt_events_tracefile *f, const uint8_t *records, size_t size,
                             uint64_t events)
{
    f->events += events;
    if (f->used + size > sizeof f->buffer || size >= DIRECT)
        gt_events_tracefile_flush(f);
    if (size >= DIRECT) {
        write_records(f, records, size);
        return;
    }
    memcpy(f->buffer + f->used, records, size);
    f->used += size;
}

void gt_events_tracefile_add_dropped(struct gt_events_tracefile *f, uint64_t time, uint32_t pid,
                                     uint64_t count)
{
    uint8_t record[GT_SIMPLETRACE_DROPPED_SIZE];
    gt_events_simpletrace_put_dropped(record, time, pid, count);
    gt_events_tracefile_add(f, record, sizeof record, 0);
}

/* State that the recording threads and the writer share: see simple.h. */

struct gt_events_simple gt_events_simple;
_Atomic uint64_t gt_events_lost;

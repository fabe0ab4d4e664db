/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a packer's records: see resume.h. */
#include "calls/file/resume.h"
#include "calls/file/parts.h"
#include "calls/file/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- finding ------------------------------------------------------------------------------- */

/* Keeps the packer's blocks that an unpacker can take, in order. */
static void keep_own(struct gt_compact_tail *t, uint32_t packer)
{
    struct gt_compact_file *f = &t->file;
    size_t n = 0;
    bool follows = false;
    for (size_t i = 0; i < f->n; i++) {
        const struct gt_compact_head *h = &f->block[i].head;
        if (h->type != GT_COMPACT_RECORDS || h->packer != packer)
            continue;
        follows = h->flags & GT_COMPACT_SEGMENT || (follows && h->before == t->records);
        t->records = h->before + h->records;
        if (follows)
            f->block[n++] = f->block[i];
    }
    f->n = n;
}

static int cut_tail(struct gt_compact_file *f, struct gt_error *err)
{
    if (f->whole == f->size || ftruncate(f->fd, (off_t)f->whole) == 0)
        return 0;
    return gt_error_errno(err, errno, "%s", f->path);
}

int gt_compact_tail_find(int fd, const char *path, uint32_t packer, uint64_t from,
                         struct gt_compact_tail *out, struct gt_error *err)
{
    struct stat st;
    *out = (struct gt_compact_tail){.file = {.fd = fd, .path = strdup(path)}};
    struct gt_compact_file *f = &out->file;
    int status = 0;
    f->whole = from ? from : GT_COMPACT_FILE_HEAD;
    if (!f->path)
        status = gt_error_set(err, GT_E_NOMEM, "%s: out of memory", path);
    else if (fstat(fd, &st) != 0)
        status = gt_error_errno(err, errno, "%s", path);
    else
        f->size = (uint64_t)st.st_size;
    if (status == 0 && f->size > f->whole)
        status = gt_compact_scan(f, err);
    if (status == 0 && f->size > f->whole)
        status = cut_tail(f, err);
    if (status < 0)
        gt_compact_tail_clear(out);
    else
        keep_own(out, packer);
    return status;
}

int gt_compact_tail_find_in_set(const char *path, uint32_t packer, uint32_t part, uint64_t from,
                                struct gt_compact_tail *out, struct gt_error *err)
{
    *out = (struct gt_compact_tail){.is_set = true};
    struct gt_compact_file *f = &out->file;
    uint64_t begin = 0;
    size_t n = 0;
    int status = gt_compact_set_open(path, f, err);
    if (status < 0)
        return status;
    for (size_t i = 0; i < f->n_members; i++)
        if (f->member[i].number == part)
            begin = f->member[i].begin + from;
    while (n < f->n && f->block[n].at < begin)
        n++;
    memmove(f->block, f->block + n, (f->n - n) * sizeof *f->block);
    f->n -= n;
    keep_own(out, packer);
    return 0;
}

void gt_compact_tail_clear(struct gt_compact_tail *t)
{
    if (!t->is_set)
        t->file.fd = -1; /* not ours */
    gt_compact_file_close(&t->file);
}

/* ---- resuming ------------------------------------------------------------------------------ */

/* By id: open addressing, a power of two; id 0 is free (no task has it). */
struct states {
    struct gt_compact_tail_task *state;
    size_t n, room;
};

static struct gt_compact_tail_task *find(const struct states *s, uint32_t id)
{
    size_t i = gt_compact_words_hash(id) & (s->room - 1);
    while (s->state[i].id && s->state[i].id != id)
        i = (i + 1) & (s->room - 1);
    return &s->state[i];
}

static bool grow(struct states *s)
{
    struct states more = {.n = s->n, .room = s->room ? 2 * s->room : 64};
    if (2 * s->n < s->room)
        return true;
    more.state = calloc(more.room, sizeof *more.state);
    if (!more.state)
        return false;
    for (size_t i = 0; i < s->room; i++)
        if (s->state[i].id)
            *find(&more, s->state[i].id) = s->state[i];
    free(s->state);
    *s = more;
    return true;
}

static int note_task(struct states *s, struct gt_compact_unpacker *u, uint32_t index)
{
    uint32_t depth, id = gt_compact_unpacker_task(u, index);
    uint64_t time;
    const struct gt_compact_frame *from = gt_compact_unpacker_frames(u, index, &depth, &time);
    if (!from || !grow(s))
        return GT_E_NOMEM;
    struct gt_compact_tail_task *state = find(s, id);
    struct gt_compact_packer_frame *frame = realloc(state->frame, (depth + 1) * sizeof *frame);
    if (!frame)
        return GT_E_NOMEM;
    s->n += !state->id;
    *state = (struct gt_compact_tail_task){id, time, frame, depth};
    for (uint32_t i = 0; i < depth; i++)
        frame[i] = (struct gt_compact_packer_frame){gt_compact_unpacker_word(u, from[i].number),
                                                    from[i].begin};
    return 0;
}

static int note_tasks(struct states *s, struct gt_compact_unpacker *u)
{
    int status = 0;
    for (uint32_t i = 0; i < gt_compact_unpacker_tasks(u) && status == 0; i++)
        status = note_task(s, u, i);
    return status;
}

static int nothing(void *self, const struct gt_compact_piece *p)
{
    (void)self, (void)p;
    return 0;
}

static bool is_damage(int status)
{
    return status == GT_E_FORMAT || status == GT_E_TRUNC || status == GT_E_USAGE;
}

/* The segment that begins at block i; *next: the block after it. */
static int take_segment(const struct gt_compact_file *f, size_t i, size_t *next,
                        struct gt_compact_unpacker *u, struct states *s, struct gt_error *err)
{
    struct gt_compact_buffer buffer = {0};
    int status = 0;
    *next = i;
    do {
        const uint8_t *payload;
        if (status == 0)
            status = gt_compact_file_read(f, *next, &buffer, &payload, err);
        if (status == 0)
            status =
                gt_compact_unpacker_block(u, &f->block[*next].head, payload, nothing, NULL, err);
    } while (++*next < f->n && !(f->block[*next].head.flags & GT_COMPACT_SEGMENT));
    gt_compact_buffer_free(&buffer);
    if (status == 0)
        status = note_tasks(s, u);
    return is_damage(status) ? 0 : status;
}

int gt_compact_tail_tasks(const struct gt_compact_tail *t,
                          int (*task)(void *self, const struct gt_compact_tail_task *task),
                          void *self, struct gt_error *err)
{
    struct states s = {0};
    struct gt_compact_unpacker *u = NULL;
    int status = t->file.n ? gt_compact_unpacker_create(&u) : 0;
    for (size_t i = 0, next; i < t->file.n && status == 0; i = next)
        status = take_segment(&t->file, i, &next, u, &s, err);
    if (status == GT_E_NOMEM)
        gt_error_set(err, status, "%s: out of memory", t->file.path);
    for (size_t i = 0; i < s.room && status == 0; i++)
        if (s.state[i].id)
            status = task(self, &s.state[i]);
    gt_compact_unpacker_destroy(u);
    for (size_t i = 0; i < s.room; i++)
        free(s.state[i].frame);
    free(s.state);
    return status;
}

int gt_compact_tail_resume(void *self, const struct gt_compact_tail_task *t)
{
    int status = gt_compact_packer_resume(self, t->id, t->time, t->frame, t->depth);
    return status == GT_E_RANGE ? gt_compact_packer_resume(self, t->id, t->time, NULL, 0) : status;
}

int gt_compact_tail_note_time(void *self, const struct gt_compact_tail_task *t)
{
    struct gt_compact_tail_time *last = self;
    if (t->id == last->task)
        last->time = t->time;
    return 0;
}

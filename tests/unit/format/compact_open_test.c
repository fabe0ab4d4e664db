/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a segment says of the tasks that appear in it, a packer that goes on where another ended,
 * and one whose clock changes. */
#include "compact_util.h"

#include "calls/file/pack.h"
#include "calls/file/unpack.h"

/* What a reader knows of a task that it has followed from the first record on. */
struct known {
    uint32_t depth;
    uint64_t begin[DEEP], addr[DEEP], time;
};

struct reader {
    struct log *l;
    struct known task[TASKS];
    unsigned appeared, open;
    bool forgets; /* a task that appears again is a new one */
};

static void check_frames(const struct reader *r, const struct known *k,
                         const struct gt_compact_frame *frame, size_t n, uint64_t time)
{
    assert_int_equal(n, k->depth);
    assert_int_equal(time, k->time);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(frame[i].begin, k->begin[i]);
        assert_int_equal(gt_compact_unpacker_word(r->l->u, frame[i].number), k->addr[i]);
    }
}

static void follow(struct reader *r, struct known *k, const struct gt_compact_event *e)
{
    k->time = e->time;
    if ((e->sym & 3) == GT_COMPACT_ENTRY) {
        k->begin[k->depth] = e->time;
        k->addr[k->depth++] = gt_compact_unpacker_word(r->l->u, e->sym >> 2);
    } else if ((e->sym & 3) == GT_COMPACT_EXIT) {
        k->depth--;
    }
}

static int give(void *self, const struct gt_compact_piece *p)
{
    struct log *l = self;
    for (size_t i = 0; i < p->n; i++) {
        struct gt_compact_record back = gt_compact_unpacker_record(l->u, &p->event[i]);
        struct gt_compact_record want = l->r[p->task - 1000][l->back[p->task - 1000]++];
        assert_true(back.time == want.time && back.word == want.word);
    }
    return 0;
}

static int take(void *self, const struct gt_compact_piece *p)
{
    struct reader *r = self;
    struct known *k = &r->task[p->task - 1000];
    if (p->first && r->forgets)
        *k = (struct known){0};
    if (p->first) {
        check_frames(r, k, p->open, p->n_open, p->time);
        r->appeared++;
        r->open += p->n_open > 0;
    } else {
        assert_true(!p->open && p->n_open == 0);
    }
    for (size_t i = 0; i < p->n; i++) {
        struct gt_compact_record back = gt_compact_unpacker_record(r->l->u, &p->event[i]);
        struct gt_compact_record want = r->l->r[p->task - 1000][r->l->back[p->task - 1000]++];
        assert_true(back.time == want.time && back.word == want.word);
        follow(r, k, &p->event[i]);
    }
    return 0;
}

/* The only block's records come back; after them `depth` functions are open. */
static void read_deepest(struct log *l, uint32_t depth)
{
    struct gt_compact_head h;
    struct gt_error err;
    uint32_t open;
    uint64_t time;
    assert_int_equal(gt_compact_unpacker_create(&l->u), 0);
    assert_int_equal(gt_compact_head_read(l->file, l->size, &h), 0);
    assert_int_equal(gt_compact_unpacker_block(l->u, &h, l->file + GT_COMPACT_HEAD, give, l, &err),
                     0);
    assert_int_equal(l->back[0], l->n[0]);
    gt_compact_unpacker_frames(l->u, 0, &open, &time);
    assert_int_equal(open, depth);
}

/* Unpacks all blocks; after each of them the frames are those that the records say. */
static void read_all(struct reader *r)
{
    struct log *l = r->l;
    struct gt_compact_head h;
    struct gt_error err;
    assert_int_equal(gt_compact_unpacker_create(&l->u), 0);
    memset(l->back, 0, sizeof l->back);
    for (size_t at = 0; at < l->size; at += GT_COMPACT_HEAD + h.size) {
        assert_int_equal(gt_compact_head_read(l->file + at, l->size - at, &h), 0);
        assert_int_equal(
            gt_compact_unpacker_block(l->u, &h, l->file + at + GT_COMPACT_HEAD, take, r, &err), 0);
        for (uint32_t i = 0; !r->forgets && i < gt_compact_unpacker_tasks(l->u); i++) {
            uint32_t depth, task = gt_compact_unpacker_task(l->u, i) - 1000;
            uint64_t time;
            const struct gt_compact_frame *frame =
                gt_compact_unpacker_frames(l->u, i, &depth, &time);
            check_frames(r, &r->task[task], frame, depth, time);
        }
    }
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(l->back[i], l->n[i]);
}

static void some_calls(struct log *l, unsigned turns)
{
    for (unsigned turn = 0; turn < turns; turn++) {
        unsigned task = random_number(TASKS);
        size_t from = l->n[task];
        for (unsigned n = 1 + random_number(9); n > 0; n--)
            if (l->depth[task] == 0 || (l->depth[task] < 30 && random_number(2)))
                enter(l, task, 0x4000 + 16 * (uint64_t)random_number(9), random_number(1000));
            else
                leave(l, task, random_number(1000));
        put(l, task, from);
        if (random_number(20) == 0)
            end_block(l);
    }
    end_block(l);
}

static void test_frames(void **state)
{
    (void)state;
    static struct reader r;
    for (int exact = 0; exact < 2; exact++) {
        struct log *l = log_create(exact, 300);
        r = (struct reader){.l = l};
        some_calls(l, 3000);
        read_all(&r);
        assert_true(l->n_segments > 20 && r.appeared > TASKS && r.open > 20);
        log_destroy(l);
    }
}

/* As a program does that finds what a killed one has left. */
static void resume_all(struct log *l, const struct reader *r, uint64_t before)
{
    const struct gt_compact_packer_options o = {
        .packer = 77, .exact = true, .segment = 300, .before = before};
    gt_compact_packer_destroy(l->p);
    assert_int_equal(gt_compact_packer_create(&o, &l->p), 0);
    for (uint32_t i = 0; i < TASKS; i++) {
        const struct known *k = &r->task[i];
        static struct gt_compact_packer_frame frame[DEEP];
        for (uint32_t n = 0; n < k->depth; n++)
            frame[n] = (struct gt_compact_packer_frame){k->addr[n], k->begin[n]};
        assert_int_equal(gt_compact_packer_resume(l->p, 1000 + i, k->time, frame, k->depth), 0);
    }
}

static void test_resume(void **state)
{
    (void)state;
    static struct reader r;
    struct log *l = log_create(true, 300);
    struct gt_compact_head h;
    uint64_t records = 0;
    r = (struct reader){.l = l};
    some_calls(l, 1000);
    read_all(&r);
    for (int i = 0; i < TASKS; i++)
        records += l->n[i];
    gt_compact_unpacker_destroy(l->u);
    l->u = NULL;
    resume_all(l, &r, records);
    size_t from = l->size;
    some_calls(l, 1000);
    assert_int_equal(gt_compact_head_read(l->file + from, l->size - from, &h), 0);
    assert_true(h.flags & GT_COMPACT_SEGMENT);
    assert_int_equal(h.before, records);
    r = (struct reader){.l = l};
    read_all(&r);
    assert_int_equal(gt_compact_packer_resume(l->p, 1000, 1, NULL, 0), GT_E_USAGE);
    log_destroy(l);
}

/* Segments that begin deep inside, at other depths than a record can say. */
static void test_deep(void **state)
{
    (void)state;
    static struct reader r;
    for (int exact = 0; exact < 2; exact++) {
        struct log *l = log_create(exact, 300);
        r = (struct reader){.l = l};
        for (unsigned i = 0; i < DEEP - 40; i++) {
            enter(l, 0, 0x1000 + 16 * (i % 7), i % 3);
            put(l, 0, l->n[0] - 1);
            if (i % 500 == 499)
                end_block(l);
        }
        for (unsigned i = 0; i < 900; i++) {
            enter(l, 0, 0x2000, 2);
            leave(l, 0, i % 5);
            put(l, 0, l->n[0] - 2);
        }
        end_block(l);
        while (l->depth[0] > 900) {
            leave(l, 0, 1);
            put(l, 0, l->n[0] - 1);
            if (l->depth[0] % 500 == 0)
                end_block(l);
        }
        end_block(l);
        assert_true(l->n_segments > 15);
        read_all(&r);
        assert_int_equal(r.open, l->n_segments - 1);
        log_destroy(l);
    }
}

/* What is deeper than a stack may be comes back, and so does what follows. */
static void test_deepest(void **state)
{
    (void)state;
    enum { BEYOND = 3 };
    struct log *l = log_create(true, 0);
    struct gt_compact_packer_frame *frame = calloc(GT_PACKER_DEPTH + 1, sizeof *frame);
    assert_int_equal(gt_compact_packer_resume(l->p, 1000, 1, frame, GT_PACKER_DEPTH + 1),
                     GT_E_RANGE);
    assert_int_equal(gt_compact_packer_resume(l->p, 1000, 1, frame, GT_PACKER_DEPTH - 1), 0);
    for (uint32_t i = 0; i <= BEYOND; i++)
        add(l, 0, 2 + i, gt_uftrace_entry(GT_PACKER_DEPTH - 1 + i, 0x1000));
    for (uint32_t i = 0; i < 2 * BEYOND; i++)
        add(l, 0, 10 + i,
            gt_uftrace_exit(GT_PACKER_DEPTH - 1 + BEYOND - i, i > BEYOND ? 0 : 0x1000));
    put(l, 0, 0);
    end_block(l);
    read_deepest(l, GT_PACKER_DEPTH - BEYOND);
    free(frame);
    log_destroy(l);
}

/* Neither a guest with many deep stacks nor a file that says so takes more memory than that. */
static void test_all_stacks(void **state)
{
    (void)state;
    struct log *l = log_create(true, 0);
    struct gt_compact_packer_task packed[9] = {{.room = GT_MODEL_ROOM}};
    struct gt_compact_unpacker_task unpacked[18] = {{0}};
    unsigned n = 0, back = 0;
    for (unsigned i = 0; i < 9; i++) {
        packed[i].room = GT_MODEL_ROOM;
        int status = gt_compact_packer_grow_stack(l->p, &packed[i], GT_PACKER_DEPTH);
        assert_int_equal(status, i < 7 ? 0 : GT_E_RANGE);
        n += status == 0;
    }
    assert_int_equal(gt_compact_unpacker_create(&l->u), 0);
    assert_int_equal(gt_compact_unpacker_grow_stack(l->u, &unpacked[0], GT_PACKER_DEPTH + 1),
                     GT_E_FORMAT);
    for (unsigned i = 0; i < 18; i++) {
        int status = gt_compact_unpacker_grow_stack(l->u, &unpacked[i], GT_PACKER_DEPTH);
        assert_int_equal(status, i < 16 ? 0 : GT_E_FORMAT);
        back += status == 0;
    }
    assert_true(back * (uint64_t)GT_PACKER_DEPTH >= GT_PACKER_OPEN && n < back);
    for (unsigned i = 0; i < n; i++) {
        free(packed[i].frame);
        free(packed[i].exit);
    }
    for (unsigned i = 0; i < back; i++)
        free(unpacked[i].frame);
    log_destroy(l);
}

/* The clock changes from the next block on, with a new segment. */
static void test_set_exact(void **state)
{
    (void)state;
    static struct reader r;
    struct log *l = log_create(true, 0);
    struct gt_compact_head h;
    r = (struct reader){.l = l};
    for (int turn = 0; turn < 6; turn++) {
        some_calls(l, 100);
        size_t from = l->n[0], at = l->size;
        enter(l, 0, 0x1000, 1);
        leave(l, 0, 1);
        put(l, 0, from);
        gt_compact_packer_set_exact(l->p, turn % 2);
        end_block(l);
        gt_compact_head_read(l->file + at, l->size - at, &h);
        assert_int_equal(h.flags & GT_COMPACT_EXACT ? 1 : 0, turn % 2 == 0);
    }
    assert_int_equal(l->n_segments, 6);
    read_all(&r);
    log_destroy(l);
}

/* Tasks that end, among others; some of them come again, with nothing open. */
static void test_forget(void **state)
{
    (void)state;
    static uint8_t alive[4000];
    struct log *l = log_create(true, 0);
    memset(alive, 0, sizeof alive);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t task = random_number(sizeof alive);
        if (alive[task] && random_number(2)) {
            gt_compact_packer_forget(l->p, task);
            alive[task] = 0;
            continue;
        }
        /* A packer that knows the task takes no other stack. */
        const struct gt_compact_packer_frame frame = {0x1000, 1};
        assert_int_equal(gt_compact_packer_resume(l->p, task, 1, &frame, 1),
                         alive[task] ? GT_E_USAGE : 0);
        alive[task] = 1;
    }
    gt_compact_packer_forget(l->p, 1000000);
    gt_compact_packer_forget(l->p, 1000);
    size_t from = l->n[0];
    enter(l, 0, 0x1000, 5);
    put(l, 0, from);
    end_block(l);
    gt_compact_packer_forget(l->p, 1000);
    l->depth[0] = 0;
    from = l->n[0];
    enter(l, 0, 0x2000, 5);
    put(l, 0, from);
    end_block(l);
    assert_int_equal(l->n_segments, 1);
    static struct reader r;
    r = (struct reader){.l = l, .forgets = true};
    read_all(&r);
    assert_int_equal(r.appeared, 2);
    log_destroy(l);
}

/* More tasks than a segment may have. */
static void test_many_tasks(void **state)
{
    (void)state;
    struct log *l = log_create(true, 0);
    const struct gt_compact_record r = {7, gt_uftrace_entry(0, 0x1000)};
    for (uint32_t i = 0; i < GT_COMPACT_MAX_TASKS; i++) {
        assert_false(gt_compact_packer_is_full(l->p));
        assert_int_equal(gt_compact_packer_put(l->p, i, &r, 1), 0);
    }
    assert_true(gt_compact_packer_is_full(l->p));
    assert_int_equal(gt_compact_packer_put(l->p, 0, &r, 1), 0);
    assert_int_equal(gt_compact_packer_put(l->p, GT_COMPACT_MAX_TASKS, &r, 1), GT_E_RANGE);
    end_block(l);
    assert_int_equal(gt_compact_packer_put(l->p, GT_COMPACT_MAX_TASKS, &r, 1), 0);
    end_block(l);
    assert_int_equal(l->n_segments, 2);
    log_destroy(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),     cmocka_unit_test(test_resume),
        cmocka_unit_test(test_set_exact),  cmocka_unit_test(test_forget),
        cmocka_unit_test(test_many_tasks), cmocka_unit_test(test_deep),
        cmocka_unit_test(test_deepest),    cmocka_unit_test(test_all_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

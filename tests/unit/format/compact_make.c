/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a compact file, and the records that are in it, for readers that are not ours:
 *     compact_make DIR
 * DIR/a.gtrace, DIR/TID.dat, DIR/TID.values: lines of the number of a record and its values, as
 * n, wHEX, aHEX (an address), bHEX and cHEX (bytes, and those that were cut)
 */
#include "calls/file/file.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TASKS = 4,
    FUNCTIONS = 9,
    MOST_DEPTH = 40,
    DEEP = 1100, /* open in the first task all the time: more than records' depths can say */
    TURNS = 900,
    MOST_PIECE = 60,
};

struct task {
    uint32_t depth, least;
    uint64_t open[DEEP + MOST_DEPTH];
    FILE *dat, *values;
    unsigned n;
};

static const char *dir;
static struct task task[TASKS];
static uint64_t now = 1000, seed = 1;

static uint32_t random_number(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static void need(int status)
{
    if (status < 0)
        exit(1);
}

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void append(const void *block, size_t size)
{
    need(gt_compact_file_append(path_of("a.gtrace"), block, size, NULL));
}

static void add_text(const char *name, const char *text)
{
    uint8_t *block;
    size_t size;
    need(gt_compact_text_pack(name, text, strlen(text), &block, &size));
    append(block, size);
    free(block);
}

/* The next record: mostly of calls; steps as `exact` has them, and some of all sizes. */
static struct gt_compact_record next(struct task *t, bool exact)
{
    uint64_t addr = 0xffff80001000 + 0x40 * (uint64_t)random_number(FUNCTIONS), word;
    uint32_t kind = random_number(200);
    now += exact ? 7 : 20 + random_number(300);
    if (random_number(50) == 0)
        now += (uint64_t)1 << random_number(40);
    if (kind == 0)
        word = gt_uftrace_event(t->depth, GT_UFTRACE_EV_SCHED_OUT);
    else if (kind == 1)
        word = addr * 3;
    else if (t->depth > t->least && (t->depth == t->least + MOST_DEPTH || random_number(2)))
        t->depth--, word = gt_uftrace_exit(t->depth, t->open[t->depth]);
    else
        t->open[t->depth] = addr, word = gt_uftrace_entry(t->depth++, addr);
    /* One that goes back, for it alone. */
    return (struct gt_compact_record){kind == 2 ? now / 2 : now, word};
}

static void put(struct gt_compact_packer *p, uint32_t which, const struct gt_compact_record *r,
                size_t n)
{
    need(gt_compact_packer_put(p, 100 + which, r, n));
    task[which].n += (unsigned)n;
    if (fwrite(r, sizeof *r, n, task[which].dat) != n)
        exit(1);
}

/* Of some texts, and words that stay, climb or are anything. */
static void make_value(struct gt_value *v, FILE *values)
{
    static const char *const texts[] = {"", "/etc/passwd", "r", "a text that is a little longer"};
    const uint64_t words[] = {0xffff80001234, now, random_number(3),
                              (uint64_t)random_number(9) << 61};
    *v = (struct gt_value){.kind = (uint8_t)random_number(GT_VALUE_BAD_ADDRESS + 1)};
    if (v->kind == GT_VALUE_BYTES || v->kind == GT_VALUE_CUT) {
        v->bytes = texts[random_number(4)];
        v->size = (uint16_t)strlen(v->bytes);
    } else if (v->kind != GT_VALUE_ABSENT) {
        v->word = words[random_number(4)];
    }
    fprintf(values, " %c", "nwbca"[v->kind]);
    if (v->kind == GT_VALUE_WORD || v->kind == GT_VALUE_BAD_ADDRESS)
        fprintf(values, "%" PRIx64, v->word);
    for (size_t i = 0; i < v->size; i++)
        fprintf(values, "%02x", ((const unsigned char *)v->bytes)[i]);
}

static void put_valued(struct gt_compact_packer *p, uint32_t which,
                       const struct gt_compact_record *r)
{
    struct task *t = &task[which];
    struct gt_value_list list = {.n = random_number(GT_VALUES_MOST + 1)};
    fprintf(t->values, "%u", t->n++);
    for (size_t i = 0; i < list.n; i++)
        make_value(&list.value[i], t->values);
    fputc('\n', t->values);
    need(gt_compact_packer_put_valued(p, 100 + which, r, &list));
    if (fwrite(r, sizeof *r, 1, t->dat) != 1)
        exit(1);
}

static void dive(struct gt_compact_packer *p)
{
    struct task *t = &task[0];
    for (t->least = DEEP; t->depth < DEEP; t->depth++) {
        t->open[t->depth] = 0x4000 + 16 * (t->depth % 7);
        const struct gt_compact_record r = {now++, gt_uftrace_entry(t->depth, t->open[t->depth])};
        put(p, 0, &r, 1);
    }
}

static void put_piece(struct gt_compact_packer *p, bool exact)
{
    struct gt_compact_record r[MOST_PIECE];
    uint32_t which = random_number(TASKS), n = 1 + random_number(MOST_PIECE);
    for (uint32_t i = 0; i < n; i++)
        r[i] = next(&task[which], exact);
    if (random_number(3) == 0) {
        put_valued(p, which, r);
        put(p, which, r + 1, n - 1);
    } else {
        put(p, which, r, n);
    }
}

static void end_block(struct gt_compact_packer *p)
{
    const uint8_t *block;
    size_t size;
    need(gt_compact_packer_end_block(p, &block, &size));
    if (size)
        append(block, size);
}

int main(int argc, char **argv)
{
    const struct gt_compact_packer_options o = {.packer = 99, .exact = true, .segment = 3000};
    struct gt_compact_packer *p;
    bool exact = true;
    if (argc != 2)
        return 2;
    dir = argv[1];
    for (unsigned i = 0; i < TASKS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%u.dat", 100 + i);
        task[i].dat = fopen(path_of(name), "wb");
        snprintf(name, sizeof name, "%u.values", 100 + i);
        task[i].values = fopen(path_of(name), "w");
        if (!task[i].dat || !task[i].values)
            return 1;
    }
    need(gt_compact_file_create(path_of("a.gtrace"), NULL));
    add_text("info", "old\n");
    need(gt_compact_packer_create(&o, &p));
    dive(p);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        put_piece(p, exact);
        if (random_number(9) == 0)
            end_block(p);
        if (turn == TURNS / 3) { /* is known at once, and counts from the next block on */
            exact = false;
            gt_compact_packer_set_exact(p, exact);
            append("no block", 8);
            need(gt_compact_index_append(path_of("a.gtrace"), NULL));
        }
    }
    end_block(p);
    gt_compact_packer_destroy(p);
    add_text("info", "new\n");
    add_text("empty", "");
    need(gt_compact_index_append(path_of("a.gtrace"), NULL));
    for (unsigned i = 0; i < TASKS; i++)
        if (fclose(task[i].dat) != 0 || fclose(task[i].values) != 0)
            return 1;
    return 0;
}

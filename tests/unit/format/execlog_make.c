/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execlog_make BINARY TEXT LINES [PLACE WHAT]: writes a log of so many lines, more or less, in both
 * forms ("-": not); the same each time. At line PLACE an access and a register's change are made;
 * WHAT: "register", "address": one bit of that is another; "extra": another instruction runs
 * before; "tail": the log ends before it. It goes the way that the plugin's go: streams, a packet
 * sink, packed on its thread.
 */
#include "execlog/format/execlog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 3000, MOST = 12, VCPU = 0 };

static struct block {
    struct gt_execlog_block block;
    struct gt_execlog_insn insns[MOST];
    char texts[MOST][48];
    uint64_t bases[MOST]; /* of accesses; 0: none */
} blocks[BLOCKS + 1];

static struct gt_execlog_writer *writer;
static struct gt_packet_sink *sink;
static struct gt_execlog_stream stream;
static FILE *text;
static uint64_t lines, place, seed = 88172645463325252u;
static const char *what = "";
static uint32_t ram, reg;
static char waiting[4096];
static int fill;

static uint64_t roll(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static void die(const char *why, const struct gt_error *err)
{
    fprintf(stderr, "execlog_make: %s: %s\n", why, err ? err->text : "failed");
    exit(1);
}

static void define(struct block *b, uint64_t pc, size_t n)
{
    static const char *const words[] = {"movq 0x10(%rax), %rbx", "addq $1, %rcx", "cmpq %rdx, %rcx",
                                        "leaq (%rsi, %rdi, 8), %rax", "movl %ebx, (%rsi)"};
    for (size_t i = 0; i < n; i++) {
        unsigned word = (unsigned)roll(5);
        snprintf(b->texts[i], sizeof b->texts[i], "%s", words[word]);
        b->insns[i] = (struct gt_execlog_insn){pc, (uint32_t)(seed >> 9), b->texts[i]};
        b->bases[i] = word == 0 || word == 4 ? 0x7f0000000000 + 4096 * roll(4000) : 0;
        pc += 1 + roll(7);
    }
    if (gt_execlog_define(writer, b->insns, n, &b->block) < 0)
        die("define", NULL);
}

static struct gt_packet_buffer *swap(void *self, struct gt_packet_buffer *b)
{
    return gt_packet_sink_exchange(self, b);
}

static void begin(const char *binary)
{
    struct gt_error err;
    const struct gt_execlog_setup setup = {"made", false, false};
    if (gt_execlog_writer_create(&setup, &writer, &err) < 0)
        die("writer", &err);
    const struct gt_packet_sink_options o = {
        .target = binary,
        .buffer_size = GT_EXECLOG_BUFFER,
        .limit = 4 << 20,
        .head = gt_execlog_head,
        .mark = gt_execlog_mark,
        .pack = gt_execlog_pack,
        .tail = gt_execlog_tail,
        .self = writer,
    };
    if (gt_packet_sink_create(&o, &sink, &err) < 0)
        die("sink", &err);
    gt_execlog_begin(&stream, VCPU, gt_packet_sink_acquire(sink), swap, sink);
    ram = gt_execlog_define_device(writer, "RAM");
    reg = gt_execlog_define_register(writer, "rax", 8);
    for (size_t i = 0; i < BLOCKS; i++)
        define(&blocks[i], 0x401000 + 97 * i, 1 + roll(MOST));
    define(&blocks[BLOCKS], 0x900000, 1);
}

static void end_line(void)
{
    if (!lines)
        return;
    waiting[fill] = '\n';
    if (text)
        fwrite(waiting, 1, (size_t)fill + 1, text);
    fill = 0;
}

static void start(const struct block *b, uint32_t i)
{
    end_line();
    lines++;
    if (text)
        fill = sprintf(waiting, "%d, 0x%" PRIx64 ", 0x%" PRIx32 ", \"%s\"", VCPU,
                       b->insns[i].address, b->insns[i].opcode, b->insns[i].text);
}

static void access_at(uint32_t i, uint64_t address, bool store)
{
    gt_execlog_device(&stream, ram);
    gt_execlog_access(&stream, i, store, address);
    if (text)
        fill += sprintf(waiting + fill, ", %s, 0x%08" PRIx64 ", RAM", store ? "store" : "load",
                        address);
}

static void change(uint32_t i, uint64_t value)
{
    gt_execlog_register(&stream, i, reg, (const uint8_t *)&value, 8); /* a little-endian host */
    if (text)
        fill += sprintf(waiting + fill, ", rax -> 0x%016" PRIx64, value);
}

/* Line `place`. */
static void mark_place(uint32_t i)
{
    access_at(i, strcmp(what, "address") ? 0x1234 : 0x1236, true);
    change(i, UINT64_C(0xdeadbeef) ^ (strcmp(what, "register") ? 0 : UINT64_C(1) << 41));
}

/* False: the log ends here. */
static bool run(const struct block *b)
{
    static uint64_t turn;
    bool ends = !strcmp(what, "tail");
    turn++;
    if (ends && lines + 1 == place)
        return false;
    gt_execlog_start(&stream, &b->block);
    for (uint32_t i = 0; i < b->block.n; i++) {
        if (ends && lines + 1 == place) {
            gt_execlog_stop(&stream, i);
            return false;
        }
        start(b, i);
        if (b->bases[i])
            access_at(i, b->bases[i] + 8 * (turn & 31), i & 1);
        if (lines % 50 == 0)
            change(i, lines * 3);
        if (lines == place)
            mark_place(i);
    }
    return true;
}

/* Loops over a few blocks, as programs do. */
static void run_all(uint64_t most)
{
    bool on = true;
    while (on && lines < most) {
        size_t first = roll(BLOCKS - 8), n = 1 + roll(8);
        for (uint64_t times = 1 + roll(40); on && times && lines < most; times--)
            for (size_t i = 0; on && i < n && lines < most; i++) {
                if (!strcmp(what, "extra") && lines < place && lines + MOST >= place) {
                    what = "";
                    run(&blocks[BLOCKS]);
                }
                on = run(&blocks[first + i]);
            }
    }
}

int main(int argc, char **argv)
{
    struct gt_packet_sink_stats stats;
    if (argc != 4 && argc != 6)
        die("usage", NULL);
    if (strcmp(argv[2], "-") != 0 && !(text = fopen(argv[2], "w")))
        die(argv[2], NULL);
    if (argc == 6) {
        place = strtoull(argv[4], NULL, 10);
        what = argv[5];
    }
    begin(argv[1]);
    run_all(strtoull(argv[3], NULL, 10));
    gt_packet_sink_submit(sink, gt_execlog_end(&stream, true));
    gt_packet_sink_finish(sink, &stats);
    end_line();
    if ((text && fclose(text) != 0) || stats.failed)
        die("writing", NULL);
    printf("%" PRIu64 "\n", lines);
    gt_packet_sink_destroy(sink);
    gt_execlog_writer_destroy(writer);
    return 0;
}

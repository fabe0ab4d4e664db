/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets of an etrace stream: bytes written by hand, round trip, every wrong length, no room. */
#include "etrace_util.h"

/* ---- one packet's bytes, as the format describes them ---------------------------------------- */

static const uint8_t info_bytes[] = {
    0x54, 0x45, 0, 0, 12, 0, 0, 0, /* type 0x4554, unit 0, 12 bytes */
    1,    0,    0, 0, 0,  0, 0, 0, /* attr */
    2,    0,    3, 1,              /* version 2.0x103 */
};
static const uint8_t arch_bytes[] = {
    5,    0, 0, 0, 16, 0, 0, 0, /* header */
    0xb7, 0, 0, 0, 64, 0, 0, 0, /* guest: aarch64 */
    21,   0, 0, 0, 64, 1, 0, 0, /* host: ppc64, big-endian */
};
static const uint8_t barrier_bytes[] = {6, 0, 0x34, 0x12, 0, 0, 0, 0};
static const uint8_t tb_bytes[] = {
    2,    0,    3,    0,    37,   0, 0, 0, /* unit 3, 37 bytes */
    8,    7,    6,    5,    4,    3, 2, 1, /* vaddr */
    0x18, 0x17, 0x16, 0x15, 4,    3, 2, 1, /* paddr */
    0,    0,    0,    0,    0,    0, 0, 9, /* host_addr */
    4,    0,    0,    0,    1,    0, 0, 0, /* code lengths */
    0xaa, 0xbb, 0xcc, 0xdd, 0xee,
};
static const uint8_t note_bytes[] = {
    3,   0,   1,   0, 11, 0, 0, 0, /* unit 1, 11 bytes */
    5,   0,   0,   0, 0,  0, 0, 1, /* time */
    'n', 'o', 'p',
};
static const uint8_t mem_bytes[] = {
    4,    0,    2, 0, 40,   0,    0,    0,    /* unit 2, 40 bytes */
    7,    0,    0, 0, 0,    0,    0,    0,    /* time */
    0,    0x10, 0, 0, 0x80, 0xff, 0xff, 0xff, /* vaddr */
    0,    0x20, 0, 0, 0,    0,    0,    0,    /* paddr */
    0x88, 0x77, 0, 0, 0,    0,    0,    0x11, /* value */
    1,    0,    0, 0,                         /* a write */
    8,    0,    0, 0,                         /* of 8 bytes */
};
static const uint8_t event_bytes[] = {
    8,   0,   4,   0,   46, 0,   0,   0, /* unit 4, 46 bytes */
    9,   0,   0,   0,   4,  0,   0,   0, /* flags, unit, reserved */
    1,   2,   0,   0,   0,  0,   0,   0, /* time */
    0xa, 0,   0,   0,   0,  0,   0,   0, /* value */
    0xb, 0,   0,   0,   0,  0,   0,   0, /* previous */
    5,   0,   5,   0,                    /* lengths of the names, NULs included */
    'u', 'a', 'r', 't', 0,  'r', '@', '0', '4', 0,
};
static const uint8_t old_event_bytes[] = {
    7,   0, 4,   0, 26, 0, 0, 0, /* 26 bytes */
    6,   0, 0,   0, 0,  0, 0, 0, /* time */
    7,   0, 0,   0, 0,  0, 0, 0, /* value */
    5,   0, 2,   0, 2,  0,       /* unit, lengths */
    'd', 0, 'e', 0,
};

/* The packet as the reader would give it. */
static struct gt_etrace_packet packet_of(const uint8_t *bytes)
{
    return (struct gt_etrace_packet){
        .offset = 4096,
        .type = (uint16_t)(bytes[0] | bytes[1] << 8),
        .unit = (uint16_t)(bytes[2] | bytes[3] << 8),
        .len = bytes[4],
        .body = bytes + 8,
    };
}

static const struct gt_etrace_reader *reader;

/* ---- the same as values, written and read ---------------------------------------------------- */

static void put_info(struct gt_bytes_writer *w)
{
    gt_etrace_put_info(w, &(const struct gt_etrace_info){1, 2, 0x103});
}

static int get_info(const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_etrace_info x;
    int status = gt_etrace_get_info(reader, p, &x, err);
    if (status == 0)
        assert_true(x.attr == 1 && x.major == 2 && x.minor == 0x103);
    return status;
}

static void put_arch(struct gt_bytes_writer *w)
{
    gt_etrace_put_arch(w, &(const struct gt_etrace_arch){{183, 64, 0}, {21, 64, 1}});
}

static int get_arch(const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_etrace_arch x;
    int status = gt_etrace_get_arch(reader, p, &x, err);
    if (status == 0) {
        assert_true(x.guest.id == 183 && x.guest.bits == 64 && x.guest.big_endian == 0);
        assert_true(x.host.id == 21 && x.host.bits == 64 && x.host.big_endian == 1);
    }
    return status;
}

static void put_barrier(struct gt_bytes_writer *w)
{
    gt_etrace_put_barrier(w, 0x1234);
}

static void put_tb(struct gt_bytes_writer *w)
{
    static const uint8_t guest[] = {0xaa, 0xbb, 0xcc, 0xdd}, host[] = {0xee};
    gt_etrace_put_tb(w, 3,
                     &(const struct gt_etrace_tb){UINT64_C(0x0102030405060708),
                                                  UINT64_C(0x0102030415161718), UINT64_C(9) << 56,
                                                  guest, host, 4, 1});
}

static int get_tb(const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_etrace_tb x;
    int status = gt_etrace_get_tb(reader, p, &x, err);
    if (status == 0) {
        assert_true(x.vaddr == UINT64_C(0x0102030405060708) &&
                    x.paddr == UINT64_C(0x0102030415161718) && x.host_addr == UINT64_C(9) << 56);
        assert_true(x.guest_len == 4 && x.host_len == 1);
        assert_memory_equal(x.guest_code, "\xaa\xbb\xcc\xdd", 4);
        assert_memory_equal(x.host_code, "\xee", 1);
    }
    return status;
}

static void put_note(struct gt_bytes_writer *w)
{
    gt_etrace_put_note(w, 1, &(const struct gt_etrace_note){UINT64_C(1) << 56 | 5, "nop", 3});
}

static int get_note(const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_etrace_note x;
    int status = gt_etrace_get_note(reader, p, &x, err);
    if (status == 0) {
        assert_true(x.time == (UINT64_C(1) << 56 | 5) && x.len == 3);
        assert_memory_equal(x.text, "nop", 3);
    }
    return status;
}

static const struct gt_etrace_mem mem = {.time = 7,
                                         .vaddr = UINT64_C(0xffffff8000001000),
                                         .paddr = 0x2000,
                                         .value = UINT64_C(0x1100000000007788),
                                         .write = true,
                                         .size = 8};

static void put_mem(struct gt_bytes_writer *w)
{
    gt_etrace_put_mem(w, 2, &mem);
}

static int get_mem(const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_etrace_mem x;
    int status = gt_etrace_get_mem(reader, p, &x, err);
    if (status == 0)
        assert_true(x.time == mem.time && x.vaddr == mem.vaddr && x.paddr == mem.paddr &&
                    x.value == mem.value && x.write && x.size == 8);
    return status;
}

static void put_event(struct gt_bytes_writer *w)
{
    gt_etrace_put_event(w, &(const struct gt_etrace_event){9, 4, 0x201, 0xa, 0xb, "uart", "r@04"});
}

static int get_event(const struct gt_etrace_packet *p, struct gt_error *err)
{
    struct gt_etrace_event x;
    int status = gt_etrace_get_event(reader, p, &x, err);
    if (status < 0)
        return status;
    if (p->type == GT_ETRACE_EVENT_OLD) {
        assert_true(x.flags == 0 && x.unit == 5 && x.time == 6 && x.value == 7 && x.previous == 0);
        assert_string_equal(x.device, "d");
        assert_string_equal(x.name, "e");
    } else {
        assert_true(x.flags == 9 && x.unit == 4 && x.time == 0x201 && x.value == 0xa &&
                    x.previous == 0xb);
        assert_string_equal(x.device, "uart");
        assert_string_equal(x.name, "r@04");
    }
    return status;
}

static const struct {
    const uint8_t *bytes;
    size_t size;
    void (*put)(struct gt_bytes_writer *w);
    int (*get)(const struct gt_etrace_packet *p, struct gt_error *err);
    size_t shortest; /* a body of at least that is right however long */
    size_t also;     /* a body of that size is right, too */
} kinds[] = {
    {info_bytes, sizeof info_bytes, put_info, get_info, 0},
    {arch_bytes, sizeof arch_bytes, put_arch, get_arch, 0, .also = 12},
    {barrier_bytes, sizeof barrier_bytes, put_barrier, NULL, 0},
    {tb_bytes, sizeof tb_bytes, put_tb, get_tb, 0},
    {note_bytes, sizeof note_bytes, put_note, get_note, 8},
    {mem_bytes, sizeof mem_bytes, put_mem, get_mem, 0},
    {event_bytes, sizeof event_bytes, put_event, get_event, 0},
    {old_event_bytes, sizeof old_event_bytes, NULL, get_event, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void test_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i].put) {
            uint8_t out[128];
            struct gt_bytes_writer w;
            gt_bytes_writer_init(&w, out, sizeof out);
            kinds[i].put(&w);
            assert_false(w.short_of);
            assert_int_equal(w.at - out, kinds[i].size);
            assert_memory_equal(out, kinds[i].bytes, kinds[i].size);
        }
        const struct gt_etrace_packet p = packet_of(kinds[i].bytes);
        if (kinds[i].get)
            assert_int_equal(kinds[i].get(&p, NULL), 0);
    }
}

/* Nothing is written but whole packets, and nothing after one that did not fit. */
static void test_no_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        for (size_t room = 0; kinds[i].put && room < kinds[i].size; room++) {
            uint8_t out[128] = {0}, untouched[128] = {0};
            struct gt_bytes_writer w;
            gt_bytes_writer_init(&w, out, room);
            kinds[i].put(&w);
            assert_true(w.short_of && w.at == out);
            put_barrier(&w);
            assert_memory_equal(out, untouched, sizeof out);
        }
    }
}

/* A body that is shorter or longer than its kind says is refused, with its place. */
static void test_lengths(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        struct gt_etrace_packet p = packet_of(kinds[i].bytes);
        uint32_t right = p.len;
        for (p.len = 0; kinds[i].get && p.len < right + 64; p.len++) {
            uint8_t exact[128] = {0};
            struct gt_error err = {0};
            memcpy(exact + sizeof exact - p.len, p.body, p.len < right ? p.len : right);
            struct gt_etrace_packet cut = p;
            cut.body = exact + sizeof exact - p.len;
            if (p.len == right || p.len == kinds[i].also ||
                (kinds[i].shortest && p.len >= kinds[i].shortest))
                continue;
            assert_int_equal(kinds[i].get(&cut, &err), GT_E_FORMAT);
            assert_non_null(strstr(err.text, "made.etrace offset 4096: "));
        }
    }
}

/* As written without padding; and with nothing known but the guest's machine and bits. */
static void test_arch(void **state)
{
    (void)state;
    uint8_t bytes[] = {5,  0, 0,  0, 12, 0, 0,  0, 243, 0, 0, 0,
                       32, 0, 62, 0, 0,  0, 64, 0, 0,   0, 0, 0};
    struct gt_etrace_packet p = packet_of(bytes);
    struct gt_etrace_arch x;
    assert_int_equal(gt_etrace_get_arch(reader, &p, &x, NULL), 0);
    assert_true(x.guest.id == 243 && x.guest.bits == 32);
    assert_true(x.host.id == 62 && x.host.bits == 64 && !x.host.big_endian);
    static const uint8_t unset[] = {0, 1, 0xcc};
    for (size_t i = 0; i < sizeof unset; i++) {
        memset(bytes + 8, unset[i], 16);
        memcpy(bytes + 8, (const uint8_t[]){243, 0, 0, 0, 32}, 5);
        bytes[4] = 16;
        p = packet_of(bytes);
        assert_int_equal(gt_etrace_get_arch(reader, &p, &x, NULL), 0);
        assert_true(x.guest.id == 243 && x.guest.bits == 32);
        assert_true(x.guest.big_endian == (unset[i] == 1));
        assert_true(x.host.id == 0 && x.host.bits == 0 && !x.host.big_endian);
    }
}

static void test_hostile_lengths(void **state)
{
    (void)state;
    static const struct {
        size_t kind, at;
        uint8_t value;
    } changes[] = {
        {3, 8 + 24, 5},       {3, 8 + 27, 0xff},    {3, 8 + 28, 0}, {3, 8 + 31, 0xff},
        {6, 8 + 32, 0},       {6, 8 + 33, 0xff},    {6, 8 + 34, 0}, {6, 8 + 34, 4},
        {6, 8 + 36 + 4, 'x'}, {6, 8 + 36 + 9, 'x'}, {7, 8 + 18, 4}, {7, 8 + 20, 0},
        {7, 8 + 22 + 1, 'x'}, {1, 8 + 4, 16},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint8_t bytes[128];
        memcpy(bytes, kinds[changes[i].kind].bytes, kinds[changes[i].kind].size);
        assert_int_not_equal(bytes[changes[i].at], changes[i].value);
        bytes[changes[i].at] = changes[i].value;
        const struct gt_etrace_packet p = packet_of(bytes);
        struct gt_error err = {0};
        assert_int_equal(kinds[changes[i].kind].get(&p, &err), GT_E_FORMAT);
    }
    /* No name is without its NUL, whatever stands before it. */
    for (int i = 0; i < 2; i++) {
        uint8_t nameless[sizeof event_bytes];
        memcpy(nameless, event_bytes, sizeof nameless);
        nameless[8 + 32] = i ? 10 : 0;
        nameless[8 + 34] = i ? 0 : 10;
        const struct gt_etrace_packet n = packet_of(nameless);
        assert_int_equal(get_event(&n, NULL), GT_E_FORMAT);
    }
    /* Lengths that wrap around to the right sum. */
    uint8_t bytes[sizeof tb_bytes];
    memcpy(bytes, tb_bytes, sizeof bytes);
    memset(bytes + 8 + 24, 0xff, 4);
    bytes[8 + 28] = 6;
    const struct gt_etrace_packet p = packet_of(bytes);
    assert_int_equal(get_tb(&p, NULL), GT_E_FORMAT);
}

/* No packet is longer than readers take; names are cut, codes and texts refused. */
static void test_greatest(void **state)
{
    (void)state;
    static uint8_t out[8 + GT_ETRACE_MAX_BODY + 100], code[GT_ETRACE_MAX_BODY];
    static char name[70000];
    struct gt_bytes_writer w;
    struct gt_etrace_tb tb = {.guest_code = code, .guest_len = GT_ETRACE_MAX_BODY - 32};
    gt_bytes_writer_init(&w, out, sizeof out);
    gt_etrace_put_tb(&w, 0, &tb);
    assert_true(!w.short_of && w.left == 100);
    tb.guest_len++;
    gt_bytes_writer_init(&w, out, sizeof out);
    gt_etrace_put_tb(&w, 0, &tb);
    assert_true(w.short_of && w.at == out);
    tb.host_len = UINT32_MAX;
    gt_bytes_writer_init(&w, out, sizeof out);
    gt_etrace_put_tb(&w, 0, &tb);
    assert_true(w.short_of);
    const struct gt_etrace_note note = {0, (const char *)code, GT_ETRACE_MAX_BODY - 7};
    gt_bytes_writer_init(&w, out, sizeof out);
    gt_etrace_put_note(&w, 0, &note);
    assert_true(w.short_of);

    memset(name, 'x', sizeof name - 1);
    struct gt_etrace_event event = {.device = name, .name = name}, got;
    gt_bytes_writer_init(&w, out, sizeof out);
    gt_etrace_put_event(&w, &event);
    assert_int_equal(w.at - out, 8 + 36 + 2 * (GT_ETRACE_NAME_MAX + 1));
    struct gt_etrace_packet p = packet_of(out);
    p.len = (uint32_t)(w.at - out - 8);
    assert_int_equal(gt_etrace_get_event(reader, &p, &got, NULL), 0);
    assert_int_equal(strlen(got.device), GT_ETRACE_NAME_MAX);
    assert_int_equal(strlen(got.name), GT_ETRACE_NAME_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),           cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_lengths),         cmocka_unit_test(test_arch),
        cmocka_unit_test(test_hostile_lengths), cmocka_unit_test(test_greatest),
    };
    struct source none = {0};
    struct gt_etrace_reader *r = NULL;
    if (gt_etrace_reader_create(source_read, &none, "made.etrace", &r, NULL) < 0)
        return 1;
    reader = r;
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    gt_etrace_reader_destroy(r);
    return status;
}

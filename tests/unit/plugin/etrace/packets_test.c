/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From executed blocks and memory accesses to the packets of a stream. */
#include "recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct gt_host_block a, b, c;

static void begin(const char *target, unsigned vcpus, const char *flags)
{
    const char *const words[] = {flags, "clock=insn", NULL};
    recording_begin(target, vcpus, 7, words);
    for (unsigned i = 0; i < MAX(vcpus, 1); i++)
        host_double.events->vcpu_init(host_double.self, i);
    host_double_nops(&a, 0x1000, 3);
    host_double_nops(&b, 0x100c, 2);
    host_double_nops(&c, 0x5000, 1);
    host_double_translate(&a);
    host_double_translate(&b);
    host_double_translate(&c);
}

static void run_some(void)
{
    host_double_run(&a, 0);
    host_double_run(&b, 0);
    host_double_run(&c, 0);
    host_double_run(&a, 0);
}

/* Queued (EXEC alone) and put at once (with MEM), with wide and narrow addresses. */
static void blocks_that_follow_each_other_are_one_entry(void **state)
{
    (void)state;
    const char *const expected = "exec 0 @0: 5 1000-1014, 1 5000-5004, 3 1000-100c\nbarrier 0\n";
    const char *const targets[] = {"aarch64", "arm"}, *const flags[] = {"flags=exec",
                                                                        "flags=exec+mem"};
    for (int i = 0; i < 4; i++) {
        begin(targets[i & 1], 0, flags[i >> 1]);
        run_some();
        const char *text = recording_end();
        assert_string_equal(strchr(text, '\n') + 1, expected);
    }
}

static void a_stream_begins_with_the_guests_architecture(void **state)
{
    (void)state;
    begin("ppc64", 0, "flags=exec");
    assert_string_equal(recording_end(), "arch 21/64 1\n");
    begin("arm", 0, "flags=exec");
    assert_string_equal(recording_end(), "arch 40/32 0\n");
}

/* More blocks than the queue holds, and more entries than a buffer. */
static void no_block_is_lost_where_queue_and_buffer_are_full(void **state)
{
    (void)state;
    enum { TIMES = 20000 };
    const char *const flags[] = {"flags=exec", "flags=exec+mem"};
    for (int k = 0; k < 2; k++) {
        begin("aarch64", 0, flags[k]);
        for (int i = 0; i < TIMES; i++)
            host_double_run(i % 2 ? &a : &c, 0);
        const char *text = recording_end();
        size_t runs = 0, packets = 0;
        for (const char *at = text; (at = strstr(at, " 3 1000-100c")); at++)
            runs++;
        for (const char *at = text; (at = strstr(at, "exec 0 @")); at++)
            packets++;
        assert_int_equal(runs, TIMES / 2);
        assert_in_range(packets, TIMES * 20 / (64 << 10), TIMES * 20 / (64 << 10) + 1);
    }
}

static void each_vcpu_has_its_own_packets_and_time(void **state)
{
    (void)state;
    begin("aarch64", 2, "flags=exec");
    host_double_run(&a, 0);
    host_double_run(&b, 1);
    host_double_run(&b, 0);
    assert_string_equal(recording_end(), "arch 183/64 0\n"
                                         "exec 0 @0: 3 1000-100c\nbarrier 0\n"
                                         "exec 1 @0: 2 100c-1014\nbarrier 1\n"
                                         "exec 0 @3: 2 100c-1014\nbarrier 0\n");
}

/* In user mode each thread is a unit of its own, whichever number QEMU gives it. */
static void a_program_counts_threads(void **state)
{
    (void)state;
    begin("aarch64", 0, "flags=exec");
    host_double_run(&a, 0);
    host_double.events->vcpu_exit(host_double.self, 0);
    host_double.events->vcpu_init(host_double.self, 0);
    host_double_run(&b, 0);
    assert_string_equal(recording_end(), "arch 183/64 0\n"
                                         "exec 0 @0: 3 1000-100c\nbarrier 0\n"
                                         "exec 1 @0: 2 100c-1014\nbarrier 1\n");
}

static void accesses_have_the_time_of_their_instruction(void **state)
{
    (void)state;
    const struct host_double_access load = {.vaddr = 0x9000, .size = 4, .value = {0x2a}};
    const struct host_double_access store = {
        .vaddr = 0x9008, .size = 8, .store = true, .value = {7}};
    begin("aarch64", 0, "flags=mem");
    host_double_run(&a, 0);
    host_double_access(&a, 0, 0, &load);
    host_double_access(&a, 0, 2, &store);
    host_double_run(&b, 0);
    host_double_access(&b, 0, 1, &load);
    assert_string_equal(recording_end(), "arch 183/64 0\n"
                                         "mem 0 @0 load 4 v9000 p9000 =2a\n"
                                         "mem 0 @2 store 8 v9008 p9008 =7\n"
                                         "mem 0 @4 load 4 v9000 p9000 =2a\n");
}

static void accesses_and_entries_are_in_order(void **state)
{
    (void)state;
    const struct host_double_access load = {.vaddr = 0x9000, .size = 4};
    begin("aarch64", 0, "flags=exec+mem");
    host_double_run(&a, 0);
    host_double_access(&a, 0, 1, &load);
    host_double_access(&a, 0, 1, &load);
    host_double_run(&c, 0);
    assert_string_equal(recording_end(), "arch 183/64 0\n"
                                         "exec 0 @0: 3 1000-100c\nbarrier 0\n"
                                         "mem 0 @1 load 4 v9000 p9000 =0\n"
                                         "mem 0 @1 load 4 v9000 p9000 =0\n"
                                         "exec 0 @3: 1 5000-5004\nbarrier 0\n");
}

static void sixteen_bytes_are_two_halves(void **state)
{
    (void)state;
    struct host_double_access load = {.vaddr = 0x9000, .size = 16, .value = {1, 2}};
    begin("aarch64", 0, "flags=mem");
    host_double_run(&a, 0);
    host_double_access(&a, 0, 0, &load);
    load.big_endian = true;
    host_double_access(&a, 0, 0, &load);
    assert_string_equal(recording_end(), "arch 183/64 0\n"
                                         "mem 0 @0 load 8 v9000 p9000 =1\n"
                                         "mem 0 @0 load 8 v9008 p9008 =2\n"
                                         "mem 0 @0 load 8 v9000 p9000 =2\n"
                                         "mem 0 @0 load 8 v9008 p9008 =1\n");
}

/* The second access has the value of the first one as its previous value; RAM is no event. */
static void devices_are_events(void **state)
{
    (void)state;
    const struct host_double_access store = {.vaddr = 0x10, .size = 4, .store = true, .value = {5}};
    const struct host_double_access load = {.vaddr = 0x10, .size = 4, .value = {6}};
    begin("aarch64", 1, "flags=gpio");
    host_double.has_place = true;
    host_double_run(&a, 0);
    host_double.target =
        (struct gt_host_mem_target){.physical = 0x80, .device = true, .name = "uart"};
    host_double_access(&a, 0, 0, &store);
    host_double.target.name = "anon12ab34cd";
    host_double_access(&a, 0, 0, &load);
    host_double.target = (struct gt_host_mem_target){.physical = 0x90};
    host_double_access(&a, 0, 0, &load);
    assert_string_equal(recording_end(), "arch 183/64 0\n"
                                         "event 0 @0 uart write@0x80: 0 -> 5\n"
                                         "event 0 @0 device read@0x80: 5 -> 6\n");
}

/* The block is left after its second instruction. */
static void an_exception_shortens_the_newest_entry(void **state)
{
    (void)state;
    begin("aarch64", 1, "flags=exec+gpio");
    host_double_run(&c, 0);
    host_double_run(&a, 0);
    host_double.events->discontinuity(host_double.self, 0, GT_DISCON_EXCEPTION, 0x1004, 0x5000);
    host_double_run(&c, 0);
    host_double.events->discontinuity(host_double.self, 0, GT_DISCON_INTERRUPT, 0x5004, 0x1000);
    assert_string_equal(recording_end(), "arch 183/64 0\n"
                                         "exec 0 @0: 1 5000-5004, 2 1000-1008\nbarrier 0\n"
                                         "event 0 @3 cpu0 exception: 1004 -> 5000\n"
                                         "exec 0 @3: 1 5000-5004\nbarrier 0\n"
                                         "event 0 @3 cpu0 interrupt: 5004 -> 1000\n");
}

/* QEMU runs an instruction that accessed a device again, alone, and reports the access only. */
static void a_single_access_ends_its_block_early(void **state)
{
    (void)state;
    static struct gt_host_block single;
    const struct host_double_access load = {.vaddr = 0x10, .size = 4};
    begin("aarch64", 1, "flags=exec");
    host_double_nops(&single, 0x1004, 1);
    host_double_translate(&single);
    host_double_run(&a, 0);
    host_double_access(&single, 0, 0, &load);
    host_double_run(&b, 0);
    assert_string_equal(recording_end(),
                        "arch 183/64 0\nexec 0 @0: 2 1000-1008, 2 100c-1014\nbarrier 0\n");
}

static void counts_are_events_at_the_end(void **state)
{
    (void)state;
    for (int abi = 1; abi <= 7; abi += 6) {
        const char *const words[] = {"flags=coverage", NULL};
        recording_begin("aarch64", 0, abi, words);
        host_double.events->vcpu_init(host_double.self, 0);
        host_double_translate(&a);
        host_double_translate(&b);
        host_double_translate(&c);
        for (int i = 0; i < 5; i++)
            host_double_run(&a, 0);
        host_double_run(&c, 0);
        assert_string_equal(recording_end(), "arch 183/64 0\n"
                                             "event 0 @0 coverage 0x1000-0x100c: 0 -> 5\n"
                                             "event 0 @0 coverage 0x5000-0x5004: 0 -> 1\n");
    }
}

/* The enclosing block ran three times and ended early once, after its second instruction. */
static void an_early_exit_moves_a_count(void **state)
{
    (void)state;
    static struct gt_host_block single;
    const struct host_double_access load = {.vaddr = 0x10, .size = 4};
    begin("aarch64", 1, "flags=coverage");
    host_double_nops(&single, 0x1004, 1);
    host_double_translate(&single);
    for (int i = 0; i < 3; i++)
        host_double_run(&a, 0);
    host_double_access(&single, 0, 0, &load);
    host_double_access(&single, 0, 0, &load);
    assert_string_equal(recording_end(), "arch 183/64 0\n"
                                         "event 0 @0 coverage 0x1000-0x100c: 0 -> 2\n"
                                         "event 0 @0 coverage 0x1000-0x1008: 0 -> 1\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, recording_setup, recording_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocks_that_follow_each_other_are_one_entry),
        TEST(a_stream_begins_with_the_guests_architecture),
        TEST(no_block_is_lost_where_queue_and_buffer_are_full),
        TEST(each_vcpu_has_its_own_packets_and_time),
        TEST(a_program_counts_threads),
        TEST(accesses_have_the_time_of_their_instruction),
        TEST(accesses_and_entries_are_in_order),
        TEST(sixteen_bytes_are_two_halves),
        TEST(devices_are_events),
        TEST(an_exception_shortens_the_newest_entry),
        TEST(a_single_access_ends_its_block_early),
        TEST(counts_are_events_at_the_end),
        TEST(an_early_exit_moves_a_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

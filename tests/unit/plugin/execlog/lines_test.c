/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From executed instructions to lines, in each form: all of them say the same. */
#include "logging.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct gt_host_block a, b;

#define LINE_A0 "0, 0x1000, 0x1000, \"nop\""
#define LINE_A1 "0, 0x1004, 0x1004, \"nop\""
#define LINE_A2 "0, 0x1008, 0x1008, \"nop\""
#define LINE_B0 "0, 0x2000, 0x2000, \"nop\""

static void begin(enum log_form form, unsigned vcpus, int abi, const char *word)
{
    const char *const words[] = {word, NULL};
    logging_begin(form, "aarch64", vcpus, abi, words);
    host_double_nops(&a, 0x1000, 3);
    host_double_nops(&b, 0x2000, 1);
    host_double_translate(&a);
    host_double_translate(&b);
}

/* Runs `play` in each form, with score (ABI 7) and without (ABI 1). */
static void in_each_form(unsigned vcpus, const char *word, void (*play)(void), const char *expected)
{
    const bool empty = strcmp(expected, "\n") == 0; /* an empty line, before QEMU 11.1 */
    for (enum log_form form = LOG_QEMU; form < LOG_FORMS; form++)
        for (int abi = 1; abi <= 7; abi += 6) {
            begin(form, vcpus, abi, word);
            play();
            assert_string_equal(logging_end(), empty && abi == 7 ? "" : expected);
        }
}

static void play_a_b(void)
{
    host_double_run(&a, 0);
    host_double_run(&b, 0);
}

static void each_instruction_is_a_line(void **state)
{
    (void)state;
    in_each_form(0, "every=1", play_a_b, LINE_A0 "\n" LINE_A1 "\n" LINE_A2 "\n" LINE_B0 "\n");
}

/* The third instruction faults before it begins: its line is not logged. */
static void play_a_fault(void)
{
    host_double_enter(&a, 0);
    host_double_step(&a, 0, 0);
    host_double_step(&a, 0, 1);
    host_double_run(&b, 0);
}

static void play_an_early_fault(void)
{
    host_double_enter(&a, 0);
    host_double_step(&a, 0, 0);
    host_double_run(&b, 0);
}

static void a_block_that_faults_has_fewer_lines(void **state)
{
    (void)state;
    in_each_form(0, "every=1", play_an_early_fault, LINE_A0 "\n" LINE_B0 "\n");
    in_each_form(0, "every=1", play_a_fault, LINE_A0 "\n" LINE_A1 "\n" LINE_B0 "\n");
}

static void play_accesses(void)
{
    const struct host_double_access load = {.vaddr = 0x90, .size = 8};
    const struct host_double_access store = {.vaddr = 0x98, .size = 8, .store = true};
    host_double_enter(&a, 0);
    host_double_step(&a, 0, 0);
    host_double_access(&a, 0, 0, &load);
    host_double_access(&a, 0, 0, &store);
    host_double_step(&a, 0, 1);
    host_double_step(&a, 0, 2);
    host_double_access(&a, 0, 2, &load);
}

static void accesses_follow_their_line(void **state)
{
    (void)state;
    in_each_form(0, "every=1", play_accesses,
                 LINE_A0 ", load, 0x00000090, store, 0x00000098\n" LINE_A1 "\n" LINE_A2
                         ", load, 0x00000090\n");
}

static void play_devices(void)
{
    host_double.has_place = true;
    host_double.target =
        (struct gt_host_mem_target){.physical = 0x12345, .device = true, .name = "uart"};
    play_accesses();
}

static void a_machines_accesses_have_a_region(void **state)
{
    (void)state;
    in_each_form(1, "every=1", play_devices,
                 LINE_A0 ", load, 0x00012345, uart, store, 0x00012345, uart\n" LINE_A1 "\n" LINE_A2
                         ", load, 0x00012345, uart\n");
}

static void play_vcpu_1(void)
{
    host_double_run(&a, 1);
    host_double_run(&a, 1);
    host_double_run(&b, 0);
}

static void another_vcpu_has_its_number(void **state)
{
    (void)state;
    const char *const lines = "1, 0x1000, 0x1000, \"nop\"\n1, 0x1004, 0x1004, \"nop\"\n"
                              "1, 0x1008, 0x1008, \"nop\"\n";
    char *expected = g_strdup_printf("%s%s" LINE_B0 "\n", lines, lines);
    begin(LOG_TEXT, 2, 7, "every=1");
    play_vcpu_1();
    /* the newest line of vCPU 1 waits for the end */
    const char *text = logging_end(), *last = strstr(text, LINE_B0 "\n");
    assert_non_null(last);
    assert_int_equal(strlen(text), strlen(expected));
    assert_string_equal(last, LINE_B0 "\n1, 0x1008, 0x1008, \"nop\"\n");
    g_free(expected);
}

static void play_twice(void)
{
    play_a_b();
    play_a_b();
}

static void every_nth_line_is_logged(void **state)
{
    (void)state;
    in_each_form(0, "every=3", play_twice, LINE_A0 "\n" LINE_B0 "\n" LINE_A2 "\n");
    in_each_form(0, "every=2", play_twice, LINE_A0 "\n" LINE_A2 "\n" LINE_A0 "\n" LINE_A2 "\n");
    in_each_form(0, "every=2", play_accesses,
                 LINE_A0 ", load, 0x00000090, store, 0x00000098\n" LINE_A2 ", load, 0x00000090\n");
    in_each_form(0, "every=3", play_accesses, LINE_A0 ", load, 0x00000090, store, 0x00000098\n");
}

static void the_last_lines_are_logged(void **state)
{
    (void)state;
    in_each_form(0, "last=2", play_twice, LINE_A2 "\n" LINE_B0 "\n");
}

static void start_and_stop_choose_lines(void **state)
{
    (void)state;
    in_each_form(0, "start=0x1008", play_a_b, LINE_A2 "\n" LINE_B0 "\n");
    in_each_form(0, "start=0x1008:2", play_twice, LINE_A2 "\n" LINE_B0 "\n");
    in_each_form(0, "stop=0x1008", play_twice, LINE_A0 "\n" LINE_A1 "\n");
}

static void play_nothing(void)
{
}

static void without_lines_the_end_logs_an_empty_one(void **state)
{
    (void)state;
    in_each_form(0, "every=1", play_nothing, "\n");
}

/* QEMU's log gets all whole lines when the guest waits; the newest one may get more. */
static void a_waiting_guest_hands_over(void **state)
{
    (void)state;
    begin(LOG_QEMU, 0, 7, "every=1");
    play_a_b();
    host_double.events->syscall(host_double.self, 0, 1, (const uint64_t[8]){0});
    assert_string_equal(host_double.log->str, LINE_A0 "\n" LINE_A1 "\n" LINE_A2 "\n");
    host_double.events->vcpu_exit(host_double.self, 0);
    logging_end();
}

static void a_line_without_end_is_cut(void **state)
{
    (void)state;
    const struct host_double_access load = {.vaddr = 0x90, .size = 8};
    begin(LOG_TEXT, 0, 7, "every=1");
    host_double_run(&b, 0);
    for (int i = 0; i < 20000; i++)
        host_double_access(&b, 0, 0, &load);
    host_double_run(&b, 0);
    const char *text = logging_end(), *second = strchr(text, '\n') + 1;
    assert_in_range(second - text, GT_EXLOG_BUFFER - 100, GT_EXLOG_BUFFER);
    assert_string_equal(second, LINE_B0 "\n");
    const char *messages = logging_messages(), *end = strchr(messages, '\n');
    assert_ptr_equal(strstr(messages, "a line of more than 256 KiB is cut: " LINE_B0), messages);
    assert_string_equal(end, "\n");
}

static void lines_fill_several_buffers(void **state)
{
    (void)state;
    enum { TIMES = 20000 };
    for (enum log_form form = LOG_QEMU; form < LOG_FORMS; form++) {
        begin(form, 0, 7, "every=1");
        for (int i = 0; i < TIMES; i++)
            host_double_run(i % 2 ? &a : &b, 0);
        const char *text = logging_end();
        size_t lines = 0;
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            lines++;
        assert_int_equal(lines, TIMES * 2);
        assert_int_equal(strlen(text), lines * strlen(LINE_A0 "\n"));
    }
}

/* Moved score keep how many lines have begun. */
static void scoreboard_may_move(void **state)
{
    (void)state;
    begin(LOG_TEXT, 0, 7, "every=1");
    host_double_enter(&a, 0);
    host_double_step(&a, 0, 0);
    host_double_step(&a, 0, 1);
    host_double_move_scoreboard();
    host_double_run(&b, 0);
    assert_string_equal(logging_end(), LINE_A0 "\n" LINE_A1 "\n" LINE_B0 "\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, logging_setup, logging_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_instruction_is_a_line),
        TEST(a_block_that_faults_has_fewer_lines),
        TEST(accesses_follow_their_line),
        TEST(a_machines_accesses_have_a_region),
        TEST(another_vcpu_has_its_number),
        TEST(every_nth_line_is_logged),
        TEST(the_last_lines_are_logged),
        TEST(start_and_stop_choose_lines),
        TEST(without_lines_the_end_logs_an_empty_one),
        TEST(a_waiting_guest_hands_over),
        TEST(a_line_without_end_is_cut),
        TEST(lines_fill_several_buffers),
        TEST(scoreboard_may_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder is a value: two of them in one process, and on one thread, do not meet. */
#include "recording.h"

#include "../scratch.h"
#include "etrace/plugin/buffer.h"
#include "etrace/plugin/finish.h"
#include "etrace/plugin/packets.h"
#include "etrace/plugin/recorder.h"

static struct gt_etrace one, two;

static void begin(struct gt_etrace *e, const char *target, const char *file)
{
    const struct gt_host_info host = {.target = target, .system = true, .max_vcpus = 1, .abi = 7};
    char *path = g_strdup_printf("%s/%s", scratch_folder, file);
    const struct gt_packet_sink_options options = {.target = path,
                                                   .buffer_size = GT_ETRACE_BUFFER,
                                                   .limit = 1 << 20,
                                                   .head = gt_etrace_put_head,
                                                   .mark = gt_etrace_put_dropped,
                                                   .provisional = gt_etrace_copy_tail,
                                                   .tick = gt_etrace_on_tick,
                                                   .self = e};
    assert_int_equal(gt_etrace_init(e, &host, NULL), 0);
    e->flags = GT_ETRACE_F_EXEC | GT_ETRACE_F_MEM;
    assert_int_equal(gt_packet_sink_create(&options, &e->sink, NULL), 0);
    gt_etrace_on_vcpu_init(e, 0);
    g_free(path);
}

static void put_note(struct gt_etrace *e, const char *text)
{
    struct gt_etrace_buffer *buf = gt_etrace_put_begin(e, &e->vcpus[0], 100);
    assert_non_null(buf);
    gt_etrace_put_note(&buf->w, 0,
                       &(struct gt_etrace_note){.text = text, .len = (uint32_t)strlen(text)});
    gt_etrace_put_end(buf);
}

static void put_entry(struct gt_etrace *e, uint64_t start, uint64_t end)
{
    struct gt_etrace_vcpu *v = &e->vcpus[0];
    uint64_t until = v->time + (end - start) / 4;
    if (!gt_etrace_run_add(&v->run, start, end, v->time, until))
        gt_etrace_put_entry(e, v, start, end, v->time, until);
    v->time = until;
}

static void end(struct gt_etrace *e, const char *file, const char *expected)
{
    size_t n;
    gt_etrace_on_exit(e);
    gt_etrace_on_exit(e);
    assert_null(gt_etrace_put_begin(e, &e->vcpus[0], 100));
    gt_etrace_fini(e);
    char *bytes = take_file(file, &n);
    GString *text = packets_as_text(bytes, n);
    assert_string_equal(text->str, expected);
    g_string_free(text, TRUE);
    g_free(bytes);
}

static void two_recorders_on_one_thread(void **state)
{
    (void)state;
    host_double_start("aarch64", 1, 7);
    begin(&one, "aarch64", "one");
    begin(&two, "arm", "two");
    put_entry(&one, 0x1000, 0x1008);
    put_note(&two, "b\n");
    put_entry(&one, 0x1008, 0x100c);
    put_entry(&two, 0x2000, 0x2004);
    put_note(&one, "a\n");
    assert_ptr_not_equal(gt_etrace_own_buffer(&one), gt_etrace_own_buffer(&two));
    assert_ptr_equal(gt_etrace_current_vcpu(&one), &one.vcpus[0]);
    assert_ptr_equal(gt_etrace_current_vcpu(&two), &two.vcpus[0]);
    end(&one, "one", "arch 183/64 0\nexec 0 @0: 3 1000-100c\nbarrier 0\nnote 0 @0 \"a\n\"\n");
    put_note(&two, "c\n");
    end(&two, "two",
        "arch 40/32 0\nnote 0 @0 \"b\n\"\nexec 0 @0: 1 2000-2004\nbarrier 0\nnote 0 @0 \"c\n\"\n");
    host_double_stop();
}

/* The copy that a file ends with for now has what the buffer holds, as whole packets. */
static void a_tail_is_what_the_buffer_holds(void **state)
{
    (void)state;
    size_t n = 0;
    host_double_start("aarch64", 1, 7);
    begin(&one, "aarch64", "one");
    put_note(&one, "a\n");
    put_entry(&one, 0x1000, 0x1008);
    put_entry(&one, 0x3000, 0x3004);
    uint8_t head[GT_PACKET_SINK_TEXT];
    GString *stream = g_string_new_len((char *)head, (gssize)gt_etrace_put_head(&one, head));
    const uint8_t *tail = gt_etrace_copy_tail(&one, &n);
    assert_non_null(tail);
    g_string_append_len(stream, (const char *)tail, (gssize)n);
    GString *text = packets_as_text(stream->str, stream->len);
    /* its thread may be extending the newest entry */
    assert_string_equal(text->str,
                        "arch 183/64 0\nnote 0 @0 \"a\n\"\nexec 0 @0: 2 1000-1008\nbarrier 0\n");
    g_string_free(text, TRUE);
    g_string_free(stream, TRUE);
    pthread_mutex_lock(&one.lock);
    assert_null(gt_etrace_copy_tail(&one, &n));
    pthread_mutex_unlock(&one.lock);
    end(&one, "one",
        "arch 183/64 0\nnote 0 @0 \"a\n\"\nexec 0 @0: 2 1000-1008, 1 3000-3004\nbarrier 0\n");
    host_double_stop();
}

static void counters_are_given_out_again(void **state)
{
    (void)state;
    host_double_start("aarch64", 1, 7);
    begin(&one, "aarch64", "one");
    uint32_t counter = gt_etrace_counter_new(&one), other = gt_etrace_counter_new(&one);
    uint64_t *number = gt_host_counters_find(gt_etrace_counter_set(&one, counter), 0);
    number[counter - 1] = 5;
    assert_int_equal(gt_etrace_counter_value(&one, counter, 0), 5);
    assert_int_equal(gt_etrace_counter_value(&one, other, 0), 0);
    assert_int_equal(gt_etrace_counter_end(&one, counter), 5);
    assert_int_equal(gt_etrace_counter_new(&one), counter);
    assert_int_equal(gt_etrace_counter_value(&one, counter, 0), 0);
    for (uint32_t i = 3; i <= GT_ETRACE_COUNTERS + 1; i++)
        assert_int_equal(gt_etrace_counter_new(&one), i);
    assert_ptr_not_equal(gt_etrace_counter_set(&one, GT_ETRACE_COUNTERS + 1),
                         gt_etrace_counter_set(&one, counter));
    end(&one, "one", "arch 183/64 0\n");
    host_double_stop();
}

static void targets_are_known_by_name(void **state)
{
    (void)state;
    struct gt_etrace_arch arch;
    assert_true(gt_etrace_arch_of("mips", &arch));
    assert_int_equal(arch.guest.bits, 32);
    assert_int_equal(arch.guest.big_endian, 1);
    assert_int_equal(arch.host.bits, 8 * sizeof(void *));
    assert_false(gt_etrace_arch_of("mip", &arch));
    assert_int_equal(gt_etrace_longest_insn(183), 4);
    assert_int_equal(gt_etrace_longest_insn(62), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch, drop_scratch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_recorders_on_one_thread),
        TEST(a_tail_is_what_the_buffer_holds),
        TEST(counters_are_given_out_again),
        TEST(targets_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

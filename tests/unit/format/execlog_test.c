/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the encoder was told reads as the text form of it, to the byte. */
#include "execlog_util.h"

static void check_log(struct world *w)
{
    struct gt_text got = {0};
    struct gt_error err = {0};
    struct bytes_source s = {(uint8_t *)w->log.data, w->log.len, .piece = 10007};
    int status = read_all(&s, w->values, &got, &err);
    if (status)
        fail_msg("status %d: %s", status, err.text);
    if (got.len != w->text.len || memcmp(got.data, w->text.data, got.len) != 0) {
        size_t at = 0;
        while (at < got.len && at < w->text.len && got.data[at] == w->text.data[at])
            at++;
        size_t from = at < 100 ? 0 : at - 100;
        fail_msg("differs at byte %zu of %zu and %zu:\n--- got\n%.200s\n--- expected\n%.200s", at,
                 got.len, w->text.len, got.data + from, w->text.data + from);
    }
    gt_text_free(&got);
}

static void run_world(uint64_t seed, size_t buffer, unsigned vcpus, bool insns, bool values)
{
    struct world w;
    world_make(&w, seed, buffer, values);
    unsigned before = 0;
    for (unsigned i = 0; i < 6000; i++) {
        unsigned v = vcpus > 1 && roll(&w, 30) == 0 ? (unsigned)roll(&w, vcpus) : before;
        if (v != before) /* on one thread: lines in the order in which they were completed */
            gt_execlog_cut(&w.vcpus[before].stream);
        before = v;
        world_run(&w, &w.vcpus[v], insns);
    }
    gt_execlog_cut(&w.vcpus[before].stream);
    world_end(&w);
    assert_true(w.n_cuts > 4);
    check_log(&w);
    world_free(&w);
}

static void test_one_vcpu(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; seed++)
        for (int kind = 0; kind < 4; kind++)
            run_world(seed, WORLD_BUFFER, 1, kind & 1, kind & 2);
}

static void test_several(void **state)
{
    (void)state;
    for (uint64_t seed = 10; seed < 13; seed++)
        for (int kind = 0; kind < 4; kind++)
            run_world(seed, WORLD_BUFFER, WORLD_VCPUS, kind & 1, kind & 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_vcpu),
        cmocka_unit_test(test_several),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

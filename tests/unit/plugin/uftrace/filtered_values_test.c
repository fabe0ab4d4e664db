/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of open calls under filters, against a table with a place for each depth; and the bound
 * of their memory. */
#include "calls/recorder/select/filtered_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTHS = 300, STEPS = 200000 };

static struct {
    uint64_t first; /* 0: the open call of that depth has no arguments */
    uint32_t n;
} model[DEPTHS];

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static void close_from(uint32_t depth)
{
    for (uint32_t i = depth; i < DEPTHS; i++)
        model[i].first = 0;
}

static void check(const struct gt_select_filtered_values *v, uint32_t depth)
{
    const struct gt_select_filtered_call *call = gt_select_filtered_values_find(v, depth);
    if (depth >= DEPTHS || !model[depth].first) {
        assert_null(call);
        return;
    }
    assert_non_null(call);
    assert_int_equal(call->depth, depth);
    assert_int_equal(call->n, model[depth].n);
    for (uint32_t i = 0; i < call->n; i++)
        assert_true(v->words[call->at + i] == model[depth].first + i);
}

static void push(struct gt_select_filtered_values *v, uint32_t depth, uint64_t first, uint32_t n)
{
    static struct gt_recorder_argument_slot slot;
    slot.n = n;
    for (uint32_t i = 0; i < n; i++)
        slot.words[i] = first + i;
    gt_select_filtered_values_push(v, depth, &slot);
}

static void calls_and_returns(void **state)
{
    struct gt_select_filtered_values v = {0};
    (void)state;
    memset(model, 0, sizeof model);
    check(&v, 0);
    for (uint64_t step = 1, depth = 0; step < STEPS; step++) {
        uint32_t at = (uint32_t)depth, n = random_below(40);
        if (random_below(5) < 2) { /* some return, or are left by a longjmp */
            depth -= random_below(20) ? depth > 0 : random_below(at + 1);
            gt_select_filtered_values_trim(&v, (uint32_t)depth);
            close_from((uint32_t)depth);
        } else if (depth + 1 < DEPTHS) { /* a call; most have arguments */
            close_from(at);
            gt_select_filtered_values_trim(&v, at);
            if (random_below(4)) {
                push(&v, at, step * 100, n);
                model[at].first = step * 100;
                model[at].n = n;
            }
            depth++;
        }
        check(&v, random_below(DEPTHS + 2));
        check(&v, at);
    }
    for (uint32_t i = 0; i < DEPTHS; i++)
        check(&v, i);
    assert_int_equal(v.dropped, 0);
    gt_select_filtered_values_trim(&v, 0);
    assert_int_equal(v.used, 0);
    gt_select_filtered_values_free(&v);
}

/* A call at a depth takes the place of those at it and below, without a return between. */
static void push_ends_others(void **state)
{
    struct gt_select_filtered_values v = {0};
    (void)state;
    memset(model, 0, sizeof model);
    for (uint32_t depth = 0; depth < 5; depth++)
        push(&v, depth * 10, 7, 3);
    push(&v, 20, 100, 2);
    model[0] = model[10] = (__typeof__(model[0])){7, 3};
    model[20] = (__typeof__(model[0])){100, 2};
    for (uint32_t i = 0; i < DEPTHS; i++)
        check(&v, i);
    assert_int_equal(v.used, 8);
    gt_select_filtered_values_free(&v);
}

/* A recursion without end: the calls beyond have none, those before keep theirs, and once they have
 * returned there is room again. */
static void bounded(void **state)
{
    struct gt_select_filtered_values v = {0};
    const uint32_t each = 64, most = GT_FILTERED_VALUES_MOST / each;
    (void)state;
    for (uint32_t depth = 0; depth < most + 10; depth++)
        push(&v, depth, depth + 1, each);
    assert_int_equal(v.dropped, 10);
    assert_true(v.used <= GT_FILTERED_VALUES_MOST && v.room_words <= GT_FILTERED_VALUES_MOST);
    assert_non_null(gt_select_filtered_values_find(&v, most - 1));
    assert_null(gt_select_filtered_values_find(&v, most));
    assert_true(v.words[gt_select_filtered_values_find(&v, most - 1)->at] == most);
    gt_select_filtered_values_trim(&v, most - 3);
    push(&v, most - 3, 5, each);
    assert_true(v.words[gt_select_filtered_values_find(&v, most - 3)->at] == 5);
    assert_null(gt_select_filtered_values_find(&v, most - 2));
    assert_int_equal(v.dropped, 10);
    gt_select_filtered_values_free(&v);
    assert_null(gt_select_filtered_values_find(&v, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_and_returns),
                                       cmocka_unit_test(push_ends_others),
                                       cmocka_unit_test(bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

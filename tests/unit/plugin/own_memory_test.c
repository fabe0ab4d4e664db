/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads of the process's own memory, also by forked processes: each has its own. */
#include "qemu/support/own_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096 };

static char letter = 'a';

static char read_letter(void)
{
    char c = 0;
    return gt_support_own_memory_read((uint64_t)(uintptr_t)&letter, &c, 1) == 0 ? c : 0;
}

/* The child's exit status is 0 if it reads what it has written. */
static int forked(char now)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        letter = now;
        _exit(read_letter() == now && (now != 'b' || forked('c') == 0) ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_forked(void **state)
{
    (void)state;
    assert_int_equal(read_letter(), 'a');
    assert_int_equal(forked('b'), 0); /* and that one's child */
    assert_int_equal(read_letter(), 'a');
}

static void test_missing(void **state)
{
    (void)state;
    char out[16],
        *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    uint64_t end = (uint64_t)(uintptr_t)pages + PAGE;
    memcpy(pages + PAGE - 8, "12345678", 8);
    assert_int_equal(munmap(pages + PAGE, PAGE), 0);
    assert_int_equal(gt_support_own_memory_read(end - 8, out, 8), 0);
    assert_memory_equal(out, "12345678", 8);
    assert_int_equal(gt_support_own_memory_read(end - 8, out, 16), EFAULT); /* a part is there */
    assert_int_equal(gt_support_own_memory_read(end, out, 8), EFAULT);
    assert_int_equal(gt_support_own_memory_read(0, out, 8), EFAULT);
    munmap(pages, PAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forked),
                                       cmocka_unit_test(test_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel says of processes: a child that lives, and one that has ended. */
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void test_child(void **state)
{
    (void)state;
    struct gt_file_process_stat own, child;
    int hold[2];
    siginfo_t info;
    assert_int_equal(pipe(hold), 0);
    assert_int_equal(prctl(PR_SET_NAME, ") X 1 (a) Z"), 0); /* the child's, too */
    assert_true(gt_file_process_stat((unsigned)getpid(), &own));
    assert_int_equal(own.state, 'R');
    assert_int_equal(own.parent, getppid());
    pid_t pid = fork();
    if (pid == 0) {
        char c;
        close(hold[1]);
        _exit(read(hold[0], &c, 1) == 0 ? 0 : 1);
    }
    assert_true(gt_file_process_stat((unsigned)pid, &child));
    assert_true(child.state == 'R' || child.state == 'S');
    assert_int_equal(child.parent, getpid());
    assert_true(child.began >= own.began);
    close(hold[1]);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(gt_file_process_stat((unsigned)pid, &child));
    assert_int_equal(child.state, 'Z');
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_false(gt_file_process_stat((unsigned)pid, &child));
    assert_int_equal(child.parent, 0);
    close(hold[0]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_child)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

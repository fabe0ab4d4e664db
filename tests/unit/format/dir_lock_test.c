/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who writes a recording: several processes at one lock, and pools of some that live and some that
 * do not. */
#include "compact_folder.h"
#include "recording/texts/dir_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pool(unsigned pid, long age)
{
    char name[128];
    struct timespec t[2];
    snprintf(name, sizeof name, "%s/.guesttrace-%u.ring", dir, pid);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    clock_gettime(CLOCK_REALTIME, &t[0]);
    t[0].tv_sec -= age;
    t[1] = t[0];
    assert_int_equal(futimens(fd, t), 0);
    close(fd);
}

static void test_shared(void **state)
{
    (void)state;
    int a, b, c;
    assert_false(gt_recording_dir_lock_is_there(dir));
    assert_int_equal(gt_recording_dir_lock_alone(dir, "r", &a, &err), GT_E_NOT_FOUND);
    assert_int_equal(gt_recording_dir_lock_share(dir, &a, &err), GT_E_NOT_FOUND);
    assert_int_equal(gt_recording_dir_lock_make(dir, "r", &a, &err), 0);
    assert_int_equal(gt_recording_dir_lock_share(dir, &b, &err), 0);
    assert_int_equal(gt_recording_dir_lock_make(dir, "r", &c, &err), GT_E_BUSY);
    assert_int_equal(gt_recording_dir_lock_alone(dir, "r", &c, &err), GT_E_BUSY);
    assert_non_null(strstr(err.text, "r: another process records"));
    assert_int_equal(c, -1);
    assert_false(gt_recording_dir_lock_is_last(dir, a)); /* and has it no more */
    assert_true(gt_recording_dir_lock_is_last(dir, b));
    gt_recording_dir_lock_remove(dir);
    assert_false(gt_recording_dir_lock_is_there(dir));
    close(a);
    close(b);
}

/* One that nobody holds is replaced; one that is removed while somebody waits for it is none. */
static void test_left(void **state)
{
    (void)state;
    int a, b;
    assert_int_equal(gt_recording_dir_lock_make(dir, "r", &a, &err), 0);
    close(a);
    assert_int_equal(gt_recording_dir_lock_make(dir, "r", &a, &err), 0);
    assert_true(gt_recording_dir_lock_is_last(dir, a));
    int go[2];
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        close(a); /* else it holds the lock itself */
        (void)!write(go[1], "", 1);
        _exit(gt_recording_dir_lock_share(dir, &b, NULL) == GT_E_NOT_FOUND ? 0 : 1);
    }
    char c;
    int status;
    assert_int_equal(read(go[0], &c, 1), 1);
    gt_recording_dir_lock_remove(dir);
    close(a);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(go[0]);
    close(go[1]);
}

/* A process that replaces itself has a pool and no lock; one of the same number that began later
 * is another one, and a dead one is none. */
static void test_pools(void **state)
{
    (void)state;
    int a, status;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(gt_recording_dir_lock_make(dir, "r", &a, &err), 0);
    close(a);
    pool((unsigned)child, 0);
    assert_true(gt_recording_dir_lock_has_pool(dir));
    assert_int_equal(gt_recording_dir_lock_alone(dir, "r", &a, &err), GT_E_BUSY);
    assert_int_equal(gt_recording_dir_lock_make(dir, "r", &a, &err), GT_E_BUSY);
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0); /* a zombie */
    assert_int_equal(gt_recording_dir_lock_alone(dir, "r", &a, &err), 0);
    close(a);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(gt_recording_dir_lock_alone(dir, "r", &a, &err), 0);
    close(a);
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    pool((unsigned)child, 3600);
    assert_int_equal(gt_recording_dir_lock_alone(dir, "r", &a, &err), 0);
    close(a);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shared, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_left, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_pools, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

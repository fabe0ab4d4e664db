/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For the guest programs: functions that stay functions, and work that cannot be left out. */
#ifndef TESTS_GUEST_GUEST_H
#define TESTS_GUEST_GUEST_H

#define F __attribute__((noinline, noclone, used))

static volatile int work_done;
#define WORK() (work_done = work_done + 1)

#endif

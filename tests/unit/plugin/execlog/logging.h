/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A log of the execlog plugin on the host double: a test begins it with the plugin's arguments,
 * plays the guest, and gets the log as text, whatever its form.
 */
#ifndef TESTS_EXECLOG_LOGGING_H
#define TESTS_EXECLOG_LOGGING_H

#include "execlog/plugin/recorder.h"
#include "host_double.h"

enum log_form { LOG_QEMU, LOG_TEXT, LOG_BINARY, LOG_FORMS };

/* Loads the plugin on a new host with the arguments, up to a NULL, and those of the form; vCPU 0
 * has begun, and a machine's others. */
void logging_begin(enum log_form form, const char *target, unsigned vcpus, int abi,
                   const char *const *words);
/* The same, before any vCPU has begun. */
void logging_load(enum log_form form, const char *target, unsigned vcpus, int abi,
                  const char *const *words);
/* Ends the guest, and frees the plugin and the host. Log and messages are valid until the next
 * call. */
const char *logging_end(void);
const char *logging_messages(void);

/* For cmocka: make and drop the folder that the log is written to. */
int logging_setup(void **state);
int logging_teardown(void **state);

#endif

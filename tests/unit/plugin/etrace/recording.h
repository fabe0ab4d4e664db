/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of the etrace plugin on the host double: a test begins it with the plugin's
 * arguments, plays the guest, and gets the stream's packets as text:
 *
 *   arch 183/64 0                         machine/bits, big-endian
 *   exec 0 @5: 3 1000-100c, 1 200c-2010   unit, start time, each entry's duration and range
 *   barrier 0
 *   mem 0 @5 store 4 v1000 p2000 =2a      unit, time, size, virtual, physical, value
 *   event 0 @5 uart write@0x9000: 1 -> 2  unit, time, device, name, previous value, value
 *   note 0 @5 "text"
 *   tb 0 v1000 p1000 8                    unit, addresses, bytes of code
 */
#ifndef TESTS_ETRACE_RECORDING_H
#define TESTS_ETRACE_RECORDING_H

#include "etrace/plugin/recorder.h"
#include "host_double.h"

/* Loads the plugin on a new host with the arguments, up to a NULL, and output=. */
void recording_begin(const char *target, unsigned vcpus, int abi, const char *const *words);
/* Ends the guest, and frees the plugin and the host. The stream after its INFO packet; valid until
 * the next call. */
const char *recording_end(void);

/* The packets of a stream, after INFO. Free with g_string_free. */
GString *packets_as_text(const char *bytes, size_t n);

/* For cmocka: make and drop the folder that the stream is written to. */
int recording_setup(void **state);
int recording_teardown(void **state);

#endif

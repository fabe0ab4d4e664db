/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorders for tests of the uftrace plugin's files, without QEMU: each on a host of host_double.h,
 * with a data directory of its own; and guest code for them.
 *
 * Guest code of programs is in the test itself, at the same guest and host address, so that the
 * plugin finds its symbols as it finds a program's.
 */
#ifndef TESTS_RECORDER_DOUBLE_H
#define TESTS_RECORDER_DOUBLE_H

#include "calls/recorder/uftrace.h"
#include "host_double.h"

/* A page of a program: functions of FUNCTION bytes at these offsets, then code without a symbol.
 * Bytes of both pages are 0 when a recorder is started. */
enum {
    FUNCTION = 256,
    ALPHA = 0,
    BETA = FUNCTION,
    HANDLER = 2 * FUNCTION,
    GETCONTEXT = 3 * FUNCTION,
    UNWIND_GETIP = 4 * FUNCTION,
    UNWIND_RESUME = 5 * FUNCTION,
    UNNAMED = 6 * FUNCTION,
};
extern const uint8_t code_page[4096];

/* A page of a machine's memory. */
extern uint8_t code_memory[4096];

/* A new recorder on a new host: see host_double_start. `words`: arguments up to a NULL, beside
 * `output`. It must succeed. It lives as long as the test. */
struct gt_recorder *recorder_start(const char *target, unsigned vcpus, int abi,
                                   const char *const *words);
/* The same, loaded as QEMU loads the plugin: callbacks work on it. */
struct gt_recorder *recorder_install(const char *target, unsigned vcpus, int abi,
                                     const char *const *words);
/* Ends the recording of the recorder that was started last, and starts another one in its folder.
 */
struct gt_recorder *recorder_start_again(const char *target, unsigned vcpus, int abi,
                                         const char *const *words);
/* The host announces the vCPU to the recorder that was started last, on a thread of the vCPU's own
 * as QEMU does. */
void recorder_begin_vcpu(unsigned vcpu);
/* Ends the recording, if the test has not; the host and the directory are gone. */
void recorder_stop(struct gt_recorder *r);
/* cmocka's teardown: stops the recorder that was started last, if it still runs. */
int recorder_teardown(void **state);

/* The text of a file in the data directory; free with g_free. NULL: there is no such file. */
char *recorder_file(const struct gt_recorder *r, const char *name);

/* ---- blocks -------------------------------------------------------------------------------- */

/* Words of aarch64. Offsets are bytes, from the instruction. */
#define NOP            UINT32_C(0xd503201f)
#define RET            UINT32_C(0xd65f03c0)
#define STORE          UINT32_C(0xf9003404) /* str x4, [x0, #104] */
#define MSR            UINT32_C(0xd51b4400) /* msr fpcr, x0 */
#define BLR            UINT32_C(0xd63f0020)
#define BR             UINT32_C(0xd61f0020)
#define SVC            UINT32_C(0xd4000001)
#define ERET           UINT32_C(0xd69f03e0)
#define LOADS_SP       UINT32_C(0x9100013f) /* mov sp, x9 */
#define COPIES_SP      UINT32_C(0x910003e2) /* mov x2, sp */
#define STORES_SP      UINT32_C(0xf9000002) /* str x2, [x0] */
#define BL(offset)     (UINT32_C(0x94000000) | (uint32_t)((int32_t)(offset) / 4 & 0x3ffffff))
#define B(offset)      (UINT32_C(0x14000000) | (uint32_t)((int32_t)(offset) / 4 & 0x3ffffff))
#define B_COND(offset) (UINT32_C(0x54000000) | (uint32_t)((int32_t)(offset) / 4 & 0x7ffff) << 5)

/* A block of n instructions of 4 bytes at `pc`; its bytes are written to `host`, in one of the
 * pages; NULL: the host does not say where they are. */
void block_of_words(struct gt_host_block *b, uint64_t pc, const void *host, const uint32_t *words,
                    size_t n);
#define BLOCK(b, pc, host, ...)                                                                    \
    block_of_words(b, pc, host, (const uint32_t[]){__VA_ARGS__},                                   \
                   sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
/* The same in the program's page, at the offset. */
#define PROGRAM_BLOCK(b, at, ...)                                                                  \
    BLOCK(b, (uintptr_t)code_page + (at), code_page + (at), __VA_ARGS__)
/* An instruction of any bytes behind the block's others. */
void block_add(struct gt_host_block *b, const void *host, const uint8_t *bytes, size_t n);

/*
 * What was registered for the block, in that order, as a text: "; " between the hooks,
 *   WHERE        "block", or an instruction's index
 *   exec FN(N)   a callback; N: the number of instructions that its data says, if it does
 *   regs FN      the same, which may read registers
 *   FN unless M  where the last exit is not M
 *   add N        to the vCPU's instructions; "add shared N": to those of all
 *   last_exit M       is stored; M: "own" (of the block's function), "jump" (out of it), or how the
 *                block ends: "call", "return", ...
 *   loads FN, stores FN, accesses FN   at a memory access
 * FN is a function of transfer.h without "gt_run_on_", or "-". Valid until the next call.
 */
const char *hooks_of(const struct gt_recorder *r, const struct gt_host_block *b);
/* Has the plugin translate the block; the same. */
const char *translate(struct gt_recorder *r, struct gt_host_block *b);

#endif

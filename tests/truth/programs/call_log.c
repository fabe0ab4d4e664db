/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hooks of -finstrument-functions, and with WITH_MCOUNT those of -pg: see call_log.h. */
#include "call_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define HOOK __attribute__((no_instrument_function))

enum { MOST = 1 << 16 };

static struct {
    uint64_t n, unused[3];
    struct call_record record[MOST];
} * call_log;

static HOOK void begin(void)
{
    int fd = open("log", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || ftruncate(fd, sizeof *call_log) != 0)
        _exit(99);
    call_log = mmap(0, sizeof *call_log, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (call_log == MAP_FAILED)
        _exit(98);
    close(fd);
}

HOOK void call_log_put(uint64_t function, uint64_t site, uint64_t sp)
{
    if (!call_log)
        begin();
    if (call_log->n == MOST)
        _exit(97);
    call_log->record[call_log->n++] = (struct call_record){function, site, sp};
}

#ifndef WITH_MCOUNT
HOOK void __cyg_profile_func_enter(void *function, void *site)
{
    call_log_put((uint64_t)function, (uint64_t)site, (uint64_t)__builtin_frame_address(0));
}

HOOK void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function, (void)site;
}
#elif defined __x86_64__
/* Called before the prologue, when all argument registers are live. */
__asm__(".globl __fentry__\n"
        ".type __fentry__, @function\n"
        "__fentry__:\n"
        "    push %rax\n    push %rcx\n    push %rdx\n    push %rsi\n    push %rdi\n"
        "    push %r8\n    push %r9\n    push %r10\n    push %r11\n    push %rbx\n"
        "    mov %rsp, %rbx\n"
        "    sub $512, %rsp\n    and $-64, %rsp\n    fxsave (%rsp)\n"
        "    mov 80(%rbx), %rdi\n    mov 88(%rbx), %rsi\n    lea 96(%rbx), %rdx\n"
        "    call call_log_put\n"
        "    fxrstor (%rsp)\n    mov %rbx, %rsp\n"
        "    pop %rbx\n    pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n"
        "    pop %rdi\n    pop %rsi\n    pop %rdx\n    pop %rcx\n    pop %rax\n"
        "    ret\n"
        ".size __fentry__, . - __fentry__\n");
#else
HOOK void _mcount(void *site)
{
    call_log_put((uint64_t)__builtin_return_address(0), (uint64_t)site,
                 (uint64_t)__builtin_frame_address(0));
}
#endif

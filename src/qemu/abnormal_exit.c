/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detects that QEMU ends itself without an exit event for its plugins: after a program's fatal
 * signal before QEMU 8 (QEMU sends the signal to itself), and at abort() of any QEMU (a machine's
 * CPU that locks up, a bug).
 *
 * The executable calls kill and abort through slots that the dynamic linker has filled: our
 * functions replace them. Signals of the guest do not use them, but system calls.
 *
 * In user mode also the beginning of such an end: QEMU asks for the signal's name there alone.
 */
#include "qemu/abi.h"
#include "qemu/host.h"
#include "qemu/program_end.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

static void (*on_abnormal_exit)(int sig);

static void call_once(int sig)
{
    void (*fn)(int sig) = __atomic_exchange_n(&on_abnormal_exit, NULL, __ATOMIC_ACQ_REL);
    if (fn)
        fn(sig);
}

static bool is_fatal(int sig)
{
    static const int others[] = {0,       SIGCHLD, SIGURG,  SIGWINCH, SIGCONT,
                                 SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (sig == others[i])
            return false;
    struct sigaction act;
    return sigaction(sig, NULL, &act) == 0 && act.sa_handler == SIG_DFL;
}

static bool is_program; /* user mode */

/* What the slots had: the C library's functions, or an earlier plugin's. */
static int (*next_kill)(pid_t pid, int sig) = kill;
static void (*next_abort)(void) = abort;
static char *(*next_strsignal)(int sig) = strsignal;

static int our_kill(pid_t pid, int sig)
{
    if (pid == getpid() && is_fatal(sig)) {
        if (is_program && gt_qemu_family != QEMU_FAMILY_1)
            gt_qemu_program_end_let_exit();
        call_once(sig);
    }
    return next_kill(pid, sig);
}

static char *our_strsignal(int sig)
{
    if (is_program)
        gt_qemu_program_end_by_signal();
    return next_strsignal(sig);
}

static void __attribute__((noreturn)) our_abort(void)
{
    call_once(0);
    next_abort();
    abort();
}

static const struct {
    const char *name;
    void *ours, *next;
} calls[] = {
    {"kill", (void *)our_kill, (void *)&next_kill},
    {"abort", (void *)our_abort, (void *)&next_abort},
    {"strsignal", (void *)our_strsignal, (void *)&next_strsignal},
};

/* A slot that is not filled yet leads into the executable. */
static bool is_filled(void *slot)
{
    Dl_info in, executable;
    return dladdr(slot, &in) && dladdr((void *)getauxval(AT_ENTRY), &executable) &&
           in.dli_fbase != executable.dli_fbase;
}

/* The slot is in a page that may be read only. */
static bool take_slot(void **slot, void *ours)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *start = (char *)((uintptr_t)slot & ~(page - 1));
    if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n(slot, ours, __ATOMIC_RELEASE);
    mprotect(start, page, PROT_READ);
    return true;
}

/* A dynamic table, as far as it says where calls go. */
struct table {
    const ElfW(Rela) * rela;
    size_t size;
    const ElfW(Sym) * symbols;
    const char *names;
};

static void read_table(const ElfW(Dyn) * d, uintptr_t base, struct table *out)
{
    for (; d->d_tag != DT_NULL; d++) {
        uintptr_t at = d->d_un.d_ptr < base ? d->d_un.d_ptr + base : d->d_un.d_ptr;
        if (d->d_tag == DT_JMPREL)
            out->rela = (const void *)at;
        else if (d->d_tag == DT_PLTRELSZ)
            out->size = d->d_un.d_val;
        else if (d->d_tag == DT_SYMTAB)
            out->symbols = (const void *)at;
        else if (d->d_tag == DT_STRTAB)
            out->names = (const void *)at;
        else if (d->d_tag == DT_PLTREL && d->d_un.d_val != DT_RELA)
            out->names = NULL;
    }
}

/* The executable comes first. */
static int take_calls(struct dl_phdr_info *info, size_t size, void *takes_kill)
{
    (void)size;
    struct table t = {0};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_table((const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                       info->dlpi_addr, &t);
    if (!t.rela || !t.symbols || !t.names)
        return 1;
    for (size_t i = 0; i < t.size / sizeof *t.rela; i++) {
        const char *name = t.names + t.symbols[(uint64_t)t.rela[i].r_info >> 32].st_name;
        void **slot = (void **)(info->dlpi_addr + t.rela[i].r_offset);
        for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++)
            if (strcmp(name, calls[k].name) == 0 && is_filled(*slot)) {
                memcpy(calls[k].next, slot, sizeof *slot);
                if (take_slot(slot, calls[k].ours))
                    *(bool *)takes_kill |= calls[k].ours == (void *)our_kill;
            }
    }
    return 1;
}

static bool take_once(void)
{
    static bool taken, takes_kill;
#if __SIZEOF_POINTER__ == 8
    if (!taken)
        dl_iterate_phdr(take_calls, &takes_kill);
#endif
    taken = true;
    return takes_kill;
}

bool gt_host_on_abnormal_exit(void (*fn)(int sig))
{
    on_abnormal_exit = fn;
    return take_once();
}

void gt_qemu_program_end_watch_signals(void)
{
    is_program = true;
    take_once();
}

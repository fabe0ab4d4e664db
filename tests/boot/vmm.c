/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program for Linux on aarch64 that runs N virtual machines of one page each, by turns. In each a
 * loop of TURNS calls a function that calls another one, which leaves the machine for the program
 * by a store to where no memory is.
 */
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 0x4000, DEVICE = 0x10000000, END = DEVICE + 4, MACHINES = 2 };

static const unsigned code[] = {
    0xd2a20000, /*       mov x0, DEVICE */
    0xd2801901, /*       mov x1, 200 */
    0x94000005, /* loop: bl outer */
    0xf1000421, /*       subs x1, x1, 1 */
    0x54ffffc1, /*       b.ne loop */
    0xb9000401, /*       str w1, [x0, 4] */
    0x14000000, /*       b . */
    0xaa1e03e9, /* outer: mov x9, x30 */
    0x94000003, /*       bl inner */
    0xaa0903fe, /*       mov x30, x9 */
    0xd65f03c0, /*       ret */
    0xb9000001, /* inner: str w1, [x0] */
    0xd65f03c0, /*       ret */
};

struct machine {
    int fd;
    struct kvm_run *run;
    unsigned exits;
    int is_over;
};

static int check(int result, const char *what)
{
    if (result < 0) {
        perror(what);
        exit(1);
    }
    return result;
}

static void make(int kvm, struct machine *m)
{
    int vm = check(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct kvm_userspace_memory_region memory = {0, 0, PAGE, 4096, (unsigned long)page};
    struct kvm_vcpu_init type;
    unsigned long pc = PAGE;
    struct kvm_one_reg set = {KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | 0x100 / 4,
                              (unsigned long)&pc};

    memcpy(page, code, sizeof code);
    check(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &memory), "KVM_SET_USER_MEMORY_REGION");
    m->fd = check(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
    check(ioctl(vm, KVM_ARM_PREFERRED_TARGET, &type), "KVM_ARM_PREFERRED_TARGET");
    check(ioctl(m->fd, KVM_ARM_VCPU_INIT, &type), "KVM_ARM_VCPU_INIT");
    check(ioctl(m->fd, KVM_SET_ONE_REG, &set), "KVM_SET_ONE_REG");
    m->run = mmap(NULL, (size_t)ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), PROT_READ | PROT_WRITE,
                  MAP_SHARED, m->fd, 0);
}

__attribute__((noinline)) void run_machine(struct machine *m)
{
    check(ioctl(m->fd, KVM_RUN, 0), "KVM_RUN");
    m->exits += m->run->exit_reason == KVM_EXIT_MMIO;
    m->is_over = m->run->exit_reason != KVM_EXIT_MMIO || m->run->mmio.phys_addr == END;
}

int main(int argc, char **argv)
{
    int kvm = check(open("/dev/kvm", O_RDWR), "/dev/kvm"), n = argc > 1 ? atoi(argv[1]) : 0,
        left = n;
    struct machine machines[MACHINES] = {{0}};

    if (n < 1 || n > MACHINES)
        return 2;
    for (int i = 0; i < n; i++)
        make(kvm, &machines[i]);
    for (int i = 0; left; i = (i + 1) % n)
        if (!machines[i].is_over) {
            run_machine(&machines[i]);
            left -= machines[i].is_over;
        }
    for (int i = 0; i < n; i++)
        printf("EXITS %u\n", machines[i].exits);
    printf("RUN %p\n", (void *)run_machine);
    return 0;
}

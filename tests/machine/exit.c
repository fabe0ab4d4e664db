/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest of exit_test.py: four vCPUs make calls without a pause. After ROUNDS rounds vCPU 1 says
 * so, and built with ENDS it ends the machine; else the machine runs for ever. Where the host is
 * slow to end it, the calls become fewer, so that the recording stays small: registers of devices
 * take long to read.
 */
enum { VCPUS = 4, ROUNDS = 400, MANY_ROUNDS = 10 * ROUNDS, READS = 200 };
#define SERIAL_PORT ((volatile unsigned *)0x09000000)

#define FUNCTION __attribute__((noinline, noclone, noipa))

static volatile unsigned long sum[VCPUS];
static int ready; /* atomic */

long start_vcpu(long vcpu);
void end_machine(long status);

FUNCTION void leaf(int vcpu)
{
    sum[vcpu]++;
}

FUNCTION void twice(int vcpu)
{
    leaf(vcpu);
    leaf(vcpu);
}

FUNCTION void deeper(int vcpu)
{
    twice(vcpu);
    leaf(vcpu);
}

FUNCTION int fibonacci(int n, int vcpu)
{
    if (n >= 2)
        return fibonacci(n - 1, vcpu) + fibonacci(n - 2, vcpu);
    leaf(vcpu);
    return n;
}

FUNCTION void round_of_calls(int vcpu, unsigned i)
{
    static void (*const calls[])(int) = {leaf, twice, deeper, deeper};
    calls[i % 4](vcpu);
    if (i % 32 == 0)
        fibonacci(6, vcpu);
}

/* Another plugin may end QEMU here. */
FUNCTION void stop(void)
{
    __asm__ volatile("");
}

FUNCTION void done(void)
{
    stop();
    sum[1]++;
}

void work(int vcpu)
{
    for (int i = 1; vcpu == 0 && i < VCPUS; i++)
        start_vcpu(i);
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < VCPUS)
        ;
    for (unsigned i = 0;; i++) {
        round_of_calls(vcpu, i);
        for (int n = 0; i > MANY_ROUNDS && n < READS; n++)
            (void)SERIAL_PORT[6]; /* its flags */
        if (vcpu == 1 && i == ROUNDS) {
            done();
            *SERIAL_PORT = '!';
#ifdef ENDS
            end_machine(3);
#endif
        }
    }
}

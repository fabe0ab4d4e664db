/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Firmware of the riscv64 virt machine. */
static volatile unsigned char *const uart = (void *)0x10000000;
static volatile unsigned *const finisher = (void *)0x100000;
static int sum;
static void put(const char *s)
{
    while (*s)
        *uart = *s++;
}
static int work(int n)
{
    if (n > 100)
        put("never\n");
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}
static int frame(int i)
{
    *uart = '<';
    i += 1;
    *uart = '0' + i;
    i += 1;
    *uart = '>';
    return i;
}
void main(void)
{
    for (int i = 0; i < 5; i++)
        work(frame(i) - 2);
    put("done\n");
    *finisher = 0x5555;
    for (;;)
        ;
}

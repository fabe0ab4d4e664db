/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of calls.c that are in another file. */
void tiny(void);
void spin(int n);
void get_one(int n);

static volatile int sink;

void spin(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

void tiny(void)
{
    sink++;
}

void get_one(int n)
{
    tiny();
    spin(n);
}

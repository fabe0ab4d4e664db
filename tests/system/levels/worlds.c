/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls in three worlds: each asks the top to go on with another one, which goes on where it was.
 * The expected trees are in levels_test.py. */

enum { SECURE, NONSECURE, REALM };

void leaf(void), ask(long world);
void nonsecure_main(void), secure_main(void), realm_main(void);
/* start_worlds.S */
void trap_world(long world);

#define FUNCTION __attribute__((noipa)) void

FUNCTION ask(long world)
{
    trap_world(world);
    leaf();
}

FUNCTION nonsecure_main(void)
{
    leaf();
    ask(SECURE);
    ask(REALM);
    ask(SECURE);
}

FUNCTION secure_main(void)
{
    leaf();
    ask(NONSECURE);
    ask(NONSECURE);
}

FUNCTION realm_main(void)
{
    leaf();
    ask(NONSECURE);
}

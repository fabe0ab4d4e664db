/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fibers of D's library: each is resumed from different depths, starts others, and catches exceptions; their trees of calls. */
import core.stdc.stdio : printf;
import core.thread : Fiber;

struct Call
{
    const(char)* name;
    int stack, depth;
}

__gshared Call[65536] calls;
__gshared int[64] depths;
__gshared int n, stack, stacks;

/* An open call: goes back to its stack and depth, and ends with a call, also where an exception ends it. */
struct Frame
{
    int mine, depth;

    this(const(char)* name)
    {
        enter(name);
        mine = stack;
        depth = depths[mine];
    }

    void here()
    {
        stack = mine;
        depths[mine] = depth;
    }

    ~this()
    {
        here();
        leaf();
        depths[mine]--;
    }
}

void enter(const(char)* name)
{
    calls[n++] = Call(name, stack, depths[stack]++);
}

extern (C):

pragma(inline, false):

void leaf()
{
    enter("leaf");
    depths[stack]--;
}

void failing(int k)
{
    auto f = Frame("failing");
    if (k == 0)
        throw new Exception("out");
    failing(k - 1);
}

void nested(int k)
{
    auto f = Frame("nested");
    if (k > 0)
    {
        nested(k - 1);
        return;
    }
    Fiber.yield();
    f.here();
    leaf();
}

void body_(int rounds, int below)
{
    auto f = Frame("body_");
    foreach (i; 0 .. rounds)
    {
        leaf();
        if (below > 0)
        {
            drive(2, below - 1);
            f.here();
        }
        nested(i + 1);
        f.here();
        try
            failing(i);
        catch (Exception)
        {
            f.here();
            leaf();
        }
    }
    if (rounds == 3)
        failing(1);
}

Fiber start(int rounds, int below)
{
    const mine = ++stacks;
    return new Fiber({ stack = mine; body_(rounds, below); });
}

void resume(Fiber fiber, int k)
{
    auto f = Frame("resume");
    if (k > 0)
        resume(fiber, k - 1);
    else
        fiber.call();
    f.here();
    leaf();
}

void drive(int width, int below)
{
    auto f = Frame("drive");
    Fiber[4] all;
    foreach (i; 0 .. width)
        all[i] = start(i + 1, below);
    for (bool any = true; any;)
    {
        any = false;
        foreach (i; 0 .. width)
            if (all[i].state != Fiber.State.TERM)
            {
                any = true;
                try
                    resume(all[i], i);
                catch (Exception)
                {
                    f.here();
                    leaf();
                }
                f.here();
            }
    }
}

extern (D) int main()
{
    drive(4, 0);
    drive(3, 1);
    drive(2, 2);
    foreach (s; 0 .. stacks + 1)
    {
        printf("stack\n");
        foreach (ref c; calls[0 .. n])
            if (c.stack == s)
                printf("%*s%s\n", 2 * c.depth, "".ptr, c.name);
    }
    return 0;
}

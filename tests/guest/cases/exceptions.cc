/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C++ exceptions: caught where they are thrown, across frames, thrown again, one inside another's
 * handler, through destructors, and by an outer frame of a recursion whose inner ones look alike.
 *
 * libs: -lstdc++
 * again: tail-calls=off,depth=12
 */
#include "guest.h"

#include <stdexcept>

extern "C" {
F static void leaf()
{
    WORK();
}

F static void thrower(int n)
{
    WORK();
    if (n == 0)
        throw std::runtime_error("thrown");
    thrower(n - 1);
    WORK();
}

F static void direct()
{
    try {
        thrower(0);
    } catch (const std::exception &) {
        leaf();
    }
}

F static void deep()
{
    try {
        thrower(2);
    } catch (const std::exception &) {
        leaf();
    }
}

F static void again()
{
    try {
        deep();
        thrower(0);
    } catch (...) {
        leaf();
        throw;
    }
}

F static void cleanup()
{
    WORK();
}

struct guard {
    ~guard()
    {
        cleanup();
    }
};

F static void guarded()
{
    guard g;
    thrower(1);
}

F static void nested()
{
    try {
        guarded();
    } catch (...) {
        try {
            thrower(0);
        } catch (...) {
            leaf();
        }
        leaf();
    }
}

/* Only the outermost of them catches, in the same code as the others run. */
F static void recurse(int n)
{
    if (n == 3)
        thrower(0);
    try {
        recurse(n + 1);
    } catch (int) {
        WORK();
    } catch (const std::exception &) {
        if (n > 0)
            throw;
        leaf();
    }
}

/* Same function, but only one frame's call is inside the try block. */
F static void chosen(int n)
{
    if (n == 4)
        thrower(0);
    if (n != 1) {
        chosen(n + 1);
        WORK();
        return;
    }
    try {
        chosen(n + 1);
    } catch (...) {
        leaf();
    }
}
}

int main()
{
    direct();
    deep();
    try {
        again();
    } catch (...) {
        leaf();
    }
    nested();
    recurse(0);
    chosen(0);
    leaf();
    return 0;
}

/* calls:
main
  direct
    thrower
    leaf
  deep
    thrower
      thrower
        thrower
    leaf
  again
    deep
      thrower
        thrower
          thrower
      leaf
    thrower
    leaf
  leaf
  nested
    guarded
      thrower
        thrower
      _ZN5guardD1Ev
        cleanup
    thrower
    leaf
    leaf
  recurse
    recurse
      recurse
        recurse
          thrower
    leaf
  chosen
    chosen
      chosen
        chosen
          chosen
            thrower
      leaf
  leaf
 */

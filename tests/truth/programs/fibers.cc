/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Boost's fcontext, fibers and Coroutine2: contexts that end, that are dropped while suspended (an exception unwinds them),
 * that start others, that have a function called on top of them, and whose stack another one takes.
 */
#include <boost/context/detail/fcontext.hpp>
#include <boost/context/fiber.hpp>
#include <boost/coroutine2/all.hpp>

#include <utility>
#include <vector>

#include "tree_log.h"

namespace context = boost::context;
using coroutine = boost::coroutines2::coroutine<int>;

static int stacks;

extern "C" F void leaf()
{
    ENTER();
    LEAVE();
}

/* An open call: goes back to its stack and depth, and ends with a call, also where an exception ends it. */
struct frame {
    int stack = log_stack, depth = log_depth[log_stack];

    void here()
    {
        log_stack = stack;
        log_depth[stack] = depth;
    }

    ~frame()
    {
        here();
        leaf();
        LEAVE();
    }
};

/* ---- fibers ---------------------------------------------------------------------------------------- */

extern "C" {
F void on_top()
{
    ENTER();
    frame f;
    leaf();
}

F void nested(context::fiber &other, int n)
{
    ENTER();
    frame f;
    if (n > 0) {
        nested(other, n - 1);
    } else {
        other = std::move(other).resume();
        f.here();
        leaf();
    }
}

F void failing(int n)
{
    ENTER();
    frame f;
    if (n == 0)
        throw n;
    failing(n - 1);
}

F void body(context::fiber &other, int rounds)
{
    ENTER();
    frame f;
    for (int i = 0; i < rounds; i++) {
        leaf();
        nested(other, i + 1);
        try {
            failing(i);
        } catch (int) {
            f.here();
            leaf();
        }
    }
}
}

static context::fiber start(int stack, int rounds)
{
    return context::fiber([stack, rounds](context::fiber &&other) {
        log_stack = stack;
        body(other, rounds);
        return std::move(other);
    });
}

extern "C" {
F void drive_fibers()
{
    ENTER();
    frame f;
    std::vector<context::fiber> all;
    for (int i = 1; i <= 4; i++)
        all.push_back(start(++stacks, i));
    for (bool any = true; any;) {
        any = false;
        for (auto &fiber : all)
            if (fiber) {
                fiber = std::move(fiber).resume();
                f.here();
                leaf();
                any = true;
            }
    }
}

F void drop_fibers()
{
    ENTER();
    frame f;
    for (int i = 0; i < 3; i++) {
        context::fiber fiber = start(++stacks, 3);
        for (int j = 0; j <= i; j++)
            fiber = std::move(fiber).resume();
        f.here();
        leaf();
    }
}

F void call_on_top()
{
    ENTER();
    frame f;
    const int stack = ++stacks;
    context::fiber fiber = start(stack, 2);
    fiber = std::move(fiber).resume();
    while (fiber) {
        fiber = std::move(fiber).resume_with([stack](context::fiber &&other) {
            log_stack = stack;
            on_top();
            return std::move(other);
        });
        f.here();
        leaf();
    }
}

/* ---- coroutines ------------------------------------------------------------------------------------ */

F void count(coroutine::push_type &sink, int n)
{
    ENTER();
    frame f;
    leaf();
    if (n > 0)
        count(sink, n - 1);
    sink(n);
    f.here();
    leaf();
}

/* Each value of a coroutine comes from another one below it. */
F void generate(coroutine::push_type &sink, int n)
{
    ENTER();
    frame f;
    const int stack = ++stacks;
    coroutine::pull_type source([stack, n](coroutine::push_type &inner) {
        log_stack = stack;
        if (n > 0)
            generate(inner, n - 1);
        else
            count(inner, 3);
    });
    f.here();
    while (source) {
        sink(source.get());
        f.here();
        leaf();
        source();
        f.here();
    }
}

F void pull(int most)
{
    ENTER();
    frame f;
    const int stack = ++stacks;
    coroutine::pull_type source([stack](coroutine::push_type &sink) {
        log_stack = stack;
        generate(sink, 2);
    });
    f.here();
    for (int i = 0; source && i < most; i++) {
        leaf();
        source();
        f.here();
    }
}

/* ---- contexts -------------------------------------------------------------------------------------- */

F void give(context::detail::transfer_t &other, int n)
{
    ENTER();
    frame f;
    if (n > 0) {
        give(other, n - 1);
    } else {
        other = context::detail::jump_fcontext(other.fctx, nullptr);
        f.here();
    }
}

F void serve(context::detail::transfer_t other)
{
    log_stack = stacks;
    ENTER();
    for (int n = 0;; n = (n + 1) % 4)
        give(other, n);
}

/* Its stack is left in the middle of calls, and the next context begins on it. */
F void jump(char *stack, size_t size)
{
    ENTER();
    frame f;
    ++stacks;
    context::detail::transfer_t other = {context::detail::make_fcontext(stack + size, size, serve), nullptr};
    for (int i = 0; i < 6; i++) {
        other = context::detail::jump_fcontext(other.fctx, nullptr);
        f.here();
        leaf();
    }
}
}

int main()
{
    static char stack[65536] __attribute__((aligned(16)));

    for (int i = 0; i < 3; i++) {
        drive_fibers();
        drop_fibers();
        call_on_top();
    }
    for (int i = 0; i < 5; i++)
        pull(i * i);
    for (int i = 0; i < 5; i++)
        jump(stack, sizeof stack);
    PRINT_LOG()
    return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Frames that are left in every way that C++ has: thrown, rethrown, nested, through C, out of
// constructors and arrays, caught at each level, by longjmp, by a terminate handler.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

static volatile int total;
static void tick(int n)
{
    total = total + n;
}

struct Guard {
    int n;
    explicit Guard(int n) : n(n) { tick(1); }
    ~Guard() { tick(n); }
};

struct Error : std::runtime_error {
    int n;
    explicit Error(int n) : std::runtime_error("error"), n(n) { tick(1); }
    ~Error() override { tick(2); }
};

// ---- through recursion, several handlers -----------------------------------------------------------

int fall(int n)
{
    Guard guard(n);
    if (n == 0)
        throw Error(7);
    return fall(n - 1) + guard.n;
}

int other_type(int n)
{
    Guard a(1);
    try {
        Guard b(2);
        return fall(n);
    } catch (std::logic_error &) {
        tick(9);
        return 1;
    }
}

int rethrow(int n)
{
    Guard a(3);
    try {
        return other_type(n);
    } catch (Error &e) {
        Guard b(4);
        tick(e.n);
        throw;
    }
}

int throws_in_handler(int n)
{
    try {
        return rethrow(n);
    } catch (const std::exception &) {
        tick(5);
        return fall(1);
    }
}

int outermost(int n)
{
    try {
        return throws_in_handler(n);
    } catch (...) {
        tick(6);
        return 2;
    }
}

int step(int n)
{
    if (n == 0)
        throw Error(1);
    try {
        return step(n - 1);
    } catch (Error &) {
        if (n % 2)
            throw;
        return n < 6 ? step(0) : n;
    }
}

int steps()
{
    int caught = 0;
    for (int i = 1; i < 8; i++)
        try {
            caught += step(i);
        } catch (Error &) {
            caught++;
        }
    return caught;
}

int many()
{
    int caught = 0;
    for (int i = 0; i < 30; i++)
        try {
            fall(i % 9);
        } catch (Error &) {
            caught++;
        }
    return caught;
}

// ---- exceptions that are kept ----------------------------------------------------------------------

int nested(int n)
{
    try {
        try {
            fall(n);
        } catch (...) {
            std::throw_with_nested(std::logic_error("outer"));
        }
    } catch (std::logic_error &e) {
        try {
            std::rethrow_if_nested(e);
        } catch (Error &inner) {
            return inner.n;
        }
    }
    return 0;
}

std::exception_ptr keep(int n)
{
    try {
        fall(n);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

int thrown_later(int n)
{
    auto kept = keep(n);
    try {
        std::rethrow_exception(kept);
    } catch (Error &e) {
        return e.n;
    }
}

// ---- constructors, arrays, C code ------------------------------------------------------------------

struct Members {
    Guard a;
    int b;
    explicit Members(int n)
    try : a(n), b(fall(n)) {
        tick(1);
    } catch (Error &) {
        tick(2);
    }
};

int constructor()
{
    try {
        Members members(2);
        return members.b;
    } catch (Error &e) {
        return e.n;
    }
}

struct Fourth {
    static int count;
    Fourth()
    {
        if (++count == 4)
            throw 5;
        tick(1);
    }
    ~Fourth()
    {
        --count;
        tick(2);
    }
};
int Fourth::count;

int array()
{
    try {
        Fourth all[6];
        return all[0].count;
    } catch (int n) {
        return n;
    }
}

int compare(const void *a, const void *b)
{
    if (*static_cast<const int *>(a) == 5)
        throw 3;
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

int through_c()
{
    int values[] = {1, 9, 5, 2};
    try {
        qsort(values, 4, sizeof values[0], compare);
    } catch (int n) {
        return n;
    }
    return 0;
}

// ---- without exceptions ----------------------------------------------------------------------------

struct Left {
    int pad = 1;
    virtual int f(int) = 0;
    virtual ~Left() { tick(1); }
};
struct Right {
    int pad = 2;
    virtual int g(int) = 0;
    virtual ~Right() { tick(2); }
};
struct Both : Left, Right {
    int f(int n) override { return g(n) + 1; }
    int g(int n) override { return n * 2; }
    ~Both() override { tick(3); }
};
struct Base {
    int n = 3;
    virtual int h(int k) { return k + n; }
    virtual ~Base() { tick(1); }
};
struct Virtual : virtual Base {
    int h(int k) override { return Base::h(k) + 1; }
};

int thunks()
{
    std::unique_ptr<Right> right(new Both);
    std::unique_ptr<Left> left(new Both);
    std::unique_ptr<Base> base(new Virtual);
    int (Right::*member)(int) = &Right::g;
    return right->g(3) + left->f(4) + base->h(1) + ((*right).*member)(2);
}

int callbacks()
{
    Both both;
    std::function<int(int)> call = [&](int n) { return both.f(n) + both.g(n); };
    std::map<int, int> map;
    std::vector<int> vector;
    for (int i = 0; i < 20; i++) {
        map.emplace(i * 7 % 20, call(i));
        vector.push_back(i * 37 % 53);
    }
    std::sort(vector.begin(), vector.end(), [](int a, int b) {
        tick(0);
        return a > b;
    });
    return map[3] + vector[0];
}

static std::jmp_buf place;
void jump(int n)
{
    if (n == 0)
        std::longjmp(place, 1);
    jump(n - 1);
    tick(1);
}

int jumps()
{
    if (!setjmp(place))
        jump(4);
    return total;
}

static std::jmp_buf terminated;
void on_terminate()
{
    tick(1);
    std::longjmp(terminated, 1);
}

void must_not_throw() noexcept
{
    fall(2);
}

int terminate()
{
    auto before = std::set_terminate(on_terminate);
    if (!setjmp(terminated))
        must_not_throw();
    std::set_terminate(before);
    return 1;
}

int main()
{
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += outermost(i);
    sum += nested(3) + thrown_later(2) + constructor() + array() + through_c();
    sum += thunks() + callbacks() + jumps() + many() + steps() + terminate() + many();
    std::printf("%d %d\n", sum, total);
    return 3;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that several functions have code of: lambdas, templates, classes in one line. */
#include <algorithm>
#include <cstdio>
#include <functional>

struct Base { virtual int f(int) = 0; virtual ~Base() {} };
struct Derived : Base { int n = 2; int f(int x) override { return x + n; } };

static int twice(int x) { auto l = [x](int y) { return x * y; }; return l(2); }
static void raise(int *p) { auto l = [p] { ++*p; }; l(); }

template <class F> int each(F f) { int s = 0; for (int i = 0; i < 5; i++) s += f(i); return s; }

static int apply(const std::function<int(int)> &f, int n)
{
    return f(n);
}

static int sorted()
{
    int v[] = {5, 3, 9, 1}, sum = 0, calls = 0;
    std::sort(v, v + 4, [&](int a, int b) { calls++; return a < b; });
    std::for_each(v, v + 4, [&](int x) { sum += x; });
    return sum + (calls > 0);
}

int main()
{
    int n = 4, sum = 0;
    auto add = [&](int x) { sum += x + n; return sum; };
    for (int i = 0; i < 5; i++)
        add(i);
    auto more = [n](int x) {
        if (x > n)
            return x;
        return n;
    };
    sum += each(more);
    sum += each([](int x) { return x; });
    auto nothing = [&](int x) { sum += x; };
    for (int i = 0; i < 5; i++)
        nothing(i);
    auto lines = [&](int x) {
        sum += x;
    };
    lines(1);
    lines(2);
    int k = [&] { int r = 0; for (int i = 0; i < 5; i++) r += i; return r; }();
    auto generic = [&sum](auto x) {
        sum += (int)x;
        return x;
    };
    generic(2);
    generic(3.0);
    Derived d;
    Base *b = &d;
    raise(&sum);
    sum += b->f(3) + twice(2) + k;
    sum += apply([&](int x) { return x + sum; }, 4) + sorted();
    int (*plain)(int) = [](int x) { return x > 2 ? x : 2; };
    for (int i = 0; i < 5; i++)
        sum += plain(i);
    printf("%d\n", sum);
    return 0;
}

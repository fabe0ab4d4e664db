/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that begin with code that is inlined from a header; main has a cold part, and start-up code follows it. */
#include <cstdio>
#include <stdexcept>
#include <vector>

static inline long twice(long a)
{
    return a * 2 + 1;
}

__attribute__((noinline)) long first(long a)
{
    return twice(a);
}

__attribute__((noinline)) long second(std::vector<int> &of)
{
    return of.at(1) + twice(of.size());
}

int main()
{
    std::vector<int> numbers;
    for (int i = 0; i < 5; i++)
        numbers.push_back(i);
    if (first(3) != 7)
        throw std::runtime_error("first");
    std::printf("%ld\n", first(1) + second(numbers));
    return 0;
}

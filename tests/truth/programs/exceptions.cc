// SPDX-License-Identifier: GPL-2.0-or-later
// Exceptions: through cleanups, nested, thrown again, in recursion, in constructors and
// destructors.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static int destroyed;

struct guard {
    explicit guard(int value) : n(value)
    {
        if (value == 13)
            throw std::runtime_error("unlucky");
    }
    ~guard()
    {
        destroyed += n;
    }
    int n;
};

struct noisy {
    ~noisy()
    {
        try {
            throw 1;
        } catch (int n) {
            destroyed += n;
        }
    }
};

__attribute__((noinline)) static void dig(int depth)
{
    guard g(depth);
    if (depth == 0)
        throw std::out_of_range("bottom");
    dig(depth - 1);
}

// Every other frame catches and throws on.
__attribute__((noinline)) static int climb(int depth)
{
    std::string text(static_cast<size_t>(depth) + 20, 'x');
    if (depth == 0)
        throw std::string("top");
    try {
        return climb(depth - 1) + static_cast<int>(text.size());
    } catch (const std::string &) {
        if (depth % 2)
            throw;
        try {
            dig(depth % 5);
        } catch (const std::exception &e) {
            return static_cast<int>(e.what()[0]) + depth;
        }
    }
    return 0;
}

__attribute__((noinline)) static int nested(int n)
{
    try {
        try {
            noisy cleanup;
            guard g(n);
            if (n % 3 == 0)
                throw n;
        } catch (int caught) {
            throw std::runtime_error(std::to_string(caught));
        }
    } catch (const std::runtime_error &e) {
        return std::string(e.what()) == "unlucky" ? -1 : -2;
    }
    return n;
}

static void ends() noexcept
{
    try {
        std::vector<int>().at(3);
    } catch (const std::out_of_range &) {
        std::puts("caught");
    }
}

int main()
{
    std::map<std::string, int> results;
    for (int i = 0; i < 20; i++)
        results["nested " + std::to_string(i)] = nested(i);
    for (int depth = 1; depth < 6; depth++)
        try {
            results["climb " + std::to_string(depth)] = climb(depth);
        } catch (const std::string &s) {
            results[s] = depth;
        }
    for (int i = 0; i < 4; i++)
        try {
            dig(30);
        } catch (const std::runtime_error &) {
            destroyed++;
        } catch (...) {
            destroyed--;
        }
    ends();
    for (const auto &r : results)
        std::printf("%s %d\n", r.first.c_str(), r.second);
    return destroyed > 0 ? 0 : 1;
}

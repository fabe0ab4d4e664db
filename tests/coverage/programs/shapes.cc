// SPDX-License-Identifier: GPL-2.0-or-later
// C++: classes, virtual functions, exceptions, loops over a range.
#include <cstdio>

struct shape {
    virtual int area() const = 0;
    virtual ~shape()
    {
    }
};

struct square : shape {
    int side;
    explicit square(int s) : side(s)
    {
    }
    int area() const override
    {
        return side * side;
    }
};

struct strip : shape {
    int length;
    explicit strip(int l) : length(l)
    {
    }
    int area() const override
    {
        if (length > 3)
            throw length;
        return length;
    }
};

static int measure(const shape &s)
{
    try {
        return s.area();
    } catch (int length) {
        return -length;
    }
}

int main()
{
    int sum = 0;
    for (int i = 1; i < 7; i++) {
        square a(i);
        strip b(i);
        sum += measure(a);
        sum += measure(b);
    }
    int list[] = {3, 1, 4};
    for (int x : list)
        sum += x;
    std::printf("%d\n", sum);
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with types of every kind that may stand in a unit of its own, in C and in C++: see
 * signed_types_test.py. */
#define KEPT __attribute__((noinline, used))
enum color { RED, GREEN, BLUE = -3 };
enum mode { READ = 1, WRITE = 2, SYNC = 8 };
union word {
    unsigned long n;
    unsigned char byte[8];
};
struct pair {
    int x;
    double y;
};
typedef struct {
    struct pair at;
    enum color color;
} unnamed;
struct file {
    char name[8];
    union word word;
    struct file *next;
    const struct pair *where;
    unsigned flags : 3;
    enum mode mode : 8;
    struct {
        int major, minor;
    } version;
    union {
        long number;
        void *pointer;
    };
    int (*call)(struct pair *, enum mode);
    struct pair grid[2][3];
};
struct opaque;
struct packed {
    char c;
    int n;
} __attribute__((packed));
struct wide {
    int n __attribute__((aligned(32)));
};

static int sum;

KEPT enum color enums(enum color c, enum mode m)
{
    sum += (int)c + (int)m;
    return c;
}
KEPT struct pair by_value(struct pair p, union word w, unnamed u, struct packed k)
{
    sum += p.x + (int)w.n + u.at.x + k.n;
    return p;
}
KEPT long behind(struct file *f, const struct file *const *g, struct opaque *o, struct wide *w)
{
    sum += f->flags + (unsigned)(*g)->version.major + (o != 0) + (unsigned)w->n;
    return f->word.byte[1];
}
KEPT int local(int n)
{
    struct inner {
        struct pair p[2];
        enum color color;
    } in = {{{n, 1}, {n, 2}}, RED};
    __asm__ volatile("" : : "r"(&in) : "memory");
    return in.p[1].x;
}

#ifdef __cplusplus
namespace space
{
enum class kind : unsigned char { ONE = 1, TWO };
template <typename T, int N> struct array {
    T at[N];
    T sum() const;
};
template <typename T, int N> KEPT T array<T, N>::sum() const
{
    return at[0] + at[N - 1];
}
class base
{
  public:
    virtual KEPT int get(kind k)
    {
        return (int)k + n;
    }
    virtual ~base()
    {
    }
    int n = 1;
    struct nested {
        long deep;
        base *back;
    };
    static int shared;
};
int base::shared = 3;
class derived : public base, virtual public pair
{
  public:
    KEPT int get(kind k) override
    {
        return 2 * (int)k + more.deep;
    }
    nested more = {4, this};
    KEPT nested two(const nested &a, nested &&b, int base::*member, int (base::*call)(kind))
    {
        sum += this->*member + (this->*call)(kind::TWO);
        return a.deep > b.deep ? a : b;
    }
};
struct copied {
    int n;
    copied(int v) : n(v)
    {
    }
    copied(const copied &o) : n(o.n + 1)
    {
    }
};
struct outer {
    struct later;
    later *p;
};
struct outer::later {
    int n;
};
KEPT int defined_later(outer::later l, outer *o)
{
    return l.n + (o->p == 0);
}
KEPT int by_reference(copied c, array<int, 3> a, kind k)
{
    return c.n + a.sum() + (int)k;
}
namespace
{
struct hidden {
    int n;
    pair p;
};
KEPT int anonymous(hidden h)
{
    return h.n + h.p.x;
}
} // namespace
} // namespace space
#endif

int main(void)
{
    struct pair pair = {1, 2};
    union word word = {3};
    unnamed unnamed_one = {{4, 5}, GREEN};
    struct packed packed = {'c', 6};
    struct file file = {};
    const struct file *p = &file;
    struct wide wide = {7};
    enums(BLUE, SYNC);
    by_value(pair, word, unnamed_one, packed);
    behind(&file, &p, 0, &wide);
    local(5);
#ifdef __cplusplus
    space::derived d;
    space::base *b = &d;
    space::outer outer = {0};
    sum += b->get(space::kind::ONE);
    sum += (int)d.two({1, b}, {2, b}, &space::base::n, &space::base::get).deep;
    sum += space::by_reference(space::copied(3), {{1, 2, 3}}, space::kind::TWO);
    sum += space::defined_later({2}, &outer) + space::anonymous({1, pair});
#endif
    return sum == 0;
}

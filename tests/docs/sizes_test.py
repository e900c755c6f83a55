#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/check_sizes.py counts the members of classes in all their forms."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["AFTERBAY_SOURCE"]) / "tools"))
import check_sizes  # noqa: E402

SOURCE = """
struct Several { int a, b = 2; double c = f(1, 2), d{3}, e; std::map<int, int> g; int h[2], i : 3; };
struct alignas(64) Aligned { int a; int b; };
struct alignas(alignof(int)) Nested final : Base<int, int> { int a; };
struct [[nodiscard]] Kept { int a; void f(int x, int y); };
class AFTERBAY_CAPABILITY("mutex") Lock { void lock() AFTERBAY_ACQUIRE(); int a AFTERBAY_GUARDED_BY(m); };
template <class T> struct Primary { T a; };
template <> struct Primary<int> { int a; int b; std::function<int(int, int)> c; };
template <class T, int n> requires (n > 2) class Primary<std::array<T, n>> { T f() const { return a; } T a; };
struct Outer::Inner { int a; struct Deeper { int b, c; }; enum class Kind { x, y }; };
struct Values { T a = T{4} << 20; T b = T{1}; int c{1}, d{2}; F f = [](int x) { int y = x; return y; }; T g = h({1}, {2}); };
struct Braces { explicit Braces(int n) : a{n}, b{n} {} void f(T x = {}, int y = 2); T g(T x = {}) { return x; } int a, b; };
struct Derived final : private Several, public std::vector<int>, Braces { int own; };
class Forward;
struct alignas(8) ForwardToo;
int function(struct tm* time, class Other& other) { int a, b; return a; }
"""


def main():
    found = check_sizes.classes_of(SOURCE)
    expected = [("Several", 8, 0), ("Aligned", 2, 0), ("Nested", 1, 0), ("Kept", 1, 1), ("Lock", 1, 1), ("Primary", 1, 0),
                ("Primary", 3, 0), ("Primary", 1, 1), ("Deeper", 2, 0), ("Kind", 0, 0), ("Inner", 1, 0), ("Values", 6, 0), ("Braces", 2, 3),
                ("Derived", 11, 0)]
    assert found == expected, found

    def complaints(fields, methods):
        members = " ".join([f"int a{n};" for n in range(fields)] + [f"void f{n}();" for n in range(methods)])
        return list(check_sizes.wrong_sizes("x.hpp", f"class Big {{ {members} }};"))

    assert not complaints(25, 40)
    assert "at most 25 and 40" in complaints(26, 1)[0]
    assert "at most 25 and 40" in complaints(1, 41)[0]


main()

#!/bin/sh
# The source step (cuda/simt/translate.c): launches and dynamic shared memory are rewritten, nothing
# in comments, strings and raw strings is, lines keep their numbers, and what cannot be understood is
# refused with file and line.
set -u
build=$(dirname "${LOCKSTEP:-build/lockstep}")
translate=$build/simt/translate
[ -x "$translate" ] || { echo "skipped: $translate is not built"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# gives NAME TEXT...: the translation of standard input holds each TEXT.
gives() {
    name=$1
    shift
    cat > "$work/in.cu"
    if ! "$translate" "$work/in.cu" "$work/out.cpp" 2> "$work/errors"; then
        fail "$name: $(cat "$work/errors")"
        return
    fi
    for text in "$@"; do
        tr '\n' ' ' < "$work/out.cpp" | tr -s ' ' | grep -qF -- "$text" ||
            fail "$name: no '$text' in: $(cat "$work/out.cpp")"
    done
    # One line more than the source: the #line in front.
    [ "$(wc -l < "$work/out.cpp")" -eq $(($(wc -l < "$work/in.cu") + 1)) ] ||
        fail "$name: the number of lines has changed"
}

# keeps NAME: standard input comes out as it is.
keeps() {
    cat > "$work/in.cu"
    "$translate" "$work/in.cu" "$work/out.cpp" || fail "$1: refused"
    sed 1d "$work/out.cpp" | cmp -s - "$work/in.cu" || fail "$1: changed to $(cat "$work/out.cpp")"
}

# refuses NAME LINE TEXT: standard input is refused at that line, with that text.
refuses() {
    cat > "$work/in.cu"
    if "$translate" "$work/in.cu" "$work/out.cpp" 2> "$work/errors"; then
        fail "$1: was not refused: $(cat "$work/out.cpp")"
    elif ! grep -qF "in.cu:$2: error: $3" "$work/errors"; then
        fail "$1: said: $(cat "$work/errors")"
    fi
}

gives "a plain launch" '::simt::launch("k", [=](auto... simt_args) { k(simt_args...); }, SIMT_ADDRESS(k), ::simt::Config(1, 32), a, b);' << 'END'
void f() { k<<<1, 32>>>(a, b); }
END
gives "no arguments" '::simt::Config(g, b));' << 'END'
void f() { k<<<g, b>>>(); }
END
gives "four parts, over several lines, with comments" '(simt_args...); }, SIMT_ADDRESS(k' \
    '::simt::Config(dim3(2, 3), /* >>> not the end */ 32, n * sizeof(float), stream ), x, y );' << 'END'
void f() {
    k // a launch <<<
      <<<dim3(2, 3), /* >>> not the end */
         32,
         n * sizeof(float), stream
      >>>(x,
          y
      );
}
END
gives "templates" '{ ns::k<float, (3 > 2) ? 4 : 5>(simt_args...); }' \
    '{ table[i](simt_args...); }' '{ (*pointer)(simt_args...); }' '{ o.k<16>(simt_args...); }' << 'END'
void f() {
    ns::k<float, (3 > 2) ? 4 : 5><<<1, 1>>>(1);
    table[i]<<<1, 1>>>(2);
    (*pointer)<<<1, 1>>>(3);
    o.k<16><<<1, 1>>>(4);
}
END
gives "a shift inside the configuration" '::simt::Config((n >> 5) + (1 << 3), 1 << 8), p)' << 'END'
void f() { k<<<(n >> 5) + (1 << 3), 1 << 8>>>(p); }
END
gives "a launch in a macro" '#define RUN(k, n) \ ::simt::launch("k"' << 'END'
#define RUN(k, n) \
    k<<<n, \
        1>>>(n)
END
gives "NULL as an argument" ', nullptr, x)' << 'END'
void f() { k<<<1, 1>>>(NULL, x); }
END
gives "dynamic shared memory in a function" \
    'float *s = reinterpret_cast<float *>(::simt::dynamic_shared_memory()) ;' << 'END'
__global__ void k() { extern __shared__ float
    s[]; s[0] = 1; }
END
gives "dynamic shared memory outside, aligned" \
    'static ::simt::DynamicShared<unsigned char > s;' << 'END'
namespace a { extern __shared__ __align__(16) unsigned char s[]; }
END
gives "static shared memory" ' __shared__ int x;' << 'END'
__global__ void k() { static __shared__ int x; x = 1; }
END
keeps "comments and strings" << 'END'
// k<<<1, 2>>>(x) goes on \
   k<<<1, 2>>>(x)
/* k<<<1, 2>>>(x)
   extern __shared__ float s[]; */
const char *s = "k<<<1,2>>>(x) \" extern __shared__ float s[];", c = '"', d = '\'';
const char *raw = R"(k<<<1,2>>>")", *tag = u8R"x(k<<<1)" >>> )x";
int big = 1'000'000, hex = 0xFF'FF;
END
keeps "shifts and comparisons that are no launch" << 'END'
template <class T> struct S { static const int v = 1 << 2; };
int x = a << b << c, y = a >> 3, z = S<S<S<int>>>::v;
extern int other[];
extern "C" { void f(void); }
END
refuses "no name" 2 "<<< without the name of a kernel" << 'END'
void f() {
    <<<1, 1>>>(x); }
END
refuses "no end of the configuration" 3 "<<< without its >>>" << 'END'
void f() {

    k<<<1, 1(x);
}
END
refuses "no arguments" 1 ">>> without the kernel's arguments" << 'END'
void f() { k<<<1, 1>>>; }
END
refuses "an open string" 2 "a string or character constant has no end" << 'END'
int a;
const char *s = "abc
;
END
refuses "an open comment" 3 "a comment without its end" << 'END'


/* abc
END
refuses "an open raw string" 1 "a raw string without its end" << 'END'
const char *s = R"(abc";
END
refuses "shared memory that is no array" 2 "extern __shared__ is understood as" << 'END'
__global__ void k() {
    extern __shared__ float x; }
END

[ "$failed" -eq 0 ] && echo "translate: all as expected"
exit "$failed"

/* dim3 and the short vectors, with CUDA's names, sizes and alignments (programming guide,
 * "Built-in Vector Types"). */
#ifndef SIMT_VECTOR_TYPES_H
#define SIMT_VECTOR_TYPES_H

#define SIMT_VECTOR_1(T, name, bytes)                                                              \
    struct name##1 {                                                                               \
        T x;                                                                                       \
    };                                                                                             \
    static inline name##1 make_##name##1(T x) {                                                    \
        return name##1 {x};                                                                        \
    }
#define SIMT_VECTOR_2(T, name, bytes)                                                              \
    struct alignas(bytes) name##2 {                                                                \
        T x, y;                                                                                    \
    };                                                                                             \
    static inline name##2 make_##name##2(T x, T y) {                                               \
        return name##2 {x, y};                                                                     \
    }
#define SIMT_VECTOR_3(T, name, bytes)                                                              \
    struct name##3 {                                                                               \
        T x, y, z;                                                                                 \
    };                                                                                             \
    static inline name##3 make_##name##3(T x, T y, T z) {                                          \
        return name##3 {x, y, z};                                                                  \
    }
#define SIMT_VECTOR_4(T, name, bytes)                                                              \
    struct alignas(bytes) name##4 {                                                                \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    static inline name##4 make_##name##4(T x, T y, T z, T w) {                                     \
        return name##4 {x, y, z, w};                                                               \
    }
#define SIMT_VECTORS(T, name, size)                                                                \
    SIMT_VECTOR_1(T, name, size)                                                                   \
    SIMT_VECTOR_2(T, name, 2 * size)                                                               \
    SIMT_VECTOR_3(T, name, size)                                                                   \
    SIMT_VECTOR_4(T, name, (4 * size > 16 ? 16 : 4 * size))

SIMT_VECTORS(signed char, char, 1)
SIMT_VECTORS(unsigned char, uchar, 1)
SIMT_VECTORS(short, short, 2)
SIMT_VECTORS(unsigned short, ushort, 2)
SIMT_VECTORS(int, int, 4)
SIMT_VECTORS(unsigned int, uint, 4)
SIMT_VECTORS(long, long, 8)
SIMT_VECTORS(unsigned long, ulong, 8)
SIMT_VECTORS(long long, longlong, 8)
SIMT_VECTORS(unsigned long long, ulonglong, 8)
SIMT_VECTORS(float, float, 4)
SIMT_VECTORS(double, double, 8)

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
        : x(vx), y(vy), z(vz) {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {
    }
    constexpr operator uint3() const {
        return uint3{x, y, z};
    }
};

#endif

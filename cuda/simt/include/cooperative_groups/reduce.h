/* cooperative_groups::reduce and scans over the lanes of a tile or a coalesced group. Sums of
 * floats go by halving distances, as the guide's own example does; every lane gets the same bits.
 */
#ifndef SIMT_COOPERATIVE_GROUPS_REDUCE_H
#define SIMT_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define SIMT_GROUP_OPERATION(name, expression)                                                     \
    template <class T = void> struct name {                                                        \
        T operator()(const T &a, const T &b) const {                                               \
            return expression;                                                                     \
        }                                                                                          \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <class T> T operator()(const T &a, const T &b) const {                            \
            return expression;                                                                     \
        }                                                                                          \
    };
SIMT_GROUP_OPERATION(plus, (T)(a + b))
SIMT_GROUP_OPERATION(less, (b < a ? b : a))
SIMT_GROUP_OPERATION(greater, (a < b ? b : a))
SIMT_GROUP_OPERATION(bit_and, (T)(a &b))
SIMT_GROUP_OPERATION(bit_or, (T)(a | b))
SIMT_GROUP_OPERATION(bit_xor, (T)(a ^ b))
#undef SIMT_GROUP_OPERATION

template <class Group, class T, class Operation>
inline T reduce(const Group &group, T value, Operation operation) {
    unsigned rank = group.thread_rank(), size = group.size(), distance = 1;
    while (distance < size) {
        distance *= 2;
    }
    for (distance /= 2; distance > 0; distance /= 2) {
        T other = group.shfl_down(value, distance);
        value = rank + distance < size && rank < distance ? operation(value, other) : value;
    }
    return group.shfl(value, 0);
}

template <class Group, class T, class Operation = plus<>>
inline T inclusive_scan(const Group &group, T value, Operation operation = Operation()) {
    unsigned rank = group.thread_rank();
    for (unsigned distance = 1; distance < group.size(); distance *= 2) {
        T other = group.shfl_up(value, distance);
        value = rank >= distance ? operation(other, value) : value;
    }
    return value;
}

/* The first lane gets T(): 0 for a sum. */
template <class Group, class T, class Operation = plus<>>
inline T exclusive_scan(const Group &group, T value, Operation operation = Operation()) {
    T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? T() : before;
}

} // namespace cooperative_groups

#endif

/* What a warp operation computes when the last lane has come, where no template is needed. */
#include "warp.h"

namespace simt {

template <class Do> static void for_lanes(uint64_t lanes, Do action) {
    for (; lanes != 0; lanes &= lanes - 1) {
        action(__builtin_ctzll(lanes));
    }
}

void compute_nothing(Warp *, uint64_t, const void *) {
}

void compute_ballot(Warp *warp, uint64_t lanes, const void *) {
    uint64_t votes = 0;
    for_lanes(lanes, [&](int lane) { votes |= (uint64_t)(warp->slots[lane].in[0] != 0) << lane; });
    for_lanes(lanes, [&](int lane) { warp->slots[lane].out[0] = votes; });
}

void compute_match_any(Warp *warp, uint64_t lanes, const void *) {
    for_lanes(lanes, [&](int lane) {
        uint64_t same = 0;
        for_lanes(lanes, [&](int other) {
            same |= (uint64_t)(warp->slots[other].in[0] == warp->slots[lane].in[0]) << other;
        });
        warp->slots[lane].out[0] = same;
    });
}

void compute_match_all(Warp *warp, uint64_t lanes, const void *) {
    bool same = true;
    uint64_t value = warp->slots[__builtin_ctzll(lanes)].in[0];
    for_lanes(lanes, [&](int lane) { same &= warp->slots[lane].in[0] == value; });
    for_lanes(lanes, [&](int lane) { warp->slots[lane].out[0] = same ? lanes : 0; });
}

} // namespace simt

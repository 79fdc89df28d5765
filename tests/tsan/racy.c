/* The fault that the thread sanitizer must find: `nowait` takes away the barrier between writing
 * a[] and reading another thread's part of it. mended.c is the same program with the barrier; the
 * sanitizer must not complain about that one. tools/tsan_proof.sh runs both. */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
    static int a[N], b[N];
#pragma omp parallel num_threads(2)
    {
#pragma omp for nowait
        for (int i = 0; i < N; i++) {
            a[i] = i;
        }
#pragma omp for
        for (int i = 0; i < N; i++) {
            b[i] = a[N - 1 - i];
        }
    }
    printf("%d\n", b[0]);
    return 0;
}

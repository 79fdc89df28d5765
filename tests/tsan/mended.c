/* The twin of racy.c with the barrier at the end of the first loop: there is no race. */
#include <stdio.h>

enum { N = 1000 };

int main(void) {
    static int a[N], b[N];
#pragma omp parallel num_threads(2)
    {
#pragma omp for
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

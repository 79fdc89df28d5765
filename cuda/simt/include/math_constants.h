/* The constants of <math_constants.h> that kernels use most. */
#ifndef SIMT_MATH_CONSTANTS_H
#define SIMT_MATH_CONSTANTS_H

#include <math.h>

#define CUDART_INF_F        INFINITY
#define CUDART_NAN_F        NAN
#define CUDART_MIN_DENORM_F 1.4012984643e-45f
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_ZERO_F       0.0f
#define CUDART_ONE_F        1.0f
#define CUDART_PI_F         3.141592654f
#define CUDART_PIO2_F       1.570796327f
#define CUDART_SQRT_TWO_F   1.414213562f
#define CUDART_L2E_F        1.442695041f
#define CUDART_LN2_F        0.693147181f
#define CUDART_INF          ((double)INFINITY)
#define CUDART_NAN          ((double)NAN)
#define CUDART_PI           3.1415926535897931e+0
#define CUDART_LN2          6.9314718055994529e-1
#define CUDART_SQRT_TWO     1.4142135623730951e+0

#endif

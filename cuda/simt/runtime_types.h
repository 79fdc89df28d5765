/* The types, constants and handles of the CUDA runtime API that the interpreter knows. Names,
 * values and meaning are those of the CUDA Runtime API reference. */
#ifndef SIMT_RUNTIME_TYPES_H
#define SIMT_RUNTIME_TYPES_H

#include <cstddef>

/* Lanes of a warp: 32 as on NVIDIA's GPUs; -DSIMT_WARP_WIDTH=64 compiles a source for 64. */
#ifndef SIMT_WARP_WIDTH
#define SIMT_WARP_WIDTH 32
#endif

enum cudaError {
#define X(name, value, text) name = value,
#include "errors.inc"
#undef X
};
typedef enum cudaError cudaError_t;

typedef struct SimtStream *cudaStream_t;
typedef struct SimtEvent *cudaEvent_t;
typedef struct SimtGraph *cudaGraph_t;
typedef struct SimtGraphExec *cudaGraphExec_t;
typedef struct SimtGraphNode *cudaGraphNode_t;
typedef void (*cudaHostFn_t)(void *data);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);

#define cudaStreamLegacy    ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

enum {
    cudaStreamDefault = 0,
    cudaStreamNonBlocking = 1,
    cudaEventDefault = 0,
    cudaEventBlockingSync = 1,
    cudaEventDisableTiming = 2,
    cudaHostAllocDefault = 0,
    cudaHostAllocPortable = 1,
    cudaHostAllocMapped = 2,
    cudaHostAllocWriteCombined = 4,
    cudaHostRegisterDefault = 0,
    cudaMemAttachGlobal = 1,
    cudaMemAttachHost = 2,
    cudaDeviceScheduleAuto = 0,
    cudaDeviceScheduleSpin = 1,
    cudaDeviceScheduleYield = 2,
    cudaDeviceScheduleBlockingSync = 4,
    cudaDeviceMapHost = 8,
    cudaOccupancyDefault = 0
};
#define cudaCpuDeviceId     (-1)
#define cudaInvalidDeviceId (-2)

enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal = 0,
    cudaStreamCaptureModeThreadLocal = 1,
    cudaStreamCaptureModeRelaxed = 2
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone = 0,
    cudaStreamCaptureStatusActive = 1,
    cudaStreamCaptureStatusInvalidated = 2
};

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
    enum cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly = 2,
    cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseUnsetPreferredLocation = 4,
    cudaMemAdviseSetAccessedBy = 5,
    cudaMemAdviseUnsetAccessedBy = 6
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
    cudaFuncCachePreferNone = 0,
    cudaFuncCachePreferShared = 1,
    cudaFuncCachePreferL1 = 2,
    cudaFuncCachePreferEqual = 3
};
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxShared = 100,
    cudaSharedmemCarveoutMaxL1 = 0
};
enum cudaLimit { cudaLimitStackSize = 0, cudaLimitPrintfFifoSize = 1, cudaLimitMallocHeapSize = 2 };
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

enum cudaComputeMode {
    cudaComputeModeDefault = 0,
    cudaComputeModeExclusive = 1,
    cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess = 3
};

/* Each attribute: its name, value, and the field of cudaDeviceProp that says the same. */
#define SIMT_DEVICE_ATTRIBUTES(X)                                                                  \
    X(MaxThreadsPerBlock, 1, maxThreadsPerBlock)                                                   \
    X(MaxBlockDimX, 2, maxThreadsDim[0])                                                           \
    X(MaxBlockDimY, 3, maxThreadsDim[1])                                                           \
    X(MaxBlockDimZ, 4, maxThreadsDim[2])                                                           \
    X(MaxGridDimX, 5, maxGridSize[0])                                                              \
    X(MaxGridDimY, 6, maxGridSize[1])                                                              \
    X(MaxGridDimZ, 7, maxGridSize[2])                                                              \
    X(MaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                                               \
    X(TotalConstantMemory, 9, totalConstMem)                                                       \
    X(WarpSize, 10, warpSize)                                                                      \
    X(MaxPitch, 11, memPitch)                                                                      \
    X(MaxRegistersPerBlock, 12, regsPerBlock)                                                      \
    X(ClockRate, 13, clockRate)                                                                    \
    X(TextureAlignment, 14, textureAlignment)                                                      \
    X(GpuOverlap, 15, deviceOverlap)                                                               \
    X(MultiProcessorCount, 16, multiProcessorCount)                                                \
    X(KernelExecTimeout, 17, kernelExecTimeoutEnabled)                                             \
    X(Integrated, 18, integrated)                                                                  \
    X(CanMapHostMemory, 19, canMapHostMemory)                                                      \
    X(ComputeMode, 20, computeMode)                                                                \
    X(ConcurrentKernels, 31, concurrentKernels)                                                    \
    X(EccEnabled, 32, ECCEnabled)                                                                  \
    X(PciBusId, 33, pciBusID)                                                                      \
    X(PciDeviceId, 34, pciDeviceID)                                                                \
    X(TccDriver, 35, tccDriver)                                                                    \
    X(MemoryClockRate, 36, memoryClockRate)                                                        \
    X(GlobalMemoryBusWidth, 37, memoryBusWidth)                                                    \
    X(L2CacheSize, 38, l2CacheSize)                                                                \
    X(MaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)                                \
    X(AsyncEngineCount, 40, asyncEngineCount)                                                      \
    X(UnifiedAddressing, 41, unifiedAddressing)                                                    \
    X(PciDomainId, 50, pciDomainID)                                                                \
    X(ComputeCapabilityMajor, 75, major)                                                           \
    X(ComputeCapabilityMinor, 76, minor)                                                           \
    X(StreamPrioritiesSupported, 78, streamPrioritiesSupported)                                    \
    X(GlobalL1CacheSupported, 79, globalL1CacheSupported)                                          \
    X(LocalL1CacheSupported, 80, localL1CacheSupported)                                            \
    X(MaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor)                            \
    X(MaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor)                                    \
    X(ManagedMemory, 83, managedMemory)                                                            \
    X(IsMultiGpuBoard, 84, isMultiGpuBoard)                                                        \
    X(HostNativeAtomicSupported, 86, hostNativeAtomicSupported)                                    \
    X(SingleToDoublePrecisionPerfRatio, 87, singleToDoublePrecisionPerfRatio)                      \
    X(PageableMemoryAccess, 88, pageableMemoryAccess)                                              \
    X(ConcurrentManagedAccess, 89, concurrentManagedAccess)                                        \
    X(CooperativeLaunch, 95, cooperativeLaunch)                                                    \
    X(MaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)                                    \
    X(HostRegisterSupported, 99, hostRegisterSupported)                                            \
    X(MaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)                                 \
    X(ReservedSharedMemoryPerBlock, 111, reservedSharedMemPerBlock)

enum cudaDeviceAttr {
#define X(name, value, field) cudaDevAttr##name = value,
    SIMT_DEVICE_ATTRIBUTES(X)
#undef X
};

struct cudaUUID_t {
    char bytes[16];
};
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem, sharedMemPerBlock, memPitch, totalConstMem;
    size_t textureAlignment, texturePitchAlignment, surfaceAlignment;
    size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int major, minor, clockRate, multiProcessorCount, deviceOverlap, kernelExecTimeoutEnabled;
    int integrated, canMapHostMemory, computeMode, concurrentKernels, ECCEnabled;
    int pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing;
    int memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor, streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported, regsPerMultiprocessor;
    int managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio, pageableMemoryAccess, concurrentManagedAccess;
    int computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch;
    int cooperativeMultiDeviceLaunch, pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost, maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    int hostRegisterSupported, memoryPoolsSupported, clusterLaunch;
};

#endif

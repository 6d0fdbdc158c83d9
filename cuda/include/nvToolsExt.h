// nvToolsExt.h -- NVTX: marks of a program for a profiler. Without one they do nothing, here as with NVIDIA's library.
#pragma once
#define NVTX_VERSION 3

#include <stddef.h>
#include <stdint.h>

#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2, NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1, NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union { uint64_t ullValue; int64_t llValue; double dValue; } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define HEDDLE_MARK static inline __attribute__((unused))
HEDDLE_MARK void nvtxMarkA(const char *s) { (void)s; }
HEDDLE_MARK void nvtxMark(const char *s) { (void)s; }
HEDDLE_MARK void nvtxMarkEx(const nvtxEventAttributes_t *a) { (void)a; }
HEDDLE_MARK int nvtxRangePushA(const char *s) { return (void)s, 0; }
HEDDLE_MARK int nvtxRangePush(const char *s) { return (void)s, 0; }
HEDDLE_MARK int nvtxRangePushEx(const nvtxEventAttributes_t *a) { return (void)a, 0; }
HEDDLE_MARK int nvtxRangePop(void) { return 0; }
HEDDLE_MARK nvtxRangeId_t nvtxRangeStartA(const char *s) { return (void)s, 0; }
HEDDLE_MARK nvtxRangeId_t nvtxRangeStart(const char *s) { return (void)s, 0; }
HEDDLE_MARK nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *a) { return (void)a, 0; }
HEDDLE_MARK void nvtxRangeEnd(nvtxRangeId_t id) { (void)id; }
HEDDLE_MARK void nvtxNameOsThreadA(uint32_t id, const char *s) { (void)id, (void)s; }
HEDDLE_MARK void nvtxNameCategoryA(uint32_t id, const char *s) { (void)id, (void)s; }
HEDDLE_MARK nvtxDomainHandle_t nvtxDomainCreateA(const char *s) { return (void)s, (nvtxDomainHandle_t)0; }
HEDDLE_MARK void nvtxDomainDestroy(nvtxDomainHandle_t d) { (void)d; }
HEDDLE_MARK int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) { return (void)d, (void)a, 0; }
HEDDLE_MARK int nvtxDomainRangePop(nvtxDomainHandle_t d) { return (void)d, 0; }
#undef HEDDLE_MARK

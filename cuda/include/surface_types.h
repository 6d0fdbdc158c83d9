// surface_types.h -- surface objects and references.
#pragma once
#define __SURFACE_TYPES_H__

#include "texture_types.h"

#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC

typedef unsigned long long cudaSurfaceObject_t;

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum cudaSurfaceFormatMode { cudaFormatModeForced = 0, cudaFormatModeAuto = 1 };

struct surfaceReference { struct cudaChannelFormatDesc channelDesc; };

#ifdef __cplusplus
template <typename T, int kind = cudaSurfaceType1D>
struct __attribute__((device_builtin_surface_type)) surface : public surfaceReference {
    __host__ surface() {}
};
// Of a surface, not its elements: surface<void, cudaSurfaceType2D>.
template <int kind>
struct __attribute__((device_builtin_surface_type)) surface<void, kind> : public surfaceReference {
    __host__ surface() {}
};
#endif

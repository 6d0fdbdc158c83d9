// channel_descriptor.h -- what an element of an array or a texture consists of.
#pragma once
#define __CHANNEL_DESCRIPTOR_H__

#include "driver_types.h"

extern "C" struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                              enum cudaChannelFormatKind f);

namespace heddle {
template <typename T> struct channels {
    static __host__ cudaChannelFormatDesc desc() { return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone); }
};
#define HEDDLE_CHANNELS(T, N, KIND)                                                                          \
    template <> struct channels<T> {                                                                         \
        static __host__ cudaChannelFormatDesc desc()                                                         \
        {                                                                                                    \
            int b = (int)sizeof(T) * 8 / N;                                                                  \
            return cudaCreateChannelDesc(b, N > 1 ? b : 0, N > 2 ? b : 0, N > 3 ? b : 0, KIND);              \
        }                                                                                                    \
    };
#define HEDDLE_CHANNELS4(NAME, KIND)                                                                         \
    HEDDLE_CHANNELS(NAME##1, 1, KIND)                                                                        \
    HEDDLE_CHANNELS(NAME##2, 2, KIND)                                                                        \
    HEDDLE_CHANNELS(NAME##4, 4, KIND)
HEDDLE_CHANNELS4(char, cudaChannelFormatKindSigned)
HEDDLE_CHANNELS4(uchar, cudaChannelFormatKindUnsigned)
HEDDLE_CHANNELS4(short, cudaChannelFormatKindSigned)
HEDDLE_CHANNELS4(ushort, cudaChannelFormatKindUnsigned)
HEDDLE_CHANNELS4(int, cudaChannelFormatKindSigned)
HEDDLE_CHANNELS4(uint, cudaChannelFormatKindUnsigned)
HEDDLE_CHANNELS4(float, cudaChannelFormatKindFloat)
HEDDLE_CHANNELS(char, 1, cudaChannelFormatKindSigned)
HEDDLE_CHANNELS(signed char, 1, cudaChannelFormatKindSigned)
HEDDLE_CHANNELS(unsigned char, 1, cudaChannelFormatKindUnsigned)
HEDDLE_CHANNELS(short, 1, cudaChannelFormatKindSigned)
HEDDLE_CHANNELS(unsigned short, 1, cudaChannelFormatKindUnsigned)
HEDDLE_CHANNELS(int, 1, cudaChannelFormatKindSigned)
HEDDLE_CHANNELS(unsigned int, 1, cudaChannelFormatKindUnsigned)
HEDDLE_CHANNELS(float, 1, cudaChannelFormatKindFloat)
#undef HEDDLE_CHANNELS
#undef HEDDLE_CHANNELS4
} // namespace heddle

template <typename T> __host__ inline cudaChannelFormatDesc cudaCreateChannelDesc() { return heddle::channels<T>::desc(); }

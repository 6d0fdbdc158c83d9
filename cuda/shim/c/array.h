// Arrays and images of both interfaces. An array is rows of device memory, which lie one after the other; hardware has
// an order of its own.
#pragma once
#include "wire.h"

struct texel {
    int kind; // 0 signed, 1 unsigned, 2 float
    int bytes, channels; // of one channel; 1, 2 or 4
};

// array is what a cudaArray_t and a CUarray point at.
struct array {
    struct texel texel;
    uint64_t width, height, depth; // as the program gave them: depth is the number of layers where there are some
    unsigned flags;                // 1 layered, 2 for surfaces, 4 a cube map
    uint64_t at, pitch;            // device address, and bytes from row to row
};

int heddle_texel_bytes(const struct texel *t);
int heddle_array(struct array **a, const struct texel *t, uint64_t width, uint64_t height, uint64_t depth, unsigned flags);
int heddle_array_free(struct array *a);
// heddle_array_place finds the address of byte x of row y of slice z; rows of width bytes, height of them in depth slices,
// lie within the array from there on.
int heddle_array_place(const struct array *a, uint64_t x, uint64_t y, uint64_t z, uint64_t width, uint64_t height,
                       uint64_t depth, uint64_t *at);
// heddle_array_copy copies n bytes between an array, from byte x of row y on, and memory in a row.
int heddle_array_copy(const struct array *a, uint64_t x, uint64_t y, uint64_t memory, uint64_t n, int kind, int to_array,
                      uint64_t stream, int async);

// image is what a texture or a surface shows, and how it is read.
struct image {
    struct texel texel;
    uint64_t at, pitch;
    uint64_t width, height, depth, layers; // texels; layers 0: it has none
    int mode[3];                           // as cudaTextureAddressMode
    int linear, normalized, unit;          // unit: integers are read as floats from 0 or -1 to 1
};
void heddle_image_of_array(struct image *i, const struct array *a);
int heddle_image_border(const struct image *i, const float color[4]); // refuses a border other than 0
int heddle_image(const struct image *i, uint64_t *handle);

// Arrays, and the images that textures and surfaces show.
#include "array.h"

int heddle_texel_bytes(const struct texel *t) { return t->bytes * t->channels; }

static uint64_t at_least_1(uint64_t n) { return n ? n : 1; }

int heddle_array(struct array **to, const struct texel *t, uint64_t width, uint64_t height, uint64_t depth, unsigned flags)
{
    const uint64_t most = 1 << 27;
    if (!to || !width || width > most || height > most || depth > most) return 1;
    if (t->channels != 1 && t->channels != 2 && t->channels != 4) return 20; // invalid channel descriptor
    if (flags & 1 && !depth || flags & 4 && (width != height || depth % 6)) return 1;
    if (flags & ~0xfu) {
        heddle_refuse("an array", "only layered arrays, cube maps and arrays for surfaces are there");
        return CUDA_NOT_SUPPORTED;
    }
    struct array *a = calloc(1, sizeof *a);
    if (!a) return 2;
    a->texel = *t, a->width = width, a->height = height, a->depth = depth, a->flags = flags;
    a->pitch = (width * (uint64_t)heddle_texel_bytes(t) + 31) & ~31ull;
    uint64_t rows = at_least_1(height) * at_least_1(depth);
    int e = rows > HEDDLE_WINDOW_BYTES / a->pitch ? 2 : heddle_allocate(&a->at, rows * a->pitch, 0);
    if (e) free(a);
    else *to = a;
    return e;
}

int heddle_array_free(struct array *a)
{
    if (!a) return 0;
    uint64_t v[VALUES] = {a->at};
    int e = heddle_call(CALL_FREE, v, NULL, 0, NULL, 0);
    if (!e) free(a);
    return e;
}

int heddle_array_place(const struct array *a, uint64_t x, uint64_t y, uint64_t z, uint64_t width, uint64_t height,
                       uint64_t depth, uint64_t *at)
{
    uint64_t row = a->width * (uint64_t)heddle_texel_bytes(&a->texel), rows = at_least_1(a->height);
    if (x > row || width > row - x || y > rows || height > rows - y || z > at_least_1(a->depth) ||
        depth > at_least_1(a->depth) - z)
        return 1;
    *at = a->at + x + a->pitch * (y + rows * z);
    return 0;
}

int heddle_array_copy(const struct array *a, uint64_t x, uint64_t y, uint64_t memory, uint64_t n, int kind, int to_array,
                      uint64_t stream, int async)
{
    uint64_t row = a->width * (uint64_t)heddle_texel_bytes(&a->texel), at;
    if (x >= row && n) return 1;
    while (n) { // the rest of the first row, whole rows, the last one's part
        uint64_t width = x || n < row ? (row - x < n ? row - x : n) : row, height = width == row ? n / row : 1;
        int e = heddle_array_place(a, x, y, 0, width, height, 1, &at);
        if (!e)
            e = to_array ? heddle_copy(at, a->pitch, memory, width, width, height, kind, stream, async)
                         : heddle_copy(memory, width, at, a->pitch, width, height, kind, stream, async);
        if (e) return e;
        x = 0, y += height, memory += width * height, n -= width * height;
    }
    return 0;
}

void heddle_image_of_array(struct image *i, const struct array *a)
{
    i->texel = a->texel, i->at = a->at, i->pitch = a->pitch;
    i->width = a->width, i->height = at_least_1(a->height);
    int layers = (a->flags & 5) != 0;
    i->depth = layers ? 1 : at_least_1(a->depth), i->layers = layers ? a->depth : 0;
}

int heddle_image_border(const struct image *i, const float color[4])
{
    if (i->mode[0] != 3 && i->mode[1] != 3 && i->mode[2] != 3) return 0;
    for (int k = 0; k < 4; k++)
        if (color[k] != 0) return heddle_unsupported("a texture with a border color other than 0");
    return 0;
}

int heddle_image(const struct image *i, uint64_t *handle)
{
    static const uint64_t modes[4] = {2, 0, 3, 1}; // of CALL_IMAGE: clamp, border, wrap, mirror
    uint64_t v[VALUES] = {i->at, i->pitch, i->width, i->height, i->depth | i->layers << 32,
                          (uint64_t)i->texel.kind | (uint64_t)i->texel.bytes << 8 | (uint64_t)i->texel.channels << 16};
    for (int k = 0; k < 3; k++) v[6] |= modes[i->mode[k] & 3] << 2 * k;
    v[6] |= (uint64_t)!!i->linear << 6 | (uint64_t)!!i->normalized << 7 | (uint64_t)!!i->unit << 8;
    int e = heddle_call(CALL_IMAGE, v, NULL, 0, NULL, 0);
    if (!e) *handle = v[0];
    return e;
}

// Arrays, textures and surfaces of the runtime API.
#include "array.h"
#include "runtime.h"

// texel_of reads a description of channels.
static int texel_of(const struct cudaChannelFormatDesc *d, struct texel *t)
{
    if (!d) return 1;
    int channels = !d->y ? 1 : !d->z ? 2 : !d->w ? 3 : 4, bits = d->x;
    if ((bits != 8 && bits != 16 && bits != 32) || channels == 3 || channels > 1 && d->y != bits ||
        channels > 2 && (d->z != bits || d->w != bits) || d->f > cudaChannelFormatKindFloat ||
        d->f == cudaChannelFormatKindFloat && bits == 8)
        return cudaErrorInvalidChannelDescriptor;
    *t = (struct texel){(int)d->f, bits / 8, channels};
    return 0;
}
static struct cudaChannelFormatDesc desc_of(const struct texel *t)
{
    int b = 8 * t->bytes, n = t->channels;
    struct cudaChannelFormatDesc d = {b, n > 1 ? b : 0, n > 2 ? b : 0, n > 3 ? b : 0, (enum cudaChannelFormatKind)t->kind};
    return d;
}
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
    struct cudaChannelFormatDesc d = {x, y, z, w, f};
    return d;
}
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array)
{
    if (!desc || !array) RETURN(1);
    *desc = desc_of(&((const struct array *)array)->texel);
    RETURN(0);
}

// ---- arrays

static int make(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent e, unsigned flags)
{
    struct texel t;
    int err = heddle_ready();
    if (!err) err = texel_of(desc, &t);
    return err ? err : heddle_array((struct array **)array, &t, e.width, e.height, e.depth, flags);
}
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned flags)
{
    RETURN(make(array, desc, (struct cudaExtent){width, height, 0}, flags));
}
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                              unsigned flags)
{
    RETURN(make(array, desc, extent, flags));
}
cudaError_t cudaFreeArray(cudaArray_t array) { RETURN(heddle_array_free((struct array *)array)); }
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t array)
{
    const struct array *a = (const struct array *)array;
    if (!a) RETURN(1);
    if (desc) *desc = desc_of(&a->texel);
    if (extent) *extent = (struct cudaExtent){a->width, a->height, a->depth};
    if (flags) *flags = a->flags;
    RETURN(0);
}

// ---- copies

static int rows(cudaArray_const_t array, size_t x, size_t y, const void *memory, size_t pitch, size_t width,
                size_t height, int kind, int to_array, cudaStream_t stream, int async)
{
    uint64_t at, m = (uint64_t)memory;
    if (!array) return 1;
    const struct array *a = (const struct array *)array;
    int e = heddle_array_place(a, x, y, 0, width, height, 1, &at);
    if (e) return e;
    return to_array ? heddle_copy(at, a->pitch, m, pitch, width, height, kind, (uint64_t)stream, async)
                    : heddle_copy(m, pitch, at, a->pitch, width, height, kind, (uint64_t)stream, async);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind)
{
    RETURN(rows(dst, x, y, src, pitch, width, height, kind, 1, 0, 0));
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src, size_t pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN(rows(dst, x, y, src, pitch, width, height, kind, 1, stream, 1));
}
cudaError_t cudaMemcpy2DFromArray(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind)
{
    RETURN(rows(src, x, y, dst, pitch, width, height, kind, 0, 0, 0));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t pitch, cudaArray_const_t src, size_t x, size_t y, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN(rows(src, x, y, dst, pitch, width, height, kind, 0, stream, 1));
}
static int bytes(cudaArray_const_t array, size_t x, size_t y, const void *memory, size_t n, int kind, int to_array,
                 cudaStream_t stream, int async)
{
    if (!array) return 1;
    return heddle_array_copy((const struct array *)array, x, y, (uint64_t)memory, n, kind, to_array, (uint64_t)stream,
                             async);
}
cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n, enum cudaMemcpyKind kind)
{
    RETURN(bytes(dst, x, y, src, n, kind, 1, 0, 0));
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src, size_t n,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN(bytes(dst, x, y, src, n, kind, 1, stream, 1));
}
cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n, enum cudaMemcpyKind kind)
{
    RETURN(bytes(src, x, y, dst, n, kind, 0, 0, 0));
}
cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t n,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RETURN(bytes(src, x, y, dst, n, kind, 0, stream, 1));
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t dx, size_t dy, cudaArray_const_t src, size_t sx, size_t sy,
                                     size_t width, size_t height, enum cudaMemcpyKind kind)
{
    uint64_t from;
    if (!src) RETURN(1);
    const struct array *a = (const struct array *)src;
    int e = heddle_array_place(a, sx, sy, 0, width, height, 1, &from);
    RETURN(e ? e : rows(dst, dx, dy, (const void *)from, a->pitch, width, height, kind, 1, 0, 0));
}

// ---- textures and surfaces

static int resource(struct image *i, const struct cudaResourceDesc *r)
{
    const struct array *a = (const struct array *)r->res.array.array;
    int e;
    switch (r->resType) {
    case cudaResourceTypeArray:
        if (!a) return 1;
        heddle_image_of_array(i, a);
        return 0;
    case cudaResourceTypeLinear:
        if ((e = texel_of(&r->res.linear.desc, &i->texel))) return e;
        i->at = (uint64_t)r->res.linear.devPtr, i->width = r->res.linear.sizeInBytes / (size_t)heddle_texel_bytes(&i->texel);
        i->height = i->depth = 1;
        return 0;
    case cudaResourceTypePitch2D:
        if ((e = texel_of(&r->res.pitch2D.desc, &i->texel))) return e;
        i->at = (uint64_t)r->res.pitch2D.devPtr, i->pitch = r->res.pitch2D.pitchInBytes;
        i->width = r->res.pitch2D.width, i->height = r->res.pitch2D.height, i->depth = 1;
        return 0;
    default: return heddle_unsupported("a texture of a mipmapped array");
    }
}
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *r,
                                    const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *view)
{
    int e = heddle_ready();
    if (!e && (!object || !r || !t)) e = 1;
    if (!e && view && view->format != cudaResViewFormatNone) e = heddle_unsupported("a texture with a resource view");
    struct image i = {0};
    if (!e) e = resource(&i, r);
    if (e) RETURN(e);
    for (int k = 0; k < 3; k++) i.mode[k] = (int)t->addressMode[k];
    e = heddle_image_border(&i, t->borderColor);
    if (!e && t->sRGB) e = heddle_unsupported("a texture in sRGB");
    if (e) RETURN(e);
    // Linear memory is read by whole indices alone: no filter has a meaning.
    i.linear = t->filterMode == cudaFilterModeLinear && r->resType != cudaResourceTypeLinear;
    i.normalized = t->normalizedCoords;
    i.unit = t->readMode == cudaReadModeNormalizedFloat && i.texel.kind != 2 && i.texel.bytes < 4;
    RETURN(heddle_image(&i, (uint64_t *)object));
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *r)
{
    struct image i = {.mode = {1, 1, 1}};
    int e = heddle_ready();
    if (!e && (!object || !r || r->resType != cudaResourceTypeArray)) e = 1;
    if (!e) e = resource(&i, r);
    RETURN(e ? e : heddle_image(&i, (uint64_t *)object));
}
static int end(uint64_t handle)
{
    uint64_t v[VALUES] = {handle};
    int e = heddle_ready();
    return e ? e : heddle_call(CALL_IMAGE_END, v, NULL, 0, NULL, 0);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) { RETURN(end(object)); }
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { RETURN(end(object)); }

// ---- references of CUDA 11 and older: variables of a module that show an image

static int bind(const struct textureReference *ref, struct image *i, int filters)
{
    for (int k = 0; k < 3; k++) i->mode[k] = (int)ref->addressMode[k];
    i->linear = filters && ref->filterMode == cudaFilterModeLinear;
    i->normalized = ref->normalized;
    i->unit = heddle_reads_as_float(ref) && i->texel.kind != 2 && i->texel.bytes < 4;
    uint64_t handle;
    int e = heddle_image(i, &handle);
    return e ? e : heddle_bind(ref, handle);
}
cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *ref, const void *ptr,
                            const struct cudaChannelFormatDesc *desc, size_t size)
{
    struct image i = {.at = (uint64_t)ptr, .height = 1, .depth = 1};
    uint64_t v[VALUES] = {(uint64_t)ptr};
    int e = heddle_ready();
    if (!e && !ref) e = cudaErrorInvalidTexture;
    if (!e) e = texel_of(desc, &i.texel);
    if (!e) e = heddle_call(CALL_POINTER, v, NULL, 0, NULL, 0);
    if (e) RETURN(e);
    uint64_t left = v[1] + v[2] - (uint64_t)ptr; // without a size it shows all there is
    i.width = (size < left ? size : left) / (uint64_t)heddle_texel_bytes(&i.texel);
    if (offset) *offset = 0; // images begin where they are told to
    RETURN(bind(ref, &i, 0));
}
cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *ref, const void *ptr,
                              const struct cudaChannelFormatDesc *desc, size_t width, size_t height, size_t pitch)
{
    struct image i = {.at = (uint64_t)ptr, .width = width, .height = height, .depth = 1, .pitch = pitch};
    int e = heddle_ready();
    if (!e && !ref) e = cudaErrorInvalidTexture;
    if (!e) e = texel_of(desc, &i.texel);
    if (!e && offset) *offset = 0;
    RETURN(e ? e : bind(ref, &i, 1));
}
cudaError_t cudaBindTextureToArray(const struct textureReference *ref, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc)
{
    struct image i = {0};
    int e = heddle_ready();
    (void)desc; // the array's own
    if (!e && (!ref || !array)) e = cudaErrorInvalidTexture;
    if (e) RETURN(e);
    heddle_image_of_array(&i, (const struct array *)array);
    RETURN(bind(ref, &i, 1));
}
cudaError_t cudaUnbindTexture(const struct textureReference *ref)
{
    int e = heddle_ready();
    RETURN(e ? e : heddle_bind(ref, 0));
}
cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *ref)
{
    if (!offset || !ref) RETURN(1);
    *offset = 0;
    RETURN(0);
}
cudaError_t cudaGetTextureReference(const struct textureReference **ref, const void *symbol)
{
    *ref = symbol;
    RETURN(heddle_ready());
}
cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *ref, cudaArray_const_t array,
                                   const struct cudaChannelFormatDesc *desc)
{
    struct image i = {.mode = {1, 1, 1}};
    uint64_t handle;
    int e = heddle_ready();
    (void)desc;
    if (!e && (!ref || !array)) e = cudaErrorInvalidSurface;
    if (e) RETURN(e);
    heddle_image_of_array(&i, (const struct array *)array);
    if (!(e = heddle_image(&i, &handle))) e = heddle_bind(ref, handle);
    RETURN(e);
}

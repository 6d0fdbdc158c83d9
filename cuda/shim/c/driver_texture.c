// Arrays, textures and surfaces of the driver API.
#include "array.h"
#include "driver.h"

static int texel_of(CUarray_format format, unsigned channels, struct texel *t)
{
    t->channels = (int)channels;
    switch (format) {
    case CU_AD_FORMAT_SIGNED_INT8: t->kind = 0, t->bytes = 1; return 0;
    case CU_AD_FORMAT_SIGNED_INT16: t->kind = 0, t->bytes = 2; return 0;
    case CU_AD_FORMAT_SIGNED_INT32: t->kind = 0, t->bytes = 4; return 0;
    case CU_AD_FORMAT_UNSIGNED_INT8: t->kind = 1, t->bytes = 1; return 0;
    case CU_AD_FORMAT_UNSIGNED_INT16: t->kind = 1, t->bytes = 2; return 0;
    case CU_AD_FORMAT_UNSIGNED_INT32: t->kind = 1, t->bytes = 4; return 0;
    case CU_AD_FORMAT_HALF: t->kind = 2, t->bytes = 2; return 0;
    case CU_AD_FORMAT_FLOAT: t->kind = 2, t->bytes = 4; return 0;
    }
    return 1;
}
static CUarray_format format_of(const struct texel *t)
{
    if (t->kind == 2) return t->bytes == 2 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    int size = t->bytes == 1 ? 0 : t->bytes == 2 ? 1 : 2;
    return (CUarray_format)((t->kind ? CU_AD_FORMAT_UNSIGNED_INT8 : CU_AD_FORMAT_SIGNED_INT8) + size);
}

// ---- arrays

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    struct texel t;
    if (!d) return 1;
    int e = texel_of(d->Format, d->NumChannels, &t);
    if (!e) e = heddle_array((struct array **)array, &t, d->Width, d->Height, d->Depth, d->Flags);
    return e == 20 ? 1 : e; // the driver has no error of its own for channels
}
CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *d)
{
    if (!d) return 1;
    const CUDA_ARRAY3D_DESCRIPTOR q = {d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
    return cuArray3DCreate_v2(array, &q);
}
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array)
{
    const struct array *a = (const struct array *)array;
    if (!d || !a) return 1;
    *d = (CUDA_ARRAY3D_DESCRIPTOR){a->width, a->height, a->depth, format_of(&a->texel), (unsigned)a->texel.channels, a->flags};
    return 0;
}
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *d, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR q;
    int e = d ? cuArray3DGetDescriptor_v2(&q, array) : 1;
    if (!e) *d = (CUDA_ARRAY_DESCRIPTOR){q.Width, q.Height, q.Format, q.NumChannels};
    return e;
}
CUresult cuArrayDestroy(CUarray array) { return array ? heddle_array_free((struct array *)array) : 400; }

// ---- copies

static int copy(CUarray array, size_t offset, uint64_t memory, size_t n, int to_array, CUstream stream, int async)
{
    if (!array) return 400;
    return heddle_array_copy((const struct array *)array, offset, 0, memory, n, 4, to_array, (uint64_t)stream, async);
}
CUresult cuMemcpyHtoA_v2(CUarray dst, size_t x, const void *src, size_t n) { return copy(dst, x, (uint64_t)src, n, 1, 0, 0); }
CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t x, size_t n) { return copy(src, x, (uint64_t)dst, n, 0, 0, 0); }
CUresult cuMemcpyDtoA_v2(CUarray dst, size_t x, CUdeviceptr src, size_t n) { return copy(dst, x, src, n, 1, 0, 0); }
CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t x, size_t n) { return copy(src, x, dst, n, 0, 0, 0); }
CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t x, const void *src, size_t n, CUstream s)
{
    return copy(dst, x, (uint64_t)src, n, 1, s, 1);
}
CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t x, size_t n, CUstream s)
{
    return copy(src, x, (uint64_t)dst, n, 0, s, 1);
}

// ---- textures and surfaces

static int resource(struct image *i, const CUDA_RESOURCE_DESC *r)
{
    int e;
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        if (!r->res.array.hArray) return 400;
        heddle_image_of_array(i, (const struct array *)r->res.array.hArray);
        return 0;
    case CU_RESOURCE_TYPE_LINEAR:
        if ((e = texel_of(r->res.linear.format, r->res.linear.numChannels, &i->texel))) return e;
        if (!i->texel.channels) return 1;
        i->at = r->res.linear.devPtr, i->width = r->res.linear.sizeInBytes / (size_t)heddle_texel_bytes(&i->texel);
        i->height = i->depth = 1;
        return 0;
    case CU_RESOURCE_TYPE_PITCH2D:
        if ((e = texel_of(r->res.pitch2D.format, r->res.pitch2D.numChannels, &i->texel))) return e;
        i->at = r->res.pitch2D.devPtr, i->pitch = r->res.pitch2D.pitchInBytes;
        i->width = r->res.pitch2D.width, i->height = r->res.pitch2D.height, i->depth = 1;
        return 0;
    default: return heddle_unsupported("a texture of a mipmapped array");
    }
}
CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t,
                           const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct image i = {0};
    if (!object || !r || !t) return 1;
    if (view && view->format != CU_RES_VIEW_FORMAT_NONE) return heddle_unsupported("a texture with a resource view");
    int e = resource(&i, r);
    for (int k = 0; k < 3; k++) i.mode[k] = (int)t->addressMode[k];
    if (!e) e = heddle_image_border(&i, t->borderColor);
    if (!e && t->flags & CU_TRSF_SRGB) e = heddle_unsupported("a texture in sRGB");
    i.linear = t->filterMode == CU_TR_FILTER_MODE_LINEAR && r->resType != CU_RESOURCE_TYPE_LINEAR;
    i.normalized = (t->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    i.unit = !(t->flags & CU_TRSF_READ_AS_INTEGER) && i.texel.kind != 2 && i.texel.bytes < 4;
    return e ? e : heddle_image(&i, (uint64_t *)object);
}
CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *r)
{
    struct image i = {.mode = {1, 1, 1}};
    if (!object || !r || r->resType != CU_RESOURCE_TYPE_ARRAY) return 1;
    int e = resource(&i, r);
    return e ? e : heddle_image(&i, (uint64_t *)object);
}
CUresult cuTexObjectDestroy(CUtexObject object) { return heddle_simple(CALL_IMAGE_END, object, 0); }
CUresult cuSurfObjectDestroy(CUsurfObject object) { return heddle_simple(CALL_IMAGE_END, object, 0); }

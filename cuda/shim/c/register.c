// Kernels and variables that a program registers before main, and launches.
#include "runtime.h"

struct binary {
    const void *wrapper;
    int tried, part, module, error;
    struct binary *next;
};
struct function {
    const void *host;
    const char *name;
    struct binary *of;
    int known;
    struct kernel kernel;
};
struct variable {
    const void *host;
    const char *name;
    struct binary *of;
    void **managed; // where host code finds its address
    int reference;  // a texture or surface reference: 1, or 2 where integers are read as floats
    struct variable *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct binary *binaries, **last_binary = &binaries;
static struct variable *variables;
static struct function **table; // by host address, open addressing
static size_t slots, used;

static size_t slot(const void *host)
{
    size_t i = ((uint64_t)host >> 4) * 0x9e3779b97f4a7c15u & (slots - 1);
    while (table[i] && table[i]->host != host) i = (i + 1) & (slots - 1);
    return i;
}

static void add(struct function *f)
{
    if (2 * used >= slots) {
        struct function **old = table;
        size_t n = slots;
        slots = n ? 2 * n : 64;
        table = calloc(slots, sizeof *table);
        if (!table) abort();
        for (size_t i = 0; i < n; i++)
            if (old[i]) table[slot(old[i]->host)] = old[i];
        free(old);
    }
    size_t i = slot(f->host);
    used += !table[i];
    table[i] = f;
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    struct binary *b = calloc(1, sizeof *b);
    if (!b) abort();
    b->wrapper = wrapper;
    pthread_mutex_lock(&lock);
    *last_binary = b;
    last_binary = &b->next;
    pthread_mutex_unlock(&lock);
    return (void **)b;
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
char __cudaInitModule(void **handle) { return handle != NULL; }

void __cudaRegisterFunction(void **handle, const char *host, char *device_fun, const char *name, int limit, uint3 *tid,
                            uint3 *bid, dim3 *bdim, dim3 *gdim, int *size)
{
    (void)device_fun, (void)limit, (void)tid, (void)bid, (void)bdim, (void)gdim, (void)size;
    struct function *f = calloc(1, sizeof *f);
    if (!f) abort();
    f->host = host, f->name = name, f->of = (struct binary *)handle;
    pthread_mutex_lock(&lock);
    add(f);
    pthread_mutex_unlock(&lock);
}

static void variable(void **handle, const void *host, const char *name, void **managed, int reference)
{
    struct variable *v = calloc(1, sizeof *v);
    if (!v) abort();
    v->host = host, v->name = name, v->of = (struct binary *)handle, v->managed = managed, v->reference = reference;
    pthread_mutex_lock(&lock);
    v->next = variables;
    variables = v;
    pthread_mutex_unlock(&lock);
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global)
{
    (void)device, (void)ext, (void)size, (void)constant, (void)global;
    variable(handle, host, name, NULL, 0);
}
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device, const char *name, int ext, size_t size,
                              int constant, int global)
{
    (void)device, (void)ext, (void)size, (void)constant, (void)global;
    variable(handle, pointer, name, pointer, 0);
}
void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name, int dim, int norm,
                           int ext)
{
    (void)device, (void)dim, (void)ext;
    variable(handle, host, name, NULL, norm ? 2 : 1);
}
void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name, int dim, int ext)
{
    (void)device, (void)dim, (void)ext;
    variable(handle, host, name, NULL, 1);
}

// ---- managed variables of heddle cc: the program's pages of them become those of the machine

static char *managed_from, *managed_to;
void __cudaHeddleManaged(char *from, char *to) { managed_from = from, managed_to = to; }

static int share(const struct variable *v, uint64_t module)
{
    uint64_t a[VALUES] = {module};
    if ((char *)v->host < managed_from || (char *)v->host >= managed_to) return 0;
    int e = heddle_call(CALL_GLOBAL, a, v->name, strlen(v->name), NULL, 0);
    return e ? e : heddle_share((void *)v->host, a[0], a[1]);
}

int heddle_ready(void)
{
    int e = heddle_connect();
    if (e) return e;
    pthread_mutex_lock(&lock);
    for (struct binary *b = binaries; b; b = b->next)
        if (!b->tried) b->error = heddle_load_part(b->wrapper, &b->part); // whoever launches a kernel of it is told
    for (struct binary *b = binaries; b; b = b->next) {
        if (b->tried) continue;
        b->tried = 1;
        if (!b->error) b->error = heddle_link_part(b->part, &b->module);
        for (struct variable *v = variables; v && !b->error; v = v->next) {
            if (v->of == b && !v->managed && !v->reference) b->error = share(v, (uint64_t)b->module);
            if (v->of != b || !v->managed) continue;
            uint64_t a[VALUES] = {(uint64_t)b->module, 1};
            if ((b->error = heddle_call(CALL_GLOBAL, a, v->name, strlen(v->name), NULL, 0)) == 0)
                *v->managed = (void *)a[0];
        }
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int heddle_kernel(const void *func, struct kernel **k)
{
    int e = heddle_ready();
    if (e) return e;
    pthread_mutex_lock(&lock);
    struct function *f = slots ? table[slot(func)] : NULL;
    if (!f) e = 98; // invalid device function
    else if (f->of->error) e = f->of->error;
    else if (!f->known && (e = heddle_function(f->of->module, f->name, &f->kernel)) == 0) f->known = 1;
    pthread_mutex_unlock(&lock);
    if (!e) *k = &f->kernel;
    return e;
}

// find looks for a variable or a reference by what host code knows of it.
static int find(const void *host, int reference, struct variable *found)
{
    int e = heddle_ready();
    if (e) return e;
    pthread_mutex_lock(&lock);
    struct variable *v = variables;
    while (v && (!v->reference != !reference || v->host != host && !(v->managed && *v->managed == host))) v = v->next;
    if (v) *found = *v;
    pthread_mutex_unlock(&lock);
    return !v ? 13 : found->of->error; // invalid symbol
}

int heddle_bind(const void *reference, uint64_t image)
{
    struct variable found;
    int e = find(reference, 1, &found);
    if (e) return e == 13 ? 18 : e; // invalid texture
    uint64_t v[VALUES] = {(uint64_t)found.of->module, image};
    return heddle_call(CALL_IMAGE_BIND, v, found.name, strlen(found.name), NULL, 0);
}

int heddle_reads_as_float(const void *reference)
{
    struct variable found;
    return !find(reference, 1, &found) && found.reference == 2;
}

int heddle_symbol(const void *host, uint64_t *addr, uint64_t *bytes)
{
    struct variable found;
    int e = find(host, 0, &found);
    if (e) return e;
    uint64_t a[VALUES] = {(uint64_t)found.of->module, found.managed != NULL};
    if ((e = heddle_call(CALL_GLOBAL, a, found.name, strlen(found.name), NULL, 0))) return e == 500 ? 13 : e;
    *addr = a[0], *bytes = a[1];
    return 0;
}

// ---- launches

static __thread struct { dim3 grid, block; size_t shared; void *stream; } pushed[8];
static __thread unsigned depth;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
    if (depth == 8) return 1;
    pushed[depth].grid = grid, pushed[depth].block = block, pushed[depth].shared = shared;
    pushed[depth++].stream = stream;
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (depth == 0) return cudaErrorMissingConfiguration;
    *grid = pushed[--depth].grid, *block = pushed[depth].block, *shared = pushed[depth].shared;
    *(void **)stream = pushed[depth].stream;
    return cudaSuccess;
}

static int launch(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream, int coop)
{
    struct kernel *k;
    int e = heddle_kernel(func, &k);
    if (e) return e;
    uint32_t g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
    return heddle_launch(k, g, b, shared, (uint64_t)stream, coop, args, NULL);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
    RETURN(launch(func, grid, block, args, shared, stream, 0));
}
cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                                        cudaStream_t stream)
{
    RETURN(launch(func, grid, block, args, shared, stream, 1));
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *func, void **args)
{
    int coop = 0;
    if (!c) RETURN(1);
    for (unsigned i = 0; i < c->numAttrs; i++) {
        if (c->attrs[i].id == cudaLaunchAttributeCooperative) coop = c->attrs[i].val.cooperative;
        if (c->attrs[i].id == cudaLaunchAttributeClusterDimension &&
            c->attrs[i].val.clusterDim.x * c->attrs[i].val.clusterDim.y * c->attrs[i].val.clusterDim.z > 1) {
            heddle_refuse("cudaLaunchKernelExC", "clusters of blocks are not there; launch without a cluster dimension");
            RETURN(CUDA_NOT_SUPPORTED);
        }
    }
    RETURN(launch(func, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream, coop));
}

// ---- the launches of CUDA 6 and older

static __thread char setup[4096];
static __thread size_t setup_bytes;

cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    setup_bytes = 0;
    RETURN(__cudaPushCallConfiguration(grid, block, shared, stream) ? 9 : 0);
}
cudaError_t cudaSetupArgument(const void *arg, size_t size, size_t offset)
{
    if (offset > sizeof setup || size > sizeof setup - offset) RETURN(1);
    memcpy(setup + offset, arg, size);
    if (offset + size > setup_bytes) setup_bytes = offset + size;
    RETURN(0);
}
cudaError_t cudaLaunch(const void *func)
{
    dim3 grid, block;
    size_t shared;
    void *stream;
    struct kernel *k;
    int e = __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
    if (!e) e = heddle_kernel(func, &k);
    if (e) RETURN(e);
    uint32_t g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
    void *extra[] = {(void *)1, setup, (void *)2, &setup_bytes, NULL};
    RETURN(heddle_launch(k, g, b, shared, (uint64_t)stream, 0, NULL, extra));
}

// ---- what is known of a kernel

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *func)
{
    struct kernel *k;
    int e = heddle_kernel(func, &k);
    if (e) RETURN(e);
    const int32_t *v = k->attributes; // in the order of CUfunction_attribute
    memset(a, 0, 56 + 3 * sizeof(int)); // what every version of CUDA has
    a->maxThreadsPerBlock = v[0];
    a->sharedSizeBytes = (size_t)v[1], a->constSizeBytes = (size_t)v[2], a->localSizeBytes = (size_t)v[3];
    a->numRegs = v[4], a->ptxVersion = v[5], a->binaryVersion = v[6], a->cacheModeCA = v[7];
    a->maxDynamicSharedSizeBytes = v[8], a->preferredShmemCarveout = v[9];
    RETURN(0);
}
cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    struct kernel *k;
    int e = heddle_kernel(func, &k);
    if (e) RETURN(e);
    uint64_t v[VALUES] = {k->id, (uint64_t)attr, (uint64_t)(int64_t)value};
    e = heddle_call(CALL_SET_ATTRIBUTE, v, NULL, 0, NULL, 0);
    if (!e && attr > 0 && attr < 16) k->attributes[attr] = value;
    RETURN(e);
}
cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config)
{
    struct kernel *k;
    (void)config; // a hint
    RETURN(heddle_kernel(func, &k));
}
cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    struct kernel *k;
    (void)config; // banks are 4 bytes wide since Maxwell
    RETURN(heddle_kernel(func, &k));
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *func, int size,
                                                                   size_t shared, unsigned flags)
{
    struct kernel *k;
    int e = heddle_kernel(func, &k);
    (void)flags;
    if (e) RETURN(e);
    uint64_t v[VALUES] = {k->id, (uint64_t)size, shared};
    e = heddle_call(CALL_OCCUPANCY, v, NULL, 0, NULL, 0);
    *blocks = e ? 0 : (int)v[0];
    RETURN(e);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func, int size, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, func, size, shared, 0);
}
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    struct kernel *k;
    int e = heddle_kernel(symbol, &k);
    if (!e) *function = (cudaFunction_t)k;
    RETURN(e);
}

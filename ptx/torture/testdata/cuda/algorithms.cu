// Small programs.
#include "torture.cuh"

KERNEL al_mandelbrot(u32 *iters, float *last, u32 w, u32 h, u32 limit)
{
    u32 x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float cr = (float)x * (3.0f / (float)w) - 2.25f, ci = (float)y * (2.5f / (float)h) - 1.25f, zr = 0, zi = 0;
    u32 k = 0;
    while (k < limit && zr * zr + zi * zi <= 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = fmaf(2.0f * zr, zi, ci);
        zr = t;
        k++;
    }
    iters[y * w + x] = k;
    last[y * w + x] = zr;
}

KERNEL al_lcg(u64 *state, u32 *out, u32 n, u32 steps)
{
    u32 i = TID;
    if (i >= n) return;
    u64 s = state[i];
    u32 h = 0;
    for (u32 k = 0; k < steps; k++) {
        s = s * 6364136223846793005ull + 1442695040888963407ull;
        u32 x = (u32)((s >> 18 ^ s) >> 27), r = (u32)(s >> 59);
        h ^= (x >> r | x << (-r & 31)) + k;
    }
    state[i] = s;
    out[i] = h;
}

__device__ u32 crc_table[256];

KERNEL al_crc_table()
{
    u32 c = threadIdx.x;
    for (u32 k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    crc_table[threadIdx.x] = c;
}

KERNEL al_crc(const u8 *text, u32 *out, u32 n, u32 per)
{
    u32 i = TID;
    if (i >= n) return;
    u32 c = 0xffffffffu;
    for (u32 k = 0; k < per + (i & 7); k++) c = crc_table[(c ^ text[i * per + k]) & 255] ^ c >> 8;
    out[i] = ~c;
}

// Gauss-Jordan inversion with partial pivoting, one block, one thread per row.
KERNEL al_inverse(const float *in, float *out, u32 n)
{
    __shared__ float m[16][33];
    __shared__ u32 pivot;
    u32 t = threadIdx.x;
    for (u32 j = 0; j < n; j++) {
        m[t][j] = in[t * n + j];
        m[t][n + j] = t == j ? 1.0f : 0.0f;
    }
    __syncthreads();
    for (u32 c = 0; c < n; c++) {
        if (t == 0) {
            u32 best = c;
            for (u32 r = c + 1; r < n; r++)
                if (fabsf(m[r][c]) > fabsf(m[best][c])) best = r;
            pivot = best;
        }
        __syncthreads();
        if (pivot != c)
            for (u32 j = t; j < 2 * n; j += n) {
                float v = m[c][j];
                m[c][j] = m[pivot][j];
                m[pivot][j] = v;
            }
        __syncthreads();
        float p = m[c][c], f = m[t][c];
        __syncthreads();
        for (u32 j = t; j < 2 * n; j += n) m[c][j] = m[c][j] / p;
        __syncthreads();
        if (t != c)
            for (u32 j = 0; j < 2 * n; j++) m[t][j] = fmaf(-f, m[c][j], m[t][j]);
        __syncthreads();
    }
    for (u32 j = 0; j < n; j++) out[t * n + j] = m[t][n + j];
}

// Radix-2 transform in shared memory; twiddle factors come from the host.
template <typename F> HEDDLE_FN void fft_block(F *re, F *im, const F *wr, const F *wi, u32 n, F *sr, F *si)
{
    u32 t = threadIdx.x;
    u32 bits = 31 - (u32)__clz(n);
    for (u32 i = t; i < n; i += blockDim.x) {
        u32 r = __builtin_bitreverse32(i) >> (32 - bits);
        sr[r] = re[blockIdx.x * n + i];
        si[r] = im[blockIdx.x * n + i];
    }
    for (u32 half = 1; half < n; half *= 2) {
        __syncthreads();
        for (u32 k = t; k < n / 2; k += blockDim.x) {
            u32 j = k & (half - 1), a = 2 * k - j, b = a + half, w = j * (n / 2 / half);
            F xr = sr[b] * wr[w] - si[b] * wi[w], xi = sr[b] * wi[w] + si[b] * wr[w];
            F ar = sr[a], ai = si[a];
            sr[a] = ar + xr;
            si[a] = ai + xi;
            sr[b] = ar - xr;
            si[b] = ai - xi;
        }
    }
    __syncthreads();
    for (u32 i = t; i < n; i += blockDim.x) {
        re[blockIdx.x * n + i] = sr[i];
        im[blockIdx.x * n + i] = si[i];
    }
}

KERNEL al_fft32(float *re, float *im, const float *wr, const float *wi, u32 n)
{
    __shared__ float sr[128], si[128];
    fft_block(re, im, wr, wi, n, sr, si);
}

KERNEL al_fft64(double *re, double *im, const double *wr, const double *wi, u32 n)
{
    __shared__ double sr[128], si[128];
    fft_block(re, im, wr, wi, n, sr, si);
}

// Queens on an n x n board: each thread fixes the first two rows and counts by
// backtracking with an explicit stack in local memory.
KERNEL al_queens(u32 *count, u32 n)
{
    u32 i = TID;
    if (i >= n * n) return;
    u32 a = i / n, b = i % n, found = 0, full = (1u << n) - 1;
    if (a != b && a != b + 1 && b != a + 1) {
        u32 cols[16], left[16], right[16], open[16];
        u32 row = 2;
        cols[2] = 1u << a | 1u << b;
        left[2] = (1u << a) << 2 | (1u << b) << 1;
        right[2] = (1u << a) >> 2 | (1u << b) >> 1;
        open[2] = full & ~(cols[2] | left[2] | right[2]);
        while (row >= 2) {
            if (row == n) {
                found++;
                row--;
                continue;
            }
            if (open[row] == 0) {
                row--;
                continue;
            }
            u32 bit = open[row] & -open[row];
            open[row] ^= bit;
            cols[row + 1] = cols[row] | bit;
            left[row + 1] = (left[row] | bit) << 1;
            right[row + 1] = (right[row] | bit) >> 1;
            open[row + 1] = full & ~(cols[row + 1] | left[row + 1] | right[row + 1]);
            row++;
        }
    }
    if (found) atomicAdd(count, found);
}

// Where the pattern begins, by brute force; matches are counted per starting residue.
KERNEL al_search(const u8 *text, u32 n, const u8 *pattern, u32 m, u32 *first, u32 *hits)
{
    u32 i = TID;
    if (i + m > n) return;
    for (u32 k = 0; k < m; k++)
        if (pattern[k] != '?' && text[i + k] != pattern[k]) return;
    atomicMin(first, i);
    atomicAdd(&hits[i & 3], 1u);
}

// Open addressing with linear probing; keys are inserted by compare and swap.
KERNEL al_hash_insert(const u32 *key, u32 *slots, u32 *value, u32 size, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 k = key[i];
    for (u32 at = mix(k) & (size - 1);; at = (at + 1) & (size - 1)) {
        u32 seen = atomicCAS(&slots[at], 0u, k);
        if (seen == 0 || seen == k) {
            atomicAdd(&value[at], i + 1);
            return;
        }
    }
}

KERNEL al_hash_find(const u32 *key, const u32 *slots, const u32 *value, u32 size, u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 k = key[i], r = 0;
    for (u32 at = mix(k) & (size - 1); slots[at] != 0; at = (at + 1) & (size - 1))
        if (slots[at] == k) {
            r = value[at];
            break;
        }
    out[i] = r;
}

// A work queue: tasks split into smaller ones until they are of size one. Every thread
// takes tasks until none is left and none can appear.
KERNEL al_queue(u32 *task, volatile u32 *full, u32 *head, u32 *tail, u32 *left, u32 *done, u32 capacity)
{
    bool have = false;
    u32 at = 0;
    while (*(volatile u32 *)left > 0) {
        if (!have) {
            at = atomicAdd(head, 1u);
            have = true;
        }
        if (at >= capacity) return;
        if (full[at] == 0) continue;
        __threadfence();
        u32 size = ((volatile u32 *)task)[at];
        have = false;
        if (size > 1) {
            u32 to = atomicAdd(tail, 2u);
            ((volatile u32 *)task)[to] = size / 2;
            ((volatile u32 *)task)[to + 1] = size - size / 2;
            __threadfence();
            full[to] = 1;
            full[to + 1] = 1;
        } else {
            atomicAdd(done, 1u);
            atomicSub(left, 1u);
        }
    }
}

// SHA-256 of one 64-byte block per thread.
__constant__ u32 sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

HEDDLE_FN u32 ror(u32 x, u32 n) { return x >> n | x << (32 - n); }

KERNEL al_sha256(const u8 *text, u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 w[64];
    for (u32 k = 0; k < 16; k++) {
        const u8 *p = text + 64 * i + 4 * k;
        w[k] = (u32)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
    }
#pragma unroll 1
    for (u32 k = 16; k < 64; k++) {
        u32 s0 = ror(w[k - 15], 7) ^ ror(w[k - 15], 18) ^ w[k - 15] >> 3, s1 = ror(w[k - 2], 17) ^ ror(w[k - 2], 19) ^ w[k - 2] >> 10;
        w[k] = w[k - 16] + s0 + w[k - 7] + s1;
    }
    u32 s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u32 a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
#pragma unroll 1
    for (u32 k = 0; k < 64; k++) {
        u32 t1 = h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & f) ^ (~e & g)) + sha_k[k] + w[k];
        u32 t2 = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    u32 v[8] = {a, b, c, d, e, f, g, h};
    for (u32 k = 0; k < 8; k++) out[8 * i + k] = s[k] + v[k];
}

// Sorts short runs with an explicit stack: quicksort in local memory.
KERNEL al_quicksort(i32 *data, u32 per, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    i32 v[40];
    for (u32 k = 0; k < per; k++) v[k] = data[i * per + k];
    i32 lo[32], hi[32], top = 0;
    lo[0] = 0;
    hi[0] = (i32)per - 1;
    while (top >= 0) {
        i32 l = lo[top], h = hi[top--];
        if (l >= h) continue;
        i32 p = v[(l + h) / 2], a = l, b = h;
        while (a <= b) {
            while (v[a] < p) a++;
            while (v[b] > p) b--;
            if (a <= b) {
                i32 t = v[a]; v[a] = v[b]; v[b] = t;
                a++;
                b--;
            }
        }
        lo[++top] = l; hi[top] = b;
        lo[++top] = a; hi[top] = h;
    }
    for (u32 k = 0; k < per; k++) data[i * per + k] = v[k];
}

// Edit distance of two words per thread, one row of the table in local memory.
KERNEL al_edit(const u8 *a, const u8 *b, u32 *out, u32 len, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u16 row[33];
    for (u32 k = 0; k <= len; k++) row[k] = (u16)k;
    for (u32 r = 1; r <= len; r++) {
        u16 diag = row[0];
        row[0] = (u16)r;
        for (u32 c = 1; c <= len; c++) {
            u16 up = row[c], best = (u16)(diag + (a[i * len + r - 1] != b[i * len + c - 1]));
            if (up + 1 < best) best = (u16)(up + 1);
            if (row[c - 1] + 1 < best) best = (u16)(row[c - 1] + 1);
            row[c] = best;
            diag = up;
        }
    }
    out[i] = row[len];
}

// Life on a torus, several generations in shared bytes.
KERNEL al_life(u8 *cells, u32 rounds)
{
    __shared__ u8 grid[2][16][16];
    u32 x = threadIdx.x, y = threadIdx.y;
    grid[0][y][x] = cells[blockIdx.x * 256 + y * 16 + x];
    __syncthreads();
    for (u32 r = 0; r < rounds; r++) {
        u32 sum = 0;
        for (u32 dy = 15; dy < 18; dy++)
            for (u32 dx = 15; dx < 18; dx++) sum += grid[r & 1][(y + dy) & 15][(x + dx) & 15];
        u8 alive = grid[r & 1][y][x];
        grid[~r & 1][y][x] = (u8)(sum == 3 || (alive && sum == 4));
        __syncthreads();
    }
    cells[blockIdx.x * 256 + y * 16 + x] = grid[rounds & 1][y][x];
}

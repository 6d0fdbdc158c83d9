// wordcount: how often each word occurs in a text, by map, sort and reduction as in Mars
// (He et al. 2008). A thread maps a chunk of the text: a first pass counts the words that
// begin there, prefix sums give their places, a second pass emits (hash, position). The
// pairs are sorted; equal hashes are a group, whose length is the word's count. The hash
// has 64 bits (FNV-1a), which is taken for the word itself.
#include "scan.cuh"
#include "sort.cuh"

HEDDLE_FN bool letter(unsigned char c) { return c >= 'a' && c <= 'z'; }

HEDDLE_FN bool begins(const unsigned char *text, int i) { return letter(text[i]) && (i == 0 || !letter(text[i - 1])); }

extern "C" __global__ void words_count(const unsigned char *text, int n, int *count, int chunks, int chunk)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    int words = 0;
    for (int i = c * chunk, end = min(i + chunk, n); i < end; i++) words += begins(text, i);
    count[c] = words;
}

extern "C" __global__ void words_emit(const unsigned char *text, int n, const int *place, unsigned long long *key, unsigned *at, int chunks, int chunk)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    int to = place[c];
    for (int i = c * chunk, end = min(i + chunk, n); i < end; i++) {
        if (!begins(text, i)) continue;
        unsigned long long h = 14695981039346656037ull;
        for (int p = i; p < n && letter(text[p]); p++) h = (h ^ text[p]) * 1099511628211ull;
        key[to] = h;
        at[to++] = i;
    }
}

extern "C" __global__ void words_heads(const unsigned long long *key, int *head, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words) head[i] = i == 0 || key[i] != key[i - 1];
}

// start[g] is where group g begins.
extern "C" __global__ void words_groups(const int *head, const int *group, int *start, int words)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < words && head[i]) start[group[i]] = i;
}

// The pairs of a group ascend by position: the first is the word's first occurrence.
extern "C" __global__ void words_reduce(const int *start, const unsigned *at, int *count, unsigned *first, int groups, int words)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= groups) return;
    int i = start[g];
    count[g] = (g == groups - 1 ? words : start[g + 1]) - i;
    first[g] = at[i];
}

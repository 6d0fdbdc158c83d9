// pageviewcount: distinct visitors per page from a log of (URL, visitor), in the two
// rounds of Mars (He et al. 2008) with hash tables: the first drops repeated visits by
// inserting (URL, visitor) in a set, the second counts the set's members per URL. A URL
// is `words` words of text, stored column by column: word w of entry i is log[w * n + i].
// Its hash multiplies by an odd number after each word, so URLs of the same length that
// differ in one word never collide.
#include "heddle.cuh"

#define NONE 0xffffffffffffffffull

HEDDLE_FN unsigned fold(unsigned h, unsigned word) { return (h ^ word) * 16777619u; }

// The first slot to try: the top bits of Fibonacci hashing (Knuth, volume 3, 6.4).
HEDDLE_FN unsigned slot_of(unsigned long long key, unsigned bits) { return (unsigned)((key * 0x9e3779b97f4a7c15ull) >> (64 - bits)); }

// Puts key into an open-addressing table of 2^bits slots and returns its slot.
HEDDLE_FN unsigned insert(unsigned long long *table, unsigned bits, unsigned long long key)
{
    unsigned s = slot_of(key, bits);
    for (;;) {
        unsigned long long there = atomicCAS(&table[s], NONE, key);
        if (there == NONE || there == key) return s;
        s = (s + 1) & ((1u << bits) - 1);
    }
}

extern "C" __global__ void views_unique(const unsigned *log, const unsigned *visitor, unsigned n, unsigned words, unsigned long long *set, unsigned bits)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = 2166136261u;
    for (unsigned w = 0; w < words; w++) h = fold(h, log[(unsigned long long)w * n + i]);
    insert(set, bits, (unsigned long long)h << 32 | visitor[i]);
}

extern "C" __global__ void views_count(const unsigned long long *set, unsigned bits, unsigned long long *page, unsigned *count, unsigned page_bits)
{
    unsigned s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= 1u << bits || set[s] == NONE) return;
    atomicAdd(&count[insert(page, page_bits, set[s] >> 32)], 1u);
}

// answer[p] is the count of the URL `url` with word `at` replaced by p.
extern "C" __global__ void views_lookup(const unsigned *url, unsigned words, unsigned at, unsigned pages, const unsigned long long *page,
                                        const unsigned *count, unsigned page_bits, unsigned *answer)
{
    unsigned p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pages) return;
    unsigned h = 2166136261u;
    for (unsigned w = 0; w < words; w++) h = fold(h, w == at ? p : url[w]);
    unsigned s = slot_of(h, page_bits);
    while (page[s] != NONE && page[s] != h) s = (s + 1) & ((1u << page_bits) - 1);
    answer[p] = page[s] == NONE ? 0 : count[s];
}

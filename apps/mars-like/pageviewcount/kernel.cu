// pageviewcount: distinct visitors per page from a log of (URL, visitor), as Mars (He et al. 2008) has it, with hash
// tables in place of its sort: who visits a page for the first time is inserted in a set of (URL, visitor), and the
// page's count is raised. A URL is `words` words of eight bytes of text, stored column by column: word w of
// entry i is log[w * n + i]. Its hash multiplies by an odd number after each half of a word, so URLs of the same length
// that differ in one half never collide.
#include "heddle.cuh"

#define AHEAD 4 // words that are loaded before the first is used, so that a warp has twice as many lines on their way
#define NONE 0xffffffffffffffffull

HEDDLE_FN unsigned fold(unsigned h, unsigned long long word)
{
    h = (h ^ (unsigned)word) * 16777619u;
    return (h ^ (unsigned)(word >> 32)) * 16777619u;
}

// The first slot to try: the top bits of Fibonacci hashing (Knuth, volume 3, 6.4).
HEDDLE_FN unsigned slot_of(unsigned long long key, unsigned bits) { return (unsigned)((key * 0x9e3779b97f4a7c15ull) >> (64 - bits)); }

// Puts key into an open-addressing table of 2^bits slots and returns its slot; *first says that it was not there. Most
// keys are there already, which a load shows; one that finds an empty slot, or an old copy of one, asks again.
HEDDLE_FN unsigned insert(unsigned long long *table, unsigned bits, unsigned long long key, bool *first)
{
    unsigned s = slot_of(key, bits);
    for (;;) {
        unsigned long long there = table[s];
        if (there == NONE) there = atomicCAS(&table[s], NONE, key);
        *first = there == NONE;
        if (*first || there == key) return s;
        s = (s + 1) & ((1u << bits) - 1);
    }
}

extern "C" __global__ void views_unique(const unsigned long long *log, const unsigned *visitor, unsigned n, unsigned words, unsigned long long *set, unsigned bits,
                                        unsigned long long *page, unsigned *count, unsigned page_bits)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = 2166136261u;
    unsigned w = 0;
    for (; w + AHEAD <= words; w += AHEAD) {
        unsigned long long text[AHEAD];
        for (unsigned k = 0; k < AHEAD; k++) text[k] = log[(unsigned long long)(w + k) * n + i];
        for (unsigned k = 0; k < AHEAD; k++) h = fold(h, text[k]);
    }
    for (; w < words; w++) h = fold(h, log[(unsigned long long)w * n + i]);
    bool first;
    insert(set, bits, (unsigned long long)h << 32 | visitor[i], &first);
    if (!first) return;
    unsigned s = insert(page, page_bits, h, &first);
    atomicAdd(&count[s], 1u);
}

// For the check: answer[p] is the count of the URL `url` with word `at` replaced by p.
extern "C" __global__ void views_lookup(const unsigned long long *url, unsigned words, unsigned at, unsigned pages, const unsigned long long *page,
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

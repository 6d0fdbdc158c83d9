// stringmatch: finds a keyword in the lines of a text, as a map without reduction in the
// two passes of Mars (He et al. 2008): a thread per line counts its matches, prefix sums
// give every line its place, and a second pass over the text emits the positions.
#include "scan.cuh"

#define LONGEST 64

__constant__ unsigned char keyword[LONGEST];

HEDDLE_FN bool matches(const unsigned char *text, int length)
{
    for (int k = 0; k < length; k++)
        if (text[k] != keyword[k]) return false;
    return true;
}

extern "C" __global__ void match_count(const unsigned char *text, const int *line, int *count, int lines, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lines) return;
    int found = 0;
    for (int p = line[i], end = line[i + 1]; p + length <= end; p++) found += matches(text + p, length);
    count[i] = found;
}

extern "C" __global__ void match_emit(const unsigned char *text, const int *line, const int *place, int *position, int lines, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lines) return;
    int to = place[i];
    for (int p = line[i], end = line[i + 1]; p + length <= end; p++)
        if (matches(text + p, length)) position[to++] = p;
}

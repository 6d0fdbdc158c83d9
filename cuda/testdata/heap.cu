// Operators new and delete, malloc and free in kernels, and managed variables of PTX.
#include <new>

struct Node {
    int value;
    Node *next;
};
__managed__ int total;

__global__ void lists(int *out, int n)
{
    Node *first = nullptr;
    for (int i = 0; i < n; i++) first = new Node{i, first};
    int sum = 0;
    while (first) {
        Node *next = first->next;
        sum += first->value;
        delete first;
        first = next;
    }
    int *more = new int[n];
    int *raw = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) more[i] = raw[n - 1 - i] = sum;
    out[threadIdx.x] = more[n / 2] + raw[0];
    delete[] more;
    free(raw);
    atomicAdd(&total, sum);
}

// What the three libraries share: the packets between the program and heddle, and the core that sends them.
#pragma once
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h" // CALL_... and PUSH_..., HEDDLE_WINDOW, HEDDLE_STAGING, made from calls.go

#define VALUES 8

// packet is both a call and an answer; size bytes follow it.
struct packet {
    int32_t kind;   // CALL_... of the program, PUSH_... of heddle
    int32_t status; // of an answer: a CUresult
    uint32_t size, zero;
    uint64_t v[VALUES];
};

#define PAYLOAD 32768 // bytes that follow at most; what is longer lies in the staging area

// heddle_call sends a call with the values v and n bytes, does what heddle asks for meanwhile, and returns the status;
// v then holds the answer's values and out up to cap bytes of it.
int heddle_call(int call, uint64_t v[VALUES], const void *in, size_t n, void *out, size_t cap);
int heddle_connect(void);           // 0, or the error that every call gives
void *heddle_stage(size_t n);       // locks the staging area and gives n bytes of it; NULL: too much
void heddle_unstage(size_t n);      // and unlocks it
int heddle_in_window(const void *); // an address of the machine's, not of the program's own
void heddle_refuse(const char *call, const char *why); // one line on stderr, once for each call
int heddle_unsupported(const char *call);
int heddle_attributes(const int32_t **list, int *count, const char **name, uint64_t *bytes);
const char *heddle_error_name(int error);
const char *heddle_error_text(int error);
int heddle_load(const void *image, int *module); // a wrapper, a fat binary or PTX text
// Parts of a program are linked once all of them are loaded: those that use each other become one module.
int heddle_load_part(const void *image, int *part);
int heddle_link_part(int part, int *module);

// area is depth slices of height rows of width bytes, and where they lie at both ends of a copy.
struct area {
    uint64_t dst, dpitch, dslice, src, spitch, sslice, width, height, depth;
    int kind; // a cudaMemcpyKind
};
int heddle_copy_area(const struct area *a, uint64_t stream, int async);
int heddle_copy(uint64_t dst, uint64_t dpitch, uint64_t src, uint64_t spitch, uint64_t width, uint64_t height,
                int kind, uint64_t stream, int async);
// heddle_fill sets height rows, pitch apart, of width elements of size bytes.
int heddle_fill(uint64_t dst, uint64_t pitch, uint64_t value, int size, uint64_t width, uint64_t height,
                uint64_t stream, int async);
int heddle_prefetch(uint64_t ptr, uint64_t bytes, int to_device, uint64_t stream);
int heddle_event_record(uint64_t event, uint64_t stream);
int heddle_stream_wait(uint64_t stream, uint64_t event);
int heddle_host_call(uint64_t stream, void *fn, void *data, int with_status);
int heddle_allocate(uint64_t *to, size_t bytes, int kind); // 0 device, 1 managed, 2 host memory
// heddle_share makes pages of the program those of the window from at on.
int heddle_share(void *host, uint64_t at, size_t n);
int heddle_register(void *host, size_t n);
int heddle_unregister(void *host);
void *heddle_device_pointer(void *host); // of pinned or registered memory; NULL: it is neither

// kernel is a function of a module as launches need it.
struct kernel {
    uint64_t id;
    uint32_t params, bytes;
    uint32_t *layout; // offset and size of each parameter
    int32_t attributes[16];
};
int heddle_function(int module, const char *name, struct kernel *k);
int heddle_parameters(const struct kernel *k, void **args, void **extra, char *to);
int heddle_start(const struct kernel *k, const uint32_t grid[3], const uint32_t block[3], uint64_t shared,
                 uint64_t stream, int cooperative, const char *params);
int heddle_launch(const struct kernel *k, const uint32_t grid[3], const uint32_t block[3], uint64_t shared,
                  uint64_t stream, int cooperative, void **args, void **extra);

#define CUDA_NOT_INITIALIZED 3
#define CUDA_NOT_SUPPORTED 801

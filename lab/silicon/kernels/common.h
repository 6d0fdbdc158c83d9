// Words that all kernels of this folder share.
#pragma once
#include "heddle.cuh"
typedef unsigned long long u64;
typedef unsigned u32;
#define REP2(x)   x x
#define REP4(x)   REP2(x) REP2(x)
#define REP8(x)   REP4(x) REP4(x)
#define REP16(x)  REP8(x) REP8(x)
#define REP64(x)  REP16(x) REP16(x) REP16(x) REP16(x)
#define REP128(x) REP64(x) REP64(x)
#define CLK(v) asm volatile("mov.u32 %0, %%clock;" : "=r"(v) :: "memory")
// reads the clock once the 32-bit (64-bit) value v has arrived
#define CLK32(t, C, v) asm volatile("{ .reg .b32 z; mov.b32 z, %1; mov.u32 %0, %%clock; }" : "=r"(t) : C(v) : "memory")
#define CLK64(t, C, v) asm volatile("{ .reg .b64 z; mov.b64 z, %1; mov.u32 %0, %%clock; }" : "=r"(t) : C(v) : "memory")

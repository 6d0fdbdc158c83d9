// libdevice_basic.h -- the functions of NVIDIA's libdevice that are one instruction or a few:
// conversions, rounding modes, bits. Their names are those that clang's headers call.
#pragma once

#define HEDDLE_LIB extern "C" __inline__ __attribute__((device, always_inline, nodebug))

// ---- arithmetic with a rounding mode

HEDDLE_LIB float __nv_fadd_rn(float a, float b) { float r; asm("add.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fsub_rn(float a, float b) { float r; asm("sub.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fmul_rn(float a, float b) { float r; asm("mul.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fdiv_rn(float a, float b) { float r; asm("div.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_frcp_rn(float a) { float r; asm("rcp.rn.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_fsqrt_rn(float a) { float r; asm("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
HEDDLE_LIB double __nv_dadd_rn(double a, double b) { double r; asm("add.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_dsub_rn(double a, double b) { double r; asm("sub.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_dmul_rn(double a, double b) { double r; asm("mul.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_ddiv_rn(double a, double b) { double r; asm("div.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_drcp_rn(double a) { double r; asm("rcp.rn.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_dsqrt_rn(double a) { double r; asm("sqrt.rn.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }
HEDDLE_LIB float __nv_fmaf_rn(float a, float b, float c) { float r; asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c)); return r; }
HEDDLE_LIB float __nv_fmaf_ieee_rn(float a, float b, float c) { return __nv_fmaf_rn(a, b, c); }
HEDDLE_LIB double __nv_fma_rn(double a, double b, double c) { double r; asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(a), "d"(b), "d"(c)); return r; }
HEDDLE_LIB float __nv_fadd_rz(float a, float b) { float r; asm("add.rz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fsub_rz(float a, float b) { float r; asm("sub.rz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fmul_rz(float a, float b) { float r; asm("mul.rz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fdiv_rz(float a, float b) { float r; asm("div.rz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_frcp_rz(float a) { float r; asm("rcp.rz.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_fsqrt_rz(float a) { float r; asm("sqrt.rz.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
HEDDLE_LIB double __nv_dadd_rz(double a, double b) { double r; asm("add.rz.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_dsub_rz(double a, double b) { double r; asm("sub.rz.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_dmul_rz(double a, double b) { double r; asm("mul.rz.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_ddiv_rz(double a, double b) { double r; asm("div.rz.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_drcp_rz(double a) { double r; asm("rcp.rz.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_dsqrt_rz(double a) { double r; asm("sqrt.rz.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }
HEDDLE_LIB float __nv_fmaf_rz(float a, float b, float c) { float r; asm("fma.rz.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c)); return r; }
HEDDLE_LIB float __nv_fmaf_ieee_rz(float a, float b, float c) { return __nv_fmaf_rz(a, b, c); }
HEDDLE_LIB double __nv_fma_rz(double a, double b, double c) { double r; asm("fma.rz.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(a), "d"(b), "d"(c)); return r; }
HEDDLE_LIB float __nv_fadd_rd(float a, float b) { float r; asm("add.rm.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fsub_rd(float a, float b) { float r; asm("sub.rm.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fmul_rd(float a, float b) { float r; asm("mul.rm.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fdiv_rd(float a, float b) { float r; asm("div.rm.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_frcp_rd(float a) { float r; asm("rcp.rm.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_fsqrt_rd(float a) { float r; asm("sqrt.rm.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
HEDDLE_LIB double __nv_dadd_rd(double a, double b) { double r; asm("add.rm.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_dsub_rd(double a, double b) { double r; asm("sub.rm.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_dmul_rd(double a, double b) { double r; asm("mul.rm.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_ddiv_rd(double a, double b) { double r; asm("div.rm.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_drcp_rd(double a) { double r; asm("rcp.rm.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_dsqrt_rd(double a) { double r; asm("sqrt.rm.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }
HEDDLE_LIB float __nv_fmaf_rd(float a, float b, float c) { float r; asm("fma.rm.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c)); return r; }
HEDDLE_LIB float __nv_fmaf_ieee_rd(float a, float b, float c) { return __nv_fmaf_rd(a, b, c); }
HEDDLE_LIB double __nv_fma_rd(double a, double b, double c) { double r; asm("fma.rm.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(a), "d"(b), "d"(c)); return r; }
HEDDLE_LIB float __nv_fadd_ru(float a, float b) { float r; asm("add.rp.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fsub_ru(float a, float b) { float r; asm("sub.rp.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fmul_ru(float a, float b) { float r; asm("mul.rp.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_fdiv_ru(float a, float b) { float r; asm("div.rp.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
HEDDLE_LIB float __nv_frcp_ru(float a) { float r; asm("rcp.rp.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_fsqrt_ru(float a) { float r; asm("sqrt.rp.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
HEDDLE_LIB double __nv_dadd_ru(double a, double b) { double r; asm("add.rp.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_dsub_ru(double a, double b) { double r; asm("sub.rp.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_dmul_ru(double a, double b) { double r; asm("mul.rp.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_ddiv_ru(double a, double b) { double r; asm("div.rp.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b)); return r; }
HEDDLE_LIB double __nv_drcp_ru(double a) { double r; asm("rcp.rp.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_dsqrt_ru(double a) { double r; asm("sqrt.rp.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }
HEDDLE_LIB float __nv_fmaf_ru(float a, float b, float c) { float r; asm("fma.rp.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c)); return r; }
HEDDLE_LIB float __nv_fmaf_ieee_ru(float a, float b, float c) { return __nv_fmaf_ru(a, b, c); }
HEDDLE_LIB double __nv_fma_ru(double a, double b, double c) { double r; asm("fma.rp.f64 %0, %1, %2, %3;" : "=d"(r) : "d"(a), "d"(b), "d"(c)); return r; }
HEDDLE_LIB float __nv_frsqrt_rn(float a) { return (float)(1.0 / __nvvm_sqrt_rn_d((double)a)); }
HEDDLE_LIB double __nv_rcp64h(double a) { double r; asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a)); return r; }

// ---- conversions

HEDDLE_LIB int __nv_float2int_rn(float a) { int r; asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_int2float_rn(int a) { float r; asm("cvt.rn.f32.s32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
HEDDLE_LIB int __nv_double2int_rn(double a) { int r; asm("cvt.rni.s32.f64 %0, %1;" : "=r"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_int2double_rn(int a) { return (double)a; }
HEDDLE_LIB unsigned int __nv_float2uint_rn(float a) { unsigned int r; asm("cvt.rni.u32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_uint2float_rn(unsigned int a) { float r; asm("cvt.rn.f32.u32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
HEDDLE_LIB unsigned int __nv_double2uint_rn(double a) { unsigned int r; asm("cvt.rni.u32.f64 %0, %1;" : "=r"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_uint2double_rn(unsigned int a) { return (double)a; }
HEDDLE_LIB long long __nv_float2ll_rn(float a) { long long r; asm("cvt.rni.s64.f32 %0, %1;" : "=l"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_ll2float_rn(long long a) { float r; asm("cvt.rn.f32.s64 %0, %1;" : "=f"(r) : "l"(a)); return r; }
HEDDLE_LIB long long __nv_double2ll_rn(double a) { long long r; asm("cvt.rni.s64.f64 %0, %1;" : "=l"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_ll2double_rn(long long a) { double r; asm("cvt.rn.f64.s64 %0, %1;" : "=d"(r) : "l"(a)); return r; }
HEDDLE_LIB unsigned long long __nv_float2ull_rn(float a) { unsigned long long r; asm("cvt.rni.u64.f32 %0, %1;" : "=l"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_ull2float_rn(unsigned long long a) { float r; asm("cvt.rn.f32.u64 %0, %1;" : "=f"(r) : "l"(a)); return r; }
HEDDLE_LIB unsigned long long __nv_double2ull_rn(double a) { unsigned long long r; asm("cvt.rni.u64.f64 %0, %1;" : "=l"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_ull2double_rn(unsigned long long a) { double r; asm("cvt.rn.f64.u64 %0, %1;" : "=d"(r) : "l"(a)); return r; }
HEDDLE_LIB float __nv_double2float_rn(double a) { float r; asm("cvt.rn.f32.f64 %0, %1;" : "=f"(r) : "d"(a)); return r; }
HEDDLE_LIB int __nv_float2int_rz(float a) { int r; asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_int2float_rz(int a) { float r; asm("cvt.rz.f32.s32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
HEDDLE_LIB int __nv_double2int_rz(double a) { int r; asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(r) : "d"(a)); return r; }
HEDDLE_LIB unsigned int __nv_float2uint_rz(float a) { unsigned int r; asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_uint2float_rz(unsigned int a) { float r; asm("cvt.rz.f32.u32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
HEDDLE_LIB unsigned int __nv_double2uint_rz(double a) { unsigned int r; asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(r) : "d"(a)); return r; }
HEDDLE_LIB long long __nv_float2ll_rz(float a) { long long r; asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_ll2float_rz(long long a) { float r; asm("cvt.rz.f32.s64 %0, %1;" : "=f"(r) : "l"(a)); return r; }
HEDDLE_LIB long long __nv_double2ll_rz(double a) { long long r; asm("cvt.rzi.s64.f64 %0, %1;" : "=l"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_ll2double_rz(long long a) { double r; asm("cvt.rz.f64.s64 %0, %1;" : "=d"(r) : "l"(a)); return r; }
HEDDLE_LIB unsigned long long __nv_float2ull_rz(float a) { unsigned long long r; asm("cvt.rzi.u64.f32 %0, %1;" : "=l"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_ull2float_rz(unsigned long long a) { float r; asm("cvt.rz.f32.u64 %0, %1;" : "=f"(r) : "l"(a)); return r; }
HEDDLE_LIB unsigned long long __nv_double2ull_rz(double a) { unsigned long long r; asm("cvt.rzi.u64.f64 %0, %1;" : "=l"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_ull2double_rz(unsigned long long a) { double r; asm("cvt.rz.f64.u64 %0, %1;" : "=d"(r) : "l"(a)); return r; }
HEDDLE_LIB float __nv_double2float_rz(double a) { float r; asm("cvt.rz.f32.f64 %0, %1;" : "=f"(r) : "d"(a)); return r; }
HEDDLE_LIB int __nv_float2int_rd(float a) { int r; asm("cvt.rmi.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_int2float_rd(int a) { float r; asm("cvt.rm.f32.s32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
HEDDLE_LIB int __nv_double2int_rd(double a) { int r; asm("cvt.rmi.s32.f64 %0, %1;" : "=r"(r) : "d"(a)); return r; }
HEDDLE_LIB unsigned int __nv_float2uint_rd(float a) { unsigned int r; asm("cvt.rmi.u32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_uint2float_rd(unsigned int a) { float r; asm("cvt.rm.f32.u32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
HEDDLE_LIB unsigned int __nv_double2uint_rd(double a) { unsigned int r; asm("cvt.rmi.u32.f64 %0, %1;" : "=r"(r) : "d"(a)); return r; }
HEDDLE_LIB long long __nv_float2ll_rd(float a) { long long r; asm("cvt.rmi.s64.f32 %0, %1;" : "=l"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_ll2float_rd(long long a) { float r; asm("cvt.rm.f32.s64 %0, %1;" : "=f"(r) : "l"(a)); return r; }
HEDDLE_LIB long long __nv_double2ll_rd(double a) { long long r; asm("cvt.rmi.s64.f64 %0, %1;" : "=l"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_ll2double_rd(long long a) { double r; asm("cvt.rm.f64.s64 %0, %1;" : "=d"(r) : "l"(a)); return r; }
HEDDLE_LIB unsigned long long __nv_float2ull_rd(float a) { unsigned long long r; asm("cvt.rmi.u64.f32 %0, %1;" : "=l"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_ull2float_rd(unsigned long long a) { float r; asm("cvt.rm.f32.u64 %0, %1;" : "=f"(r) : "l"(a)); return r; }
HEDDLE_LIB unsigned long long __nv_double2ull_rd(double a) { unsigned long long r; asm("cvt.rmi.u64.f64 %0, %1;" : "=l"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_ull2double_rd(unsigned long long a) { double r; asm("cvt.rm.f64.u64 %0, %1;" : "=d"(r) : "l"(a)); return r; }
HEDDLE_LIB float __nv_double2float_rd(double a) { float r; asm("cvt.rm.f32.f64 %0, %1;" : "=f"(r) : "d"(a)); return r; }
HEDDLE_LIB int __nv_float2int_ru(float a) { int r; asm("cvt.rpi.s32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_int2float_ru(int a) { float r; asm("cvt.rp.f32.s32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
HEDDLE_LIB int __nv_double2int_ru(double a) { int r; asm("cvt.rpi.s32.f64 %0, %1;" : "=r"(r) : "d"(a)); return r; }
HEDDLE_LIB unsigned int __nv_float2uint_ru(float a) { unsigned int r; asm("cvt.rpi.u32.f32 %0, %1;" : "=r"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_uint2float_ru(unsigned int a) { float r; asm("cvt.rp.f32.u32 %0, %1;" : "=f"(r) : "r"(a)); return r; }
HEDDLE_LIB unsigned int __nv_double2uint_ru(double a) { unsigned int r; asm("cvt.rpi.u32.f64 %0, %1;" : "=r"(r) : "d"(a)); return r; }
HEDDLE_LIB long long __nv_float2ll_ru(float a) { long long r; asm("cvt.rpi.s64.f32 %0, %1;" : "=l"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_ll2float_ru(long long a) { float r; asm("cvt.rp.f32.s64 %0, %1;" : "=f"(r) : "l"(a)); return r; }
HEDDLE_LIB long long __nv_double2ll_ru(double a) { long long r; asm("cvt.rpi.s64.f64 %0, %1;" : "=l"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_ll2double_ru(long long a) { double r; asm("cvt.rp.f64.s64 %0, %1;" : "=d"(r) : "l"(a)); return r; }
HEDDLE_LIB unsigned long long __nv_float2ull_ru(float a) { unsigned long long r; asm("cvt.rpi.u64.f32 %0, %1;" : "=l"(r) : "f"(a)); return r; }
HEDDLE_LIB float __nv_ull2float_ru(unsigned long long a) { float r; asm("cvt.rp.f32.u64 %0, %1;" : "=f"(r) : "l"(a)); return r; }
HEDDLE_LIB unsigned long long __nv_double2ull_ru(double a) { unsigned long long r; asm("cvt.rpi.u64.f64 %0, %1;" : "=l"(r) : "d"(a)); return r; }
HEDDLE_LIB double __nv_ull2double_ru(unsigned long long a) { double r; asm("cvt.rp.f64.u64 %0, %1;" : "=d"(r) : "l"(a)); return r; }
HEDDLE_LIB float __nv_double2float_ru(double a) { float r; asm("cvt.rp.f32.f64 %0, %1;" : "=f"(r) : "d"(a)); return r; }
HEDDLE_LIB int __nv_float_as_int(float a) { return __builtin_bit_cast(int, a); }
HEDDLE_LIB unsigned int __nv_float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
HEDDLE_LIB float __nv_int_as_float(int a) { return __builtin_bit_cast(float, a); }
HEDDLE_LIB float __nv_uint_as_float(unsigned int a) { return __builtin_bit_cast(float, a); }
HEDDLE_LIB unsigned long long __nv_double_as_longlong(double a) { return __builtin_bit_cast(unsigned long long, a); }
HEDDLE_LIB double __nv_longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
HEDDLE_LIB int __nv_double2hiint(double a) { return (int)(__builtin_bit_cast(unsigned long long, a) >> 32); }
HEDDLE_LIB int __nv_double2loint(double a) { return (int)__builtin_bit_cast(unsigned long long, a); }
HEDDLE_LIB double __nv_hiloint2double(int hi, int lo)
{
    return __builtin_bit_cast(double, (unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}
HEDDLE_LIB unsigned short __nv_float2half_rn(float a)
{
    unsigned short r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(a));
    return r;
}
HEDDLE_LIB float __nv_half2float(unsigned short a)
{
    float r;
    asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(a));
    return r;
}

// ---- integers and bits

HEDDLE_LIB int __nv_abs(int a) { return a < 0 ? -a : a; }
HEDDLE_LIB long long __nv_llabs(long long a) { return a < 0 ? -a : a; }
HEDDLE_LIB int __nv_max(int a, int b) { return a < b ? b : a; }
HEDDLE_LIB int __nv_min(int a, int b) { return b < a ? b : a; }
HEDDLE_LIB unsigned int __nv_umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
HEDDLE_LIB unsigned int __nv_umin(unsigned int a, unsigned int b) { return b < a ? b : a; }
HEDDLE_LIB long long __nv_llmax(long long a, long long b) { return a < b ? b : a; }
HEDDLE_LIB long long __nv_llmin(long long a, long long b) { return b < a ? b : a; }
HEDDLE_LIB unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
HEDDLE_LIB unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
HEDDLE_LIB int __nv_brev(int a) { return (int)__builtin_bitreverse32((unsigned)a); }
HEDDLE_LIB long long __nv_brevll(long long a) { return (long long)__builtin_bitreverse64((unsigned long long)a); }
HEDDLE_LIB int __nv_clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
HEDDLE_LIB int __nv_clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
HEDDLE_LIB int __nv_ffs(int a) { return __builtin_ffs(a); }
HEDDLE_LIB int __nv_ffsll(long long a) { return __builtin_ffsll(a); }
HEDDLE_LIB int __nv_popc(unsigned int a) { return __builtin_popcount(a); }
HEDDLE_LIB int __nv_popcll(unsigned long long a) { return __builtin_popcountll(a); }
HEDDLE_LIB int __nv_byte_perm(int a, int b, int s)
{
    int r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(s & 0x7777));
    return r;
}
HEDDLE_LIB int __nv_mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
HEDDLE_LIB unsigned int __nv_umulhi(unsigned int a, unsigned int b)
{
    return (unsigned)((unsigned long long)a * b >> 32);
}
HEDDLE_LIB long long __nv_mul64hi(long long a, long long b)
{
    long long r;
    asm("mul.hi.s64 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    return r;
}
HEDDLE_LIB unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b)
{
    unsigned long long r;
    asm("mul.hi.u64 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    return r;
}
HEDDLE_LIB int __nv_mul24(int a, int b)
{
    int r;
    asm("mul24.lo.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
HEDDLE_LIB unsigned int __nv_umul24(unsigned int a, unsigned int b)
{
    unsigned int r;
    asm("mul24.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
HEDDLE_LIB int __nv_sad(int a, int b, int c)
{
    int r;
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
HEDDLE_LIB unsigned int __nv_usad(unsigned int a, unsigned int b, unsigned int c)
{
    unsigned int r;
    asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    return r;
}
HEDDLE_LIB int __nv_hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
HEDDLE_LIB int __nv_rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
HEDDLE_LIB int __nv_uhadd(unsigned int a, unsigned int b) { return (int)(((unsigned long long)a + b) >> 1); }
HEDDLE_LIB unsigned int __nv_urhadd(unsigned int a, unsigned int b)
{
    return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}

// ---- floats: parts and kinds

HEDDLE_LIB float __nv_fabsf(float a) { return __builtin_fabsf(a); }
HEDDLE_LIB double __nv_fabs(double a) { return __builtin_fabs(a); }
HEDDLE_LIB float __nv_copysignf(float a, float b) { return __builtin_copysignf(a, b); }
HEDDLE_LIB double __nv_copysign(double a, double b) { return __builtin_copysign(a, b); }
HEDDLE_LIB float __nv_floorf(float a) { return __builtin_floorf(a); }
HEDDLE_LIB double __nv_floor(double a) { return __builtin_floor(a); }
HEDDLE_LIB float __nv_ceilf(float a) { return __builtin_ceilf(a); }
HEDDLE_LIB double __nv_ceil(double a) { return __builtin_ceil(a); }
HEDDLE_LIB float __nv_truncf(float a) { return __builtin_truncf(a); }
HEDDLE_LIB double __nv_trunc(double a) { return __builtin_trunc(a); }
HEDDLE_LIB float __nv_rintf(float a) { return __builtin_rintf(a); }
HEDDLE_LIB double __nv_rint(double a) { return __builtin_rint(a); }
HEDDLE_LIB float __nv_nearbyintf(float a) { return __builtin_rintf(a); }
HEDDLE_LIB double __nv_nearbyint(double a) { return __builtin_rint(a); }
HEDDLE_LIB float __nv_fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
HEDDLE_LIB double __nv_fmax(double a, double b) { return __builtin_fmax(a, b); }
HEDDLE_LIB float __nv_fminf(float a, float b) { return __builtin_fminf(a, b); }
HEDDLE_LIB double __nv_fmin(double a, double b) { return __builtin_fmin(a, b); }
HEDDLE_LIB float __nv_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
HEDDLE_LIB double __nv_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
HEDDLE_LIB float __nv_sqrtf(float a)
{
#ifdef __CLANG_GPU_APPROX_TRANSCENDENTALS__
    return __nvvm_sqrt_approx_f(a);
#else
    return __nvvm_sqrt_rn_f(a);
#endif
}
HEDDLE_LIB double __nv_sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
HEDDLE_LIB float __nv_rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
HEDDLE_LIB double __nv_rsqrt(double a) { return __nv_drcp_rn(__nvvm_sqrt_rn_d(a)); }
HEDDLE_LIB float __nv_saturatef(float a)
{
    float r;
    asm("cvt.sat.f32.f32 %0, %1;" : "=f"(r) : "f"(a));
    return r;
}
HEDDLE_LIB int __nv_signbitf(float a) { return (int)(__builtin_bit_cast(unsigned, a) >> 31); }
HEDDLE_LIB int __nv_signbitd(double a) { return (int)(__builtin_bit_cast(unsigned long long, a) >> 63); }
HEDDLE_LIB int __nv_isnanf(float a) { return a != a; }
HEDDLE_LIB int __nv_isnand(double a) { return a != a; }
HEDDLE_LIB int __nv_isinff(float a) { return __builtin_fabsf(a) == __builtin_inff(); }
HEDDLE_LIB int __nv_isinfd(double a) { return __builtin_fabs(a) == __builtin_inf(); }
HEDDLE_LIB int __nv_finitef(float a) { return __builtin_fabsf(a) < __builtin_inff(); }
HEDDLE_LIB int __nv_isfinited(double a) { return __builtin_fabs(a) < __builtin_inf(); }

// ---- the special function unit

HEDDLE_LIB float __nv_fast_sinf(float a) { return __nvvm_sin_approx_f(a); }
HEDDLE_LIB float __nv_fast_cosf(float a) { return __nvvm_cos_approx_f(a); }
HEDDLE_LIB void __nv_fast_sincosf(float a, float *s, float *c)
{
    *s = __nvvm_sin_approx_f(a);
    *c = __nvvm_cos_approx_f(a);
}
HEDDLE_LIB float __nv_fast_fdividef(float a, float b)
{
    float r;
    asm("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
}
HEDDLE_LIB float __nv_fast_tanf(float a) { return __nv_fast_fdividef(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a)); }
HEDDLE_LIB float __nv_fast_log2f(float a) { return __nvvm_lg2_approx_f(a); }
HEDDLE_LIB float __nv_fast_logf(float a) { return __nvvm_lg2_approx_f(a) * 0.693147181f; }
HEDDLE_LIB float __nv_fast_log10f(float a) { return __nvvm_lg2_approx_f(a) * 0.301029996f; }
HEDDLE_LIB float __nv_fast_expf(float a) { return __nvvm_ex2_approx_f(a * 1.44269504f); }
HEDDLE_LIB float __nv_fast_exp10f(float a) { return __nvvm_ex2_approx_f(a * 3.32192809f); }
HEDDLE_LIB float __nv_fast_powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }

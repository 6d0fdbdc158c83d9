// Included by cuda_fp16.h and cuda_bf16.h with HEDDLE_H and HEDDLE_H2 defined: clamping in namespace heddle, and then
// everything that narrow.h has.
namespace heddle {
HEDDLE_BOTH HEDDLE_H sat(HEDDLE_H a) { return sat1(a); }
HEDDLE_BOTH HEDDLE_H2 sat(HEDDLE_H2 a) { return HEDDLE_H2(sat1(a.x), sat1(a.y)); }
HEDDLE_BOTH HEDDLE_H relu(HEDDLE_H a) { return relu1(a); }
HEDDLE_BOTH HEDDLE_H2 relu(HEDDLE_H2 a) { return HEDDLE_H2(relu1(a.x), relu1(a.y)); }
HEDDLE_BOTH HEDDLE_H or_nan(HEDDLE_H a, HEDDLE_H b, HEDDLE_H r) { return or_nan1(a, b, r); }
HEDDLE_BOTH HEDDLE_H2 or_nan(HEDDLE_H2 a, HEDDLE_H2 b, HEDDLE_H2 r)
{
    return HEDDLE_H2(or_nan1(a.x, b.x, r.x), or_nan1(a.y, b.y, r.y));
}
HEDDLE_BOTH HEDDLE_H2 div(HEDDLE_H2 a, HEDDLE_H2 b) { return HEDDLE_H2(div(a.x, b.x), div(a.y, b.y)); }
} // namespace heddle

HEDDLE_NARROW_ARITHMETIC(HEDDLE_H, , HEDDLE_H(1.0f))
HEDDLE_NARROW_ARITHMETIC(HEDDLE_H2, 2, HEDDLE_H2(HEDDLE_H(1.0f), HEDDLE_H(1.0f)))
HEDDLE_NARROW_COMPARISONS(HEDDLE_H, HEDDLE_H2)
HEDDLE_NARROW_FUNCTIONS(HEDDLE_H, HEDDLE_H2)
HEDDLE_NARROW_MOVES(HEDDLE_H, unsigned short)
HEDDLE_NARROW_MOVES(HEDDLE_H2, unsigned)

HEDDLE_BOTH HEDDLE_H __hdiv(HEDDLE_H a, HEDDLE_H b) { return heddle::div(a, b); }
HEDDLE_BOTH HEDDLE_H2 __h2div(HEDDLE_H2 a, HEDDLE_H2 b) { return heddle::div(a, b); }
HEDDLE_BOTH HEDDLE_H2 __lowhigh2highlow(HEDDLE_H2 a) { return HEDDLE_H2(a.y, a.x); }
HEDDLE_BOTH float __low2float(HEDDLE_H2 a) { return heddle::up(a.x); }
HEDDLE_BOTH float __high2float(HEDDLE_H2 a) { return heddle::up(a.y); }

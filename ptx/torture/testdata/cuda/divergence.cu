// Control flow that diverges within a warp.
#include "torture.cuh"

// Four levels of nested conditions, each on another bit of scrambled input.
KERNEL div_nested(u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 h = mix(i), r = 1;
    if (h & 1) {
        r += 10;
        if (h & 2) {
            r *= 3;
            if (h & 4) r ^= h;
            else {
                r -= i;
                if (h & 8) r = r << 3 | r >> 29;
            }
        } else if (h & 16) r += mix(r);
        r += 7;
    } else {
        if (h & 32) {
            for (u32 k = 0; k < (h >> 8 & 7); k++) r = r * 5 + k;
            if (h & 64) r = ~r;
        }
        r += 1000;
    }
    out[i] = r;
}

// The length of a Collatz sequence: break, continue and return inside one loop.
KERNEL div_loops(u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 x = i + 1, steps = 0, odd = 0;
    for (;;) {
        if (x == 1) break;
        if (steps > 200) {
            out[i] = 0xffffffffu;
            return;
        }
        steps++;
        if (x % 2 == 0) {
            x /= 2;
            continue;
        }
        odd++;
        x = 3 * x + 1;
        if (odd == 40) break;
    }
    out[i] = steps << 8 | odd;
}

// Inner loops with different trip counts; the outer loop is left from the inner one.
KERNEL div_nested_loops(u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 sum = 0;
    for (u32 a = 0; a < (i & 7) + 1; a++) {
        for (u32 b = 0; b < (mix(i + a) & 15); b++) {
            sum = sum * 31 + a * b + 1;
            if ((sum & 0x3f) == 0x11) goto done;
            if ((sum & 0x1f) == 3) break;
        }
        do sum ^= sum >> 5; while (sum & 1 && (sum = sum * 3 + 2) < 0xf0000000u);
    }
done:
    out[i] = sum;
}

// A dense switch with fall-through and a default, in a loop: a tiny stack machine.
KERNEL div_switch(const u8 *code, u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 a = i, b = 7;
    for (u32 pc = 0; pc < 24; pc++) {
        switch (code[(pc * 37 + i * 11) & 255] % 13) {
        case 0: a += b; break;
        case 1: a -= b; // falls through
        case 2: a ^= 0x55u; break;
        case 3: b = a >> 3; break;
        case 4: b++; // falls through
        case 5: b += 2; // falls through
        case 6: b *= 3; break;
        case 7: if (a & 1) continue; a = mix(a); break;
        case 8: a = a << 7 | a >> 25; break;
        case 9: { u32 t = a; a = b; b = t; break; }
        case 11: pc += 2; break;
        default: a = ~a;
        }
    }
    out[i] = a * 31 + b;
}

// Short-circuit conditions whose operands count how often they are evaluated.
KERNEL div_shortcircuit(u32 *out, u32 *count, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 h = mix(i + 77), r = 0;
    if (((h & 1) && (atomicAdd(&count[0], 1u) + 1) && (h & 2)) || ((h & 4) && (atomicAdd(&count[1], 1u) + 1) && !(h & 8))) r |= 1;
    if (!(h & 16) || (atomicAdd(&count[2], 1u) + 1 && (h & 32 || h & 64))) r |= 2;
    r |= (h & 128 ? (h & 256 ? 4 : 8) : (h & 512 ? 16 : 32));
    out[i] = r;
}

// Two loops that share blocks: an irreducible flow graph, entered in the middle by half
// of the threads.
KERNEL div_irreducible(u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    u32 x = mix(i), k = 0;
    if (x & 1) goto second;
first:
    x = x * 1664525u + 1013904223u;
    if (++k > 20) goto done;
    if (x & 0x100) goto first;
second:
    x ^= x >> 7;
    if (++k > 20) goto done;
    if (x & 0x200) goto second;
    if (x & 0x400) goto first;
done:
    out[i] = x + k;
}

// Threads leave one after the other; the last ones still work. Lane 5 leaves first.
KERNEL div_early_exit(u32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n || (i & 31) == 5) return;
    u32 v = i;
    for (u32 k = 0; k < 64; k++) {
        if ((i & 31) == k) return;
        v = mix(v) + k;
        out[i] = v;
    }
}

// Evaluates an expression given in reverse Polish notation with a stack in local memory.
KERNEL div_stack(const u8 *text, const u32 *start, i32 *out, u32 n)
{
    u32 i = TID;
    if (i >= n) return;
    i32 stack[16];
    int top = 0;
    for (u32 p = start[i]; p < start[i + 1]; p++) {
        u8 c = text[p];
        if (c >= '0' && c <= '9') {
            stack[top++] = c - '0';
            continue;
        }
        i32 b = stack[--top], a = stack[--top];
        switch (c) {
        case '+': a += b; break;
        case '-': a -= b; break;
        case '*': a *= b; break;
        case '/': a = b ? a / b : -1; break;
        }
        stack[top++] = a;
    }
    out[i] = top == 1 ? stack[0] : 1 << 30;
}

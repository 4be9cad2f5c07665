// Products of dense row-major fp32 matrices, for optimizers.
//
// Every element is one sum over the inner index in ascending order with fused multiply-add (a single
// rounding). So the bits are the same on every machine and with any number of threads, as replicated updates
// require. On processors without FMA, libm emulates it, which is slow.
#pragma once

#include <cstddef>

namespace radl::engine {

struct ProductShape {
  size_t rows, inner, columns;
};

// c (rows x columns) = a (rows x inner) * b (inner x columns).
void multiply(ProductShape shape, const float* a, const float* b, float* c, int threads);
// c (n x n) = a * a for a symmetric a (n x n): computes half and mirrors it.
void square_symmetric(size_t n, const float* a, float* c, int threads);
// c (rows x rows) = a * transpose(a) for a (rows x columns): computes half and mirrors it.
void multiply_by_own_transpose(size_t rows, size_t columns, const float* a, float* c, int threads);
// out (columns x rows) from in (rows x columns).
void transpose(const float* in, size_t rows, size_t columns, float* out);

}  // namespace radl::engine

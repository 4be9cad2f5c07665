// Products of dense fp32 matrices, row by row in memory, for optimizers.
//
// Every element is one sum over the inner index in rising order, a product and its addition rounded once
// (fused): the same bits on every machine and with any number of threads, as replicated updates need it. A
// processor without fused instructions has them from libm, which is slow.
#pragma once

#include <cstddef>

namespace radl::engine {

struct ProductShape {
  size_t rows, inner, columns;
};

// c (rows x columns) = a (rows x inner) * b (inner x columns).
void multiply(ProductShape shape, const float* a, const float* b, float* c, int threads);
// c (n x n) = a * a where a (n x n) is symmetric: half is computed, and mirrored.
void square_symmetric(size_t n, const float* a, float* c, int threads);
// c (rows x rows) = a * its transpose, of a (rows x columns); half is computed, and mirrored.
void multiply_by_own_transpose(size_t rows, size_t columns, const float* a, float* c, int threads);
// out (columns x rows) from in (rows x columns).
void transpose(const float* in, size_t rows, size_t columns, float* out);

}  // namespace radl::engine

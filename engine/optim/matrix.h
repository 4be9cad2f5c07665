// Products of dense fp32 matrices, row by row in memory, for optimizers.
//
// Every element is one sum over the inner index in rising order, each product rounded before it is added: the
// same bits on every machine and with any number of threads, as replicated updates need it.
#pragma once

#include <cstddef>

namespace radl::engine {

struct ProductShape {
  size_t rows, inner, columns;
};

// c (rows x columns) = a (rows x inner) * b (inner x columns).
void multiply(ProductShape shape, const float* a, const float* b, float* c, int threads);
// The same for a product that is symmetric: its half is computed, and mirrored.
void multiply_symmetric(ProductShape shape, const float* a, const float* b, float* c, int threads);
// out (columns x rows) from in (rows x columns).
void transpose(const float* in, size_t rows, size_t columns, float* out);

}  // namespace radl::engine

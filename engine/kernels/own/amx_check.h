// Self-test of the processor's matrix unit. These kernels were developed without AMX hardware, so a process
// multiplies a few small matrices and compares the results with the emulation before it uses the unit.
#pragma once

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "engine/kernels/own/amx_emulation.h"

namespace radl::engine::own {

// Returns "" or the difference. Takes some microseconds. Requires x86-64 with AMX, unless `Unit` is an
// emulation.
template <class Unit>
std::string amx_disagreement();
// Tests this processor's unit.
std::string amx_disagreement();

namespace amx_check {

// A product of 2x2 registers of `rows` by `columns` sums over `steps` registers of `pairs` pairs, all packed
// densely.
struct Product {
  int rows, columns, pairs, steps;
  std::vector<uint16_t> a, b;  // [step][2][rows][pairs][2], [step][2][pairs][columns][2]
  std::vector<float> sums;     // [2][2][rows][columns]
  double bound;                // largest allowed difference

  size_t a_values() const { return size_t{2} * rows * pairs; }
  size_t b_values() const { return size_t{2} * pairs * columns; }
  size_t c_values() const { return size_t{1} * rows * columns; }
};

// `exact`: small integers, whose sums are exact in every order. Otherwise numbers around 1 of varied size,
// whose fp32 sums differ from those in any other order by at most one rounding per term: each sum has 2 *
// pairs * steps + 1 terms, and both sides round.
inline Product random_product(int rows, int columns, int pairs, bool exact) {
  Product p{rows, columns, pairs, 3, {}, {}, {}, 0};
  std::mt19937 random(static_cast<unsigned>(1000 * rows + 10 * columns + pairs + exact));
  std::normal_distribution<float> normal;
  double largest = 0;
  const auto value = [&] {
    const float v = exact ? static_cast<float>(static_cast<int>(random() % 17) - 8) : normal(random);
    const uint16_t half = static_cast<uint16_t>(std::bit_cast<uint32_t>(v) >> 16);
    largest = std::max(largest, std::fabs(static_cast<double>(v)));
    return half;
  };
  p.a.resize(2 * p.steps * p.a_values());
  p.b.resize(2 * p.steps * p.b_values());
  p.sums.resize(4 * p.c_values());
  for (uint16_t& v : p.a) v = value();
  for (uint16_t& v : p.b) v = value();
  for (float& v : p.sums) v = static_cast<float>(static_cast<int>(random() % 65) - 32);
  const double terms = 2.0 * pairs * p.steps + 1;
  if (!exact) p.bound = 2 * terms * (FLT_EPSILON / 2) * (terms * largest * largest + 32);
  return p;
}

template <class Unit>
std::vector<float> multiply(const Product& p) {
  TileConfig config;
  for (int t = 0; t < 4; ++t) config.set(t, p.rows, 4 * p.columns);
  for (int t = 4; t < 6; ++t) config.set(t, p.rows, 4 * p.pairs);
  for (int t = 6; t < 8; ++t) config.set(t, p.pairs, 4 * p.columns);
  std::vector<float> sums = p.sums;
  const size_t a_row = 4 * p.pairs, row = 4 * p.columns, part = p.c_values();
  const uint16_t *a = p.a.data(), *b = p.b.data();
  Unit::configure(config);
  Unit::template load<0>(sums.data(), row);
  Unit::template zero<1>();
  Unit::template load<2>(sums.data() + 2 * part, row);
  Unit::template load<3>(sums.data() + 3 * part, row);
  for (int step = 0; step < p.steps; ++step, a += 2 * p.a_values(), b += 2 * p.b_values()) {
    Unit::template load<4>(a, a_row);
    Unit::template load<5>(a + p.a_values(), a_row);
    Unit::template load<6>(b, row);
    Unit::template load<7>(b + p.b_values(), row);
    Unit::template dot<0, 4, 6>();
    Unit::template dot<1, 4, 7>();
    Unit::template dot<2, 5, 6>();
    Unit::template dot<3, 5, 7>();
  }
  Unit::template store<0>(sums.data(), row);
  Unit::template store<1>(sums.data() + part, row);
  Unit::template store<2>(sums.data() + 2 * part, row);
  Unit::template store<3>(sums.data() + 3 * part, row);
  Unit::release();
  return sums;
}

}  // namespace amx_check

template <class Unit>
std::string amx_disagreement() {
  // The kernels' shape, and an asymmetric one that would reveal swapped rows and columns.
  const int shapes[][3] = {{16, 16, 16}, {5, 7, 3}};
  for (const auto& [rows, columns, pairs] : shapes)
    for (const bool exact : {true, false}) {
      const amx_check::Product p = amx_check::random_product(rows, columns, pairs, exact);
      const std::vector<float> got = amx_check::multiply<Unit>(p),
                               want = amx_check::multiply<AmxEmulation>(p);
      for (size_t i = 0; i < got.size(); ++i) {
        if (std::fabs(static_cast<double>(got[i]) - want[i]) <= p.bound) continue;  // false for a NaN
        return "sum " + std::to_string(i) + " of a product of " + std::to_string(rows) + "x" +
               std::to_string(2 * pairs) + " and " + std::to_string(2 * pairs) + "x" +
               std::to_string(columns) + " tiles is " + std::to_string(got[i]) + " instead of " +
               std::to_string(want[i]);
      }
    }
  return "";
}

}  // namespace radl::engine::own

// Exact activations and derivatives: the reference for tests. T is float or double.
#pragma once

#include <cmath>

#include "engine/tensor/kinds.h"

namespace radl::engine::ref {

template <class T>
T activate(Act act, T x, T slope) {
  switch (act) {
    case Act::None:
      return x;
    case Act::Relu:
      return x < 0 ? T(0) : x;  // keeps NaN
    case Act::LeakyRelu:
      return x > 0 ? x : slope * x;
    case Act::Gelu:
      return T(0.5) * x * (1 + std::erf(x * T(0.70710678118654752)));  // Hendrycks and Gimpel 2016
    case Act::Silu:
      return x / (1 + std::exp(-x));
    case Act::Tanh:
      return std::tanh(x);
    case Act::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case Act::Elu:
      return x > 0 ? x : slope * std::expm1(x);
    case Act::HardSwish:
      return x <= -3 ? T(0) : x >= 3 ? x : x * (x + 3) / 6;
  }
  return x;
}

template <class T>
T activation_gradient(Act act, T x, T slope) {
  switch (act) {
    case Act::None:
      return 1;
    case Act::Relu:
      return x <= 0 ? 0 : 1;
    case Act::LeakyRelu:
      return x > 0 ? T(1) : slope;
    case Act::Gelu:
      return T(0.5) * (1 + std::erf(x * T(0.70710678118654752))) +
             x * std::exp(T(-0.5) * x * x) * T(0.39894228040143268);
    case Act::Silu: {
      const T s = 1 / (1 + std::exp(-x));
      return s * (1 + x * (1 - s));
    }
    case Act::Tanh:
      return 1 - std::tanh(x) * std::tanh(x);
    case Act::Sigmoid: {
      const T s = 1 / (1 + std::exp(-x));
      return s * (1 - s);
    }
    case Act::Elu:
      return x > 0 ? T(1) : slope * std::exp(x);
    case Act::HardSwish:
      return x <= -3 ? T(0) : x >= 3 ? T(1) : (2 * x + 3) / 6;
  }
  return 1;
}

}  // namespace radl::engine::ref

#include "engine/kernels/elementwise.h"

#include "engine/kernels/cpu.h"

namespace radl::engine {

const ElementwiseKernels* elementwise_baseline();
const ElementwiseKernels* elementwise_avx2();
const ElementwiseKernels* elementwise_avx512();
const ElementwiseKernels* elementwise_avx512_bf16();

const ElementwiseKernels& elementwise(Type type, bool best) {
  const CpuFeatures& has = cpu();
  const ElementwiseKernels* tables = !best             ? elementwise_baseline()
                                     : has.avx512_bf16 ? elementwise_avx512_bf16()
                                     : has.avx512      ? elementwise_avx512()
                                     : has.avx2        ? elementwise_avx2()
                                                       : elementwise_baseline();
  return tables[static_cast<int>(type)];
}

}  // namespace radl::engine

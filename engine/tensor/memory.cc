#include "engine/tensor/memory.h"

#include "engine/tensor/buffer.h"

namespace radl::engine {

Status check_memory(size_t bytes, const std::string& what) {
  const size_t available = available_memory();
  if (bytes <= available) return ok_status();
  const auto mib = [](size_t n) { return (n + (1 << 20) - 1) >> 20; };
  return {Code::Quota, what + " needs " + std::to_string(mib(bytes)) + " MiB more, but " +
                           std::to_string(mib(available)) + " MiB are free"};
}

}  // namespace radl::engine

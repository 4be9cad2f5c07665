// Any bytes as a checkpoint; also with magic, header length and checksum made right.
#include <cstdint>
#include <cstring>

#include "common/digest.h"
#include "engine/train/checkpoint.h"
#include "engine/train/history.h"
#include "tests/fuzz/data/memory_file.h"

using namespace radl;
using namespace radl::engine;

namespace {

void load(std::string_view bytes) {
  const test::MemoryFile file(bytes);
  auto c = load_checkpoint(file.path());
  if (!c.ok()) return;
  if (c->next - c->again.size() != c->done()) __builtin_trap();
  (void)read_history(c->numbers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  load(bytes);
  const uint64_t length = std::min(bytes.find('\0'), bytes.size());
  std::string whole("RADL checkpoint 1\n");
  whole.append(reinterpret_cast<const char*>(&length), 8);
  whole.append(bytes);
  load(whole + sha256_hex(whole));
  (void)read_history(std::string(bytes));
  return 0;
}

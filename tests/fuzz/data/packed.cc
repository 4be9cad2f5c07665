// Any bytes as a packed dataset; also with the header's checksum and length made right, so that what lies
// behind them is reached.
#include <cstdint>
#include <cstring>

#include "common/crc32c.h"
#include "engine/data/readers.h"
#include "tests/fuzz/data/memory_file.h"

using namespace radl::engine;
using namespace radl::engine::data;

namespace {

void open_and_read(std::string_view bytes) {
  const radl::test::MemoryFile file(bytes);
  auto dataset = read_packed(file.path(), true);
  if (!dataset.ok()) return;
  std::vector<uint8_t> pixels(pixel_count((*dataset)->shape()));
  for (size_t i = 0; i < (*dataset)->size(); ++i) {
    (void)(*dataset)->read(i, pixels);
    if ((*dataset)->label(i) < 0 || (*dataset)->label(i) >= (*dataset)->classes()) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  open_and_read(bytes);
  // A JSON header up to the first zero byte, the rest as it is.
  const std::string_view header = bytes.substr(0, bytes.find('\0'));
  std::string whole = "RADLPACK1\n";
  const uint64_t length = header.size();
  const uint32_t crc = radl::crc32c(header);
  whole.append(reinterpret_cast<const char*>(&length), 8);
  whole.append(reinterpret_cast<const char*>(&crc), 4);
  open_and_read(whole.append(bytes));
  return 0;
}

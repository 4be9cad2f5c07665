// Any bytes as a tar archive (gzip or not), as a gzip file, as labels of the npm package, as a strip.
#include <cstdint>

#include "engine/data/archive.h"
#include "engine/data/fetch_npm.h"
#include "engine/data/readers.h"
#include "tests/fuzz/data/memory_file.h"

using namespace radl;
using namespace radl::engine::data;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const test::MemoryFile file(bytes);
  size_t members = 0;
  (void)visit_archive(file.path(), [&](const std::string&, const MemberReader& content) -> Status {
    if (++members % 2 == 0) return {};  // left unread
    auto read = content(1 << 16);
    return read.ok() && read->size() > 1 << 16 ? internal_error("beyond the limit") : Status();
  });
  auto unpacked = read_maybe_gzip(file.path(), 1 << 20);
  if (unpacked.ok() && unpacked->size() > 1 << 20) __builtin_trap();
  auto labels = parse_labels(bytes, "labels.json");
  if (labels.ok()) (void)cifar_records(bytes, *labels);
  (void)cifar_records(bytes, std::vector<int>(3, 9));
  return 0;
}

// Runs a fuzzer's function without libFuzzer: on the empty input, on each file of the folders given, and on
// parts of it cut off at its front and at its end. A sanitizer's finding ends the program; nothing is learned
// here, `make fuzz` does that.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kParts = 16;

void run(const uint8_t* data, size_t size) {
  // A copy of exactly its size: a read past the end is one past an allocation.
  const std::vector<uint8_t> input(data, data + size);
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

size_t replay(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  run(data, bytes.size());
  const size_t parts = std::min(kParts, bytes.size());
  for (size_t part = 1; part < parts; ++part) {
    const size_t at = bytes.size() * part / parts;
    run(data, at);
    run(data + at, bytes.size() - at);
  }
  return parts == 0 ? 1 : 2 * parts - 1;
}

}  // namespace

int main(int count, char** arguments) {
  run(nullptr, 0);
  size_t files = 0, inputs = 1;
  for (int i = 1; i < count; ++i) {
    std::vector<std::filesystem::path> found;
    for (const auto& each : std::filesystem::directory_iterator(arguments[i])) found.push_back(each.path());
    std::sort(found.begin(), found.end());
    for (const auto& file : found) inputs += replay(file);
    files += found.size();
  }
  std::printf("%zu seeds, %zu inputs: no finding\n", files, inputs);
  return 0;
}

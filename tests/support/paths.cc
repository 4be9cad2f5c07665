#include "tests/support/paths.h"

namespace radl::test {

std::string source_dir() { return RADL_SOURCE_DIR; }
std::string build_dir() { return RADL_BINARY_DIR; }

}  // namespace radl::test

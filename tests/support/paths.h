// Where the tests find the project's own files: in one library, so that no test's object depends on the
// folder it is built in.
#pragma once

#include <string>

namespace radl::test {

std::string source_dir();  // of the project, absolute, without a final slash
std::string build_dir();

}  // namespace radl::test

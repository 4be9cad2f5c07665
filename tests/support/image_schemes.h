// Schemes of images for tests of the compiler, which knows no cloud (CompileOptions::image_schemes).
#pragma once

#include <string>
#include <vector>

namespace radl::test {

inline const std::vector<std::string> kImageSchemes = {
    "one", "ost", "egi", "appdb", "aws",   "gce",  "azr",   "docker", "lambda", "oscar", "lin",
    "ora", "cst", "vsp", "kvr",   "dummy", "http", "https", "file",   "local",  "fbw",   "ssh"};

}  // namespace radl::test

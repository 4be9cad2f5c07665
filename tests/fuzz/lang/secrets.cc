// Programs with secrets in every place, chosen by the input's bytes: none of them may come out anywhere.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/support/secret_programs.h"
#include "tests/support/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace radl::test;
  static const TemporaryFolder folder;
  static const bool written = [] {
    for (const auto& [name, text] : secret_program_files()) std::ofstream(folder.path(name)) << text;
    return true;
  }();
  if (!written) return 0;
  size_t at = 0;
  Choose choose = [&](uint32_t n) -> uint32_t { return at < size ? data[at++] % n : 0; };
  SecretProgram program = make_secret_program(choose);
  LeakSearch found = search_leaks(program, folder.path());
  if (found.leaks.empty()) return 0;
  std::fprintf(stderr, "a secret stands in: %s\n%s\n", found.leaks.front().c_str(), program.text.c_str());
  std::abort();
}

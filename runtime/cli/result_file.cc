#include "runtime/cli/result_file.h"

#include <fmt/format.h>

#include <cstdio>

#include "common/output_file.h"

namespace radl::cli {

int put_result(const Session& session, std::string_view text, const std::string& file) {
  if (to_standard_output(file)) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kDone;
  }
  Status written = write_output_file(file, text);
  return written.ok() ? int(kDone) : report(session, written);
}

Status needs_file(const std::string& file, std::string_view option) {
  if (file != "-") return ok_status();
  return invalid(fmt::format("{} takes the name of a file: standard output is for what is shown", option))
      .with_hint(fmt::format("a file of that name: {} ./-", option));
}

}  // namespace radl::cli

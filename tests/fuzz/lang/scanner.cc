// The scanner alone, in each of its modes: tokens stand in order within the file, do not overlap, and leave
// out nothing that can be seen.
#include <cstdlib>

#include "compiler/syntax/parser.h"

namespace {

// What may stand between two tokens.
bool blank(std::string_view text) { return text.find_first_not_of(" \t\n") == std::string_view::npos; }

void scan(const radl::SourceFile& file) {
  uint32_t end = 0;
  for (const radl::Token& token : radl::tokenize(file)) {
    if (token.span.file != file.id() || token.span.begin < end || token.span.end <= token.span.begin)
      std::abort();
    if (!blank(file.text().substr(end, token.span.begin - end))) std::abort();
    end = token.span.end;
  }
  if (end > file.text().size() || !blank(file.text().substr(end))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  radl::SourceMap sources;
  scan(sources.add("fuzz.radl", text));
  scan(sources.add("fuzz2.radl", "radl 2\n" + text));
  scan(sources.add("body.radl", "system s (" + text));
  return 0;
}

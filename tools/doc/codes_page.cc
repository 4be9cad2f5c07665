#include "tools/doc/codes_page.h"

#include "compiler/diag/diagnostic.h"

namespace radl {
namespace {

constexpr char kHead[] =
    "# Errors and warnings\n\n"
    "This page is for you if radlc reports a code. It explains each of them; `radlc explain CODE` prints one "
    "entry, "
    "`radlc explain --list` all titles.\n\n"
    "E codes are errors: radlc rejects the file. W codes are warnings; `-Wno-CODE` or a comment `# radl: "
    "allow CODE` "
    "silences one\n"
    "([tools.md](tools.md)). The page is generated from `compiler/diag/codes.def`.\n";

struct Part {
  const char* digits;
  const char* title;
};
constexpr Part kParts[] = {{"00", "Files and limits"},
                           {"01", "Syntax"},
                           {"02", "How features combine"},
                           {"03", "The document"},
                           {"04", "radl 2: names, types, modules"},
                           {"05", "radl 2: recipes"},
                           {"06", "RADL-JSON"}};

std::string part_of(std::string_view id) {
  for (const Part& part : kParts) {
    if (id.substr(1, 2) == part.digits) return part.title;
  }
  return "Others";
}

}  // namespace

std::string diagnostics_page() {
  std::string out = kHead, part;
  for (const CodeInfo& code : all_codes()) {
    if (std::string here = part_of(code.id); here != part) {
      part = here;
      out += "\n## " + part + "\n";
    }
    out += "\n### " + std::string(code.id) + ": " + std::string(code.title) + "\n\n";
    std::string text(code.explanation);
    while (!text.empty() && text.front() == '\n') text.erase(0, 1);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    out += text + "\n";
  }
  return out;
}

}  // namespace radl

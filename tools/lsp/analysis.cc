#include "tools/lsp/analysis.h"

#include <algorithm>

#include "compiler/syntax/parser.h"

namespace radl::lsp {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

uint32_t mark_width(Encoding encoding) {
  return encoding == Encoding::Utf8 ? static_cast<uint32_t>(kByteOrderMark.size()) : 1;
}

}  // namespace

Analysis::Analysis(std::string uri_, std::string path_, int version_, std::string text)
    : uri(std::move(uri_)),
      path(std::move(path_)),
      version(version_),
      byte_order_mark(text.starts_with(kByteOrderMark)),
      source(1, path, std::move(text)) {
  tree = parse(source, syntax);
  lines = LineIndex(source.text());
  symbols = index_symbols(*tree);
}

Position Analysis::position(uint32_t offset, Encoding encoding) const {
  Position found = lines.position(source.text(), offset, encoding);
  if (byte_order_mark && found.line == 0) found.character += mark_width(encoding);
  return found;
}

uint32_t Analysis::offset(Position position, Encoding encoding) const {
  if (byte_order_mark && position.line == 0)
    position.character -= std::min(position.character, mark_width(encoding));
  return static_cast<uint32_t>(lines.offset(source.text(), position, encoding));
}

}  // namespace radl::lsp

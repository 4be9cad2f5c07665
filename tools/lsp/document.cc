#include "tools/lsp/document.h"

#include <utility>

namespace radl::lsp {

Document::Document(std::string uri, std::string path, int version, std::string text)
    : uri_(std::move(uri)),
      path_(std::move(path)),
      version_(version),
      text_(std::move(text)),
      lines_(text_) {}

void Document::change(const std::optional<Range>& range, std::string_view replacement, Encoding encoding) {
  if (!range) {
    text_ = replacement;
  } else {
    size_t begin = offset(range->start, encoding);
    size_t end = offset(range->end, encoding);
    if (begin > end) std::swap(begin, end);
    text_.replace(begin, end - begin, replacement);
  }
  lines_ = LineIndex(text_);
}

}  // namespace radl::lsp

// The parse result of one text: tree, parser findings, symbols. Immutable, so that answers and other threads
// can keep it.
#pragma once

#include <memory>
#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"
#include "tools/lsp/position.h"
#include "tools/lsp/symbols.h"

namespace radl::lsp {

struct Analysis {
  std::string uri, path;
  int version = 0;
  bool byte_order_mark = false;  // the editor's text begins with one; source.text() does not include it
  SourceFile source;
  Diagnostics syntax;  // parser findings only
  std::unique_ptr<ast::Tree> tree;
  LineIndex lines;  // of source.text()
  SymbolIndex symbols;

  Analysis(std::string uri, std::string path, int version, std::string text);

  // Conversion to and from positions in the editor's text.
  Position position(uint32_t offset, Encoding encoding) const;
  Range range(Span span, Encoding encoding) const {
    return {position(span.begin, encoding), position(span.end, encoding)};
  }
  uint32_t offset(Position position, Encoding encoding) const;
};

using AnalysisPtr = std::shared_ptr<const Analysis>;

}  // namespace radl::lsp

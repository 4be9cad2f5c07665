// One reading of one string: tree, findings of the parser, symbols. Immutable once made, so answers and other
// threads can hold on to it.
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
  bool byte_order_mark = false;  // the editor's text begins with one; source.text() does not
  SourceFile source;
  Diagnostics syntax;  // of the parser alone
  std::unique_ptr<ast::Tree> tree;
  LineIndex lines;  // of source.text()
  SymbolIndex symbols;

  Analysis(std::string uri, std::string path, int version, std::string text);

  // From and to places in the editor's text.
  Position position(uint32_t offset, Encoding encoding) const;
  Range range(Span span, Encoding encoding) const {
    return {position(span.begin, encoding), position(span.end, encoding)};
  }
  uint32_t offset(Position position, Encoding encoding) const;
};

using AnalysisPtr = std::shared_ptr<const Analysis>;

}  // namespace radl::lsp

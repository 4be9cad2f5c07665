// One reading of one text: tree, findings of the parser, symbols. Immutable once made, so answers can hold on
// to it.
#pragma once

#include <memory>
#include <string>

#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"
#include "compiler/tools/lsp/position.h"
#include "compiler/tools/lsp/symbols.h"

namespace radl::lsp {

struct Analysis {
  std::string uri, path;
  int version = 0;
  SourceFile source;
  Diagnostics syntax;  // of the parser alone
  std::unique_ptr<ast::Tree> tree;
  LineIndex lines;  // of source.text()
  SymbolIndex symbols;

  Analysis(std::string uri, std::string path, int version, std::string text);

  Range range(Span span, Encoding encoding) const {
    return {lines.position(source.text(), span.begin, encoding),
            lines.position(source.text(), span.end, encoding)};
  }
  uint32_t offset(Position position, Encoding encoding) const {
    return static_cast<uint32_t>(lines.offset(source.text(), position, encoding));
  }
};

using AnalysisPtr = std::shared_ptr<const Analysis>;

}  // namespace radl::lsp

#include "compiler/tools/lsp/analysis.h"

#include "compiler/syntax/parser.h"

namespace radl::lsp {

Analysis::Analysis(std::string uri_, std::string path_, int version_, std::string text)
    : uri(std::move(uri_)), path(std::move(path_)), version(version_), source(1, path, std::move(text)) {
  tree = parse(source, syntax);
  lines = LineIndex(source.text());
  symbols = index_symbols(*tree);
}

}  // namespace radl::lsp

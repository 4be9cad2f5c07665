// The formatter's working form: the token stream, with each token's role in the tree.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/syntax/ast.h"
#include "compiler/syntax/parser.h"

namespace radl::formatter {

struct Piece {
  TokenClass cls{};
  std::string_view text;
  int newlines_before = 0;  // in the source, between the previous piece and this one
  bool gap_before = false;  // any text between them in the source

  bool block = false;        // begins a block
  bool inner_block = false;  // begins a block inside an `each`; is also an entry
  bool entry =
      false;  // begins a feature, item, option, resource, list element or recipe of the enclosing group
  bool glued = false;       // no space before it
  int closes_at = -1;       // of a group's opening bracket: the index of the closing one
  bool may_be_flat = true;  // of a group: false if its kind always takes several lines
  int pad = 0;              // additional spaces after it, to align a column

  // radl 2
  bool separator =
      false;  // between two entries: omitted if each is on its own line; if the text is empty: always omitted
  bool may_break = false;  // continues the previous piece; on its own line if it was in the source

  bool comment() const { return cls == TokenClass::Comment; }
  bool junk() const { return cls == TokenClass::Junk; }
};

// Pieces in output order.
std::vector<Piece> make_pieces(const ast::Tree& tree);

// Width of a string in columns: its code points.
int display_width(std::string_view text);

}  // namespace radl::formatter

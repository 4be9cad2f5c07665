// The formatter's working form: the token stream, each token with the part that the tree says it plays.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/syntax/ast.h"
#include "compiler/syntax/parser.h"

namespace radl::formatter {

struct Piece {
  TokenClass cls{};
  std::string_view text;
  int newlines_before = 0;  // in the source, between this piece and the one before
  bool gap_before = false;  // anything between them in the source

  bool block = false;        // begins a block
  bool inner_block = false;  // begins a block inside an `each`; is an entry as well
  bool entry =
      false;  // begins a feature, item, option, resource, list element or recipe of the group around it
  bool glued = false;       // no blank in front
  int closes_at = -1;       // of a group's opening bracket: the index of the closing one
  bool may_be_flat = true;  // of a group: false when its kind always takes several lines
  int pad = 0;              // further spaces behind it, to align a column

  // radl 2
  bool separator =
      false;  // between two entries: left out where they stand on lines of their own; empty: always
  bool may_break = false;  // goes on with what is before it, on a line of its own where the author began one

  bool comment() const { return cls == TokenClass::Comment; }
  bool junk() const { return cls == TokenClass::Junk; }
};

// Pieces in the order in which they are to be written.
std::vector<Piece> make_pieces(const ast::Tree& tree);

// Columns that a string takes: code points.
int display_width(std::string_view text);

}  // namespace radl::formatter

// Finds the pieces of the tree's nodes and marks them. Shared by RADL 1 (pieces.cc) and `radl 2`
// (pieces_radl2.cc).
#pragma once

#include <cstdint>
#include <vector>

#include "tools/fmt/pieces.h"

namespace radl::formatter {

class Marks {
 public:
  // `begins`: source offset of each piece.
  Marks(std::vector<Piece>& pieces, std::vector<uint32_t> begins)
      : pieces_(pieces), begins_(std::move(begins)) {}

 protected:
  Piece& at(int index) { return pieces_[static_cast<size_t>(index)]; }
  int index_at(uint32_t offset) const;    // the piece that contains the byte; -1 between pieces
  int first_from(uint32_t offset) const;  // the first piece at or after the offset; may be size()
  Piece* starting_at(uint32_t offset);
  void entry(Span span);
  Piece* group(Span span);            // span: from bracket to bracket
  void value(const ast::Expr& expr);  // how the pieces of a value and of its parts join
  void join(const ast::Expr& expr);   // same without its parts
  void path(Span reference, const List<ast::PathPart>& parts);
  void glue_behind(int index);

  std::vector<Piece>& pieces_;
  std::vector<uint32_t> begins_;
};

// Marks the pieces of a `radl 2` file.
void mark_radl2(const ast::Tree& tree, Marks marks);

}  // namespace radl::formatter

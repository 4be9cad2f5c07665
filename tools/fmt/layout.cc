// White space between pieces: which groups stay on one line, where lines break, where a blank line goes.
#include <algorithm>
#include <string>
#include <vector>

#include "tools/fmt/format.h"
#include "tools/fmt/pieces.h"

namespace radl::formatter {
namespace {

class Layout {
 public:
  Layout(const ast::Tree& tree, const Options& options) : options_(options), pieces_(make_pieces(tree)) {}

  std::string run() {
    measure();
    plan_blocks();
    for (size_t i = 0; i < pieces_.size(); ++i) place(i);
    if (!out_.empty()) out_ += '\n';
    return std::move(out_);
  }

 private:
  struct Frame {
    size_t closes_at;
    bool expanded;
    int indent;  // of the line that opened it
  };

  // ---- what is known before writing
  // --------------------------------------------------------------------------

  // Running sums over the pieces as one line would show them.
  void measure() {
    flat_width_.assign(pieces_.size() + 1, 0);
    hard_.assign(pieces_.size() + 1, 0);
    broken_.assign(pieces_.size() + 1, 0);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      int blank = i > 0 && space_between(pieces_[i - 1], piece) ? 1 : 0;
      bool takes_lines = piece.comment() || piece.text.find('\n') != std::string_view::npos;
      flat_width_[i + 1] = flat_width_[i] + blank + display_width(piece.text);
      hard_[i + 1] = hard_[i] + (takes_lines ? 1 : 0);
      broken_[i + 1] = broken_[i] + (piece.newlines_before > 0 ? 1 : 0);
    }
  }

  // May pieces first..last stand on one line that has `column` columns already, the blank before the first
  // not counted?
  bool fits(size_t first, size_t last, int column) const {
    return hard_[last + 1] == hard_[first] &&
           column + flat_width_[last + 1] - flat_width_[first] <= options_.width;
  }
  // The author's choice counts: a group that was written over several lines stays so.
  bool stays_flat(size_t open, int column) const {
    auto close = static_cast<size_t>(pieces_[open].closes_at);
    if (close == open + 1) return true;
    return pieces_[open].may_be_flat && broken_[close + 1] == broken_[open + 1] && fits(open, close, column);
  }

  // A block over several lines is between blank lines.
  void plan_blocks() {
    blank_.assign(pieces_.size(), false);
    std::vector<size_t> starts;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].block) starts.push_back(i);
    }
    plan_blocks(starts, pieces_.size(), 0);
  }
  void plan_blocks(const std::vector<size_t>& starts, size_t end, int indent) {
    bool before_long = false;
    for (size_t k = 0; k < starts.size(); ++k) {
      size_t behind = k + 1 < starts.size() ? starts[k + 1] : end;
      bool is_long = takes_lines(starts[k], behind, indent);
      if (k > 0 && (is_long || before_long)) separate(starts[k - 1], starts[k]);
      before_long = is_long;
      plan_inner(starts[k], behind, indent + options_.indent);
    }
  }
  // The blocks of an `each` that begins at `first`.
  void plan_inner(size_t first, size_t behind, int indent) {
    for (size_t i = first + 1; i < behind; ++i) {
      if (pieces_[i].closes_at < 0) continue;
      auto close = static_cast<size_t>(pieces_[i].closes_at);
      std::vector<size_t> starts;
      for (size_t j = i + 1; j < close; ++j) {
        if (pieces_[j].inner_block) starts.push_back(j);
        if (pieces_[j].closes_at >= 0) j = static_cast<size_t>(pieces_[j].closes_at);
      }
      plan_blocks(starts, close, indent);
      i = close;
    }
  }
  bool takes_lines(size_t first, size_t behind, int indent) const {
    size_t last = first;  // the last piece that is no comment
    for (size_t i = first; i < behind; ++i) {
      if (!pieces_[i].comment()) last = i;
    }
    if (hard_[last + 1] != hard_[first]) return true;
    for (size_t i = first; i <= last; ++i) {
      if (breaks(pieces_[i]) && i > first) return true;
      if (pieces_[i].closes_at < 0) continue;
      if (!stays_flat(i, indent + flat_width_[i] - flat_width_[first])) return true;
      i = static_cast<size_t>(pieces_[i].closes_at);
    }
    return false;
  }
  // A blank line somewhere between two blocks: where one was written, else before the second one's
  // comments.
  void separate(size_t block, size_t next) {
    size_t last = block;
    for (size_t i = block; i < next; ++i) {
      if (!pieces_[i].comment()) last = i;
    }
    size_t first_line = next;
    for (size_t i = next; i > last; --i) {
      if (pieces_[i].newlines_before > 1) return;
      if (pieces_[i].newlines_before > 0) first_line = i;
    }
    blank_[first_line] = true;
  }

  // ---- writing
  // -----------------------------------------------------------------------------------------------

  void place(size_t i) {
    const Piece& piece = pieces_[i];
    bool closes = !frames_.empty() && frames_.back().closes_at == i;
    Frame frame = frames_.empty() ? Frame{} : frames_.back();
    if (piece.separator && frame.expanded) return;  // the end of the line says it
    if (closes) frames_.pop_back();

    bool own_line = frames_.empty() && !closes ? piece.block
                    : closes                   ? frame.expanded
                                               : frame.expanded && piece.entry;
    if (piece.comment()) {
      own_line = piece.newlines_before > 0 || behind_block_text_;
    } else if (piece.junk() && frames_.empty() && !closes) {
      own_line = piece.newlines_before > 0;  // between blocks it keeps its line
    }
    if (i == 0) {
      // the first piece begins the text
    } else if (piece.comment() && !own_line) {
      out_ += "  ";
    } else if (own_line) {
      break_line(i, closes ? frame.indent : inner_indent() + (before_broken_line(i) ? options_.indent : 0));
    } else if (breaks(piece)) {
      break_line(i, inner_indent() + options_.indent);
    } else if (after_comment_ || leaves_block_text(i)) {
      break_line(i, inner_indent() + 2 * options_.indent);  // goes on with what was interrupted
    } else {
      out_.append(static_cast<size_t>(pieces_[i - 1].pad), ' ');
      if (space_between(pieces_[i - 1], piece)) out_ += ' ';
    }
    write(piece);
    if (piece.closes_at >= 0) {
      int before = column() - (flat_width_[i + 1] - flat_width_[i]);
      bool flat =
          stays_flat(i, before) && (!behind_block_text_ || piece.closes_at == static_cast<int>(i) + 1);
      frames_.push_back({static_cast<size_t>(piece.closes_at), !flat, line_indent_});
    }
  }

  void break_line(size_t i, int indent) {
    bool opened = !frames_.empty() && pieces_[i - 1].closes_at >= 0;
    bool closing = !pieces_[i].comment() && !pieces_[i].entry && !pieces_[i].block && !pieces_[i].junk();
    bool blank = blank_[i] || (pieces_[i].newlines_before > 1 && !opened && !closing);
    out_ += blank ? "\n\n" : "\n";
    line_begin_ = out_.size();
    behind_block_text_ = false;
    // A recipe begins in the first column, as its end must.
    line_indent_ = pieces_[i].cls == TokenClass::Recipe ? 0 : indent;
    out_.append(static_cast<size_t>(line_indent_), ' ');
  }

  void write(const Piece& piece) {
    size_t newline = piece.text.rfind('\n');
    if (newline != std::string_view::npos) line_begin_ = out_.size() + newline + 1;
    out_ += piece.text;
    after_comment_ = piece.comment();
    behind_block_text_ = newline != std::string_view::npos && piece.text.starts_with("<<")
                             ? true
                             : behind_block_text_ && may_end_block_text(piece);
  }

  // The line that ends a block of text takes brackets and commas alone; what no blank can come before
  // (`)[0]`) takes the brackets in front of it along to the next line.
  bool leaves_block_text(size_t i) const {
    if (!behind_block_text_) return false;
    if (!may_end_block_text(pieces_[i])) return true;
    while (i < pieces_.size() && may_end_block_text(pieces_[i])) ++i;
    return i < pieces_.size() && pieces_[i].glued;
  }
  static bool may_end_block_text(const Piece& piece) {
    bool body = piece.text == "(" && piece.closes_at >= 0;
    return piece.text.empty() || piece.text == ")" || piece.text == "]" || piece.text == "}" ||
           piece.text == "," || body;
  }

  static bool breaks(const Piece& piece) {
    return piece.may_break && !piece.glued && piece.newlines_before > 0;
  }
  // A comment is indented like the line that it is about.
  bool before_broken_line(size_t i) const {
    if (!pieces_[i].comment()) return false;
    while (i < pieces_.size() && pieces_[i].comment()) ++i;
    return i < pieces_.size() && breaks(pieces_[i]);
  }
  int inner_indent() const {
    return frames_.empty() ? 0 : frames_.back().indent + (frames_.back().expanded ? options_.indent : 0);
  }
  int column() const { return display_width(std::string_view(out_).substr(line_begin_)); }

  static bool space_between(const Piece& before, const Piece& piece) {
    if (piece.glued) return false;
    if (before.junk() || piece.junk()) return piece.gap_before;
    if (before.text == "(" || before.text == "[" || (before.text == "{" && piece.text == "}")) return false;
    return piece.text != ")" && piece.text != "]" && piece.text != ",";
  }

  const Options& options_;
  std::vector<Piece> pieces_;
  std::vector<int> flat_width_, hard_, broken_;
  std::vector<bool> blank_;
  std::vector<Frame> frames_;
  std::string out_;
  size_t line_begin_ = 0;  // of the line being written
  int line_indent_ = 0;
  bool after_comment_ = false;
  bool behind_block_text_ = false;  // on the line that ends it
};

}  // namespace

std::string layout(const ast::Tree& tree, const Options& options) { return Layout(tree, options).run(); }

}  // namespace radl::formatter

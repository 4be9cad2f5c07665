#include "tools/lsp/cursor.h"

#include <algorithm>

#include "compiler/syntax/text_end.h"
#include "compiler/syntax/version.h"
#include "compiler/syntax/words.h"

namespace radl::lsp {
namespace {

bool is_word_character(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '_' || c == '-' || c == '.';
}

uint32_t word_start(std::string_view text, uint32_t at) {
  while (at > 0 && is_word_character(text[at - 1])) --at;
  return at;
}

// Follows the terminals up to the cursor: the pairs of brackets that are open, and in each the entry at hand.
class Follower {
 public:
  Follower(const SourceFile& source, const TextEnd& end, bool radl2)
      : source_(source), end_(end), radl2_(radl2), symbols_(end.symbols), frames_(1) {
    for (size_t i = 0; i < symbols_.size(); ++i) follow(i);
  }

  // All but the word under the cursor.
  Cursor cursor() {
    Cursor cursor;
    cursor.radl2 = radl2_;
    cursor.expected = end_.expected;
    cursor.in_text = end_.inside == TextEnd::Inside::OpenText || frames_.back().kind == Kind::Text;
    cursor.word_begin = end_.quote;
    if (frames_.back().kind == Kind::Text) cursor.word_begin = symbols_[frames_.back().open].span.begin;
    cursor.in_interpolation =
        !cursor.in_text && std::any_of(frames_.begin(), frames_.end(),
                                       [](const Frame& each) { return each.kind == Kind::Text; });
    block(cursor);
    const Frame& frame = frames_.back();
    cursor.owner = frame.owner;
    cursor.feature = frame.feature;
    cursor.features = frame.features;
    for (const Frame& each : frames_)
      if (!each.call.empty()) cursor.call = each.call, cursor.argument = each.argument;
    cursor.behind_number = !symbols_.empty() && symbols_.back().name == "number";
    cursor.place = frames_.back().kind == Kind::Text ? Place::Value : place(frame, cursor);
    return cursor;
  }

 private:
  enum class Kind : uint8_t { Blocks, Features, Resources, Items, Expression, Text };
  struct Frame {
    Kind kind = Kind::Blocks;
    size_t open = 0;   // its bracket
    size_t entry = 0;  // where the entry at hand begins: block, feature, resource, item
    std::string owner, feature;
    std::vector<std::string> features;
    std::string call;
    int argument = 0;
  };

  bool is(size_t i, std::string_view name) const { return i < symbols_.size() && symbols_[i].name == name; }
  std::string text(size_t i) const {
    return i < symbols_.size() ? std::string(source_.text(symbols_[i].span)) : std::string();
  }
  bool begins_block(std::string_view name) const {
    const std::vector<std::string_view>& blocks = radl2_ ? radl2_blocks() : radl1_blocks();
    return name == "block word" || std::find(blocks.begin(), blocks.end(), name) != blocks.end();
  }

  void follow(size_t i) {
    const std::string_view name = symbols_[i].name;
    Frame& frame = frames_.back();
    if (name == "(" || name == "( of a body" || name == "[" || name == "{" || name == "${" || name == "'") {
      frames_.push_back(opened(i));
    } else if (name == ")" || name == "]" || name == "}" || name == "} at the end" ||
               name == "' at the end") {
      close(i);
    } else if (name == "SYNC" || name == "end of the line" ||
               (name == "and" && !radl2_ && frame.kind == Kind::Features)) {
      frame.entry = i + 1;
      frame.feature.clear();
    } else if (name == "," && frame.kind == Kind::Expression) {
      ++frame.argument;
    } else if ((frame.kind == Kind::Blocks && begins_block(name)) ||
               (frame.kind == Kind::Items && (name == "system" || name == "option"))) {
      frame.entry = i;
    } else if (frame.kind == Kind::Features && i == frame.entry && name != "soft") {
      frame.feature = text(i);
      frame.features.push_back(frame.feature);
    }
  }

  void close(size_t i) {
    if (frames_.size() == 1) return;
    const Kind closed = frames_.back().kind;
    frames_.pop_back();
    Frame& outer = frames_.back();
    const bool body = closed != Kind::Expression && closed != Kind::Text;
    if (body && outer.kind != Kind::Features) outer.entry = i + 1;
  }

  Frame opened(size_t i) const {
    const Frame& outer = frames_.back();
    const std::string_view name = symbols_[i].name,
                           head = outer.entry < i ? symbols_[outer.entry].name : std::string_view();
    Frame frame{Kind::Expression, i, i + 1, outer.owner, outer.feature, {}, {}, 0};
    const bool body = name == "( of a body" || (name == "(" && !radl2_ && head != "deploy");
    if (name == "'") frame.kind = Kind::Text;
    if (name == "(" && i > 0 && is(i - 1, "function")) frame.call = text(i - 1);
    if (!body) return frame;
    if (head == "each") {
      frame.kind = outer.kind;
    } else if (outer.kind == Kind::Blocks) {
      frame.kind = head == "configure"       ? Kind::Resources
                   : head == "contextualize" ? Kind::Items
                                             : Kind::Features;
      frame.owner = head == "use" ? "use " + unquoted(outer.entry + 1) : text(outer.entry);
    } else if (outer.kind == Kind::Resources) {
      frame.kind = Kind::Features;
      frame.owner = "resource " + text(outer.entry);
    } else if (outer.kind == Kind::Features && (head == "soft" || is(i - 1, "contains"))) {
      frame.kind = Kind::Features;
      if (head != "soft") frame.owner = outer.feature;
    }
    if (frame.kind == Kind::Features) frame.feature.clear();
    return frame;
  }

  std::string unquoted(size_t i) const {
    const std::string path = text(i);
    return path.size() >= 2 ? path.substr(1, path.size() - 2) : "";
  }

  // The innermost block: that of the frames of blocks that are open.
  void block(Cursor& cursor) const {
    const Frame* last = &frames_.front();
    for (const Frame& frame : frames_) {
      if (frame.kind != Kind::Blocks) break;
      if (frame.entry < symbols_.size()) last = &frame;
    }
    cursor.keyword = text(last->entry);
    size_t id = last->entry + 1;
    if (is(last->entry, "use"))
      while (id < symbols_.size() && !is(id - 1, "as")) ++id;
    if (is(id, "name")) cursor.name = text(id);
  }

  Place place(const Frame& frame, const Cursor& cursor) const {
    const size_t length = symbols_.size() - frame.entry;  // of the entry
    const std::string_view head = length > 0 ? symbols_[frame.entry].name : std::string_view();
    const std::string_view last = symbols_.empty() ? std::string_view() : symbols_.back().name;
    const bool operand = cursor.expects("string");
    if (cursor.in_interpolation) return Place::Value;
    if ((head == "each" || head == "let") && frame.kind != Kind::Blocks)
      return operand ? Place::Expression : Place::None;
    switch (frame.kind) {
      case Kind::Blocks:
        return place_in_block(head, length, cursor);
      case Kind::Features:
        if (length == 0) return Place::FeatureName;
        if (head == "soft" && length <= 2) return Place::None;
        if (length == 1) return Place::Comparator;
        return operand || last == "contains" ? Place::Value : Place::BehindValue;
      case Kind::Resources:
        return length == 0 ? Place::RecipeBody : length == 1 ? Place::ResourceName : Place::None;
      case Kind::Items:
        if (last == "system") return Place::SystemName;
        if (last == "configure" || last == "after" || last == ",") return Place::ConfigureName;
        if (last == "step") return Place::StepNumber;
        if (last == "with") return Place::ToolName;
        if (last == "option") return Place::OptionName;
        return operand && length > 0 ? Place::Expression : Place::Words;
      default:
        if (is(frame.open, "[") && is(frame.open - 1, "system")) return Place::SystemName;
        if (is(frame.open, "[") && is(frame.open - 1, "configure")) return Place::ConfigureName;
        return operand ? Place::Value : Place::BehindValue;
    }
  }

  Place place_in_block(std::string_view head, size_t length, const Cursor& cursor) const {
    const bool complete = cursor.expects("end of file") || cursor.expects(")");
    if (length == 0) return Place::Block;
    if (length == 1)
      return head == "deploy"    ? Place::DeploySystem
             : head == "use"     ? Place::ModulePath
             : head == "network" ? Place::NetworkName
             : complete          ? Place::Block
                                 : Place::None;
    if (head == "deploy" && complete) return cursor.expects("name") ? Place::DeployCloud : Place::Block;
    if (head == "use" && length == 2) return Place::Words;
    const bool after_word = head == "let" || head == "each";  // and `=` or `in`
    if (head == "deploy" || (after_word && length > 2))
      return cursor.expects("number") || complete || cursor.expects("( of a body") ? Place::Expression
                                                                                   : Place::None;
    return complete ? Place::Block : Place::None;
  }

  const SourceFile& source_;
  const TextEnd& end_;
  bool radl2_;
  const std::vector<TextEnd::Symbol>& symbols_;
  std::vector<Frame> frames_;
};

// Where the last block begins at or before the place.
uint32_t block_at(const ast::Tree& tree, uint32_t at) {
  uint32_t begin = 0;
  for (const ast::Block* block : tree.blocks)
    if (block->kind != ast::Kind::ErrorBlock && block->span.begin <= at)
      begin = std::max(begin, block->span.begin);
  return begin;
}

}  // namespace

bool Cursor::expects(std::string_view terminal) const {
  return std::find(expected.begin(), expected.end(), terminal) != expected.end();
}

Cursor read_cursor(std::string_view text, uint32_t offset, const ast::Tree* tree) {
  offset = std::min(offset, static_cast<uint32_t>(text.size()));
  std::string_view front = text.substr(0, offset);
  // Without the word under the cursor, which is not whole.
  const uint32_t end_at = word_start(front, offset), begin = tree ? block_at(*tree, end_at) : 0;
  const SourceFile whole_words(1, "", std::string(front.substr(begin, end_at - begin)));
  const bool radl2 = begins_with_version(front.substr(0, end_at));
  const TextEnd end = read_end(whole_words, radl2);
  if (end.inside == TextEnd::Inside::Comment) return {};
  Cursor cursor = Follower(whole_words, end, radl2).cursor();
  cursor.word_begin += begin;
  if (end.inside == TextEnd::Inside::Recipe) cursor.place = Place::Recipe;
  const char quote = cursor.in_text ? text[cursor.word_begin] : '\0';
  const bool whole = quote == '\'' || quote == '"';  // a string on its own is replaced as a whole
  cursor.word_begin = whole ? cursor.word_begin + 1 : word_start(front, offset);
  cursor.word = front.substr(cursor.word_begin);
  cursor.word_end = offset;
  while (cursor.word_end < text.size()) {
    char c = text[cursor.word_end];
    if (whole ? c == quote || c == '\n' : !is_word_character(c)) break;
    ++cursor.word_end;
  }
  return cursor;
}

}  // namespace radl::lsp

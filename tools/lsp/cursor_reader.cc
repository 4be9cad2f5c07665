#include "tools/lsp/cursor_reader.h"

#include <algorithm>

#include "compiler/syntax/words.h"
#include "tools/lsp/cursor_state.h"

namespace radl::lsp {
namespace {

bool is_block_word(std::string_view word) {
  return begins_radl2_block(word);  // RADL 1's are among them
}

}  // namespace

void Reader::feed_until(uint32_t offset) {
  for (size_t i = 0; i < tokens_.size() && tokens_[i].span.end <= offset; ++i) {
    const Token& token = tokens_[i];
    if (token.cls == TokenClass::Comment || token.cls == TokenClass::Junk) continue;
    std::string_view text = source_.text(token.span);
    if (restarts(i, text)) frames_.clear(), state_ = State::Outer;
    new_line_ = line_ends_before(token.span.begin);
    glued_ = token.span.begin == fed_to_;
    fed_to_ = token.span.end;
    feed(token.cls, text);
  }
  if (radl2_ && line_ends_before(offset)) end_line();
}

bool Reader::line_ends_before(uint32_t offset) const {
  return offset > fed_to_ &&
         source_.text().substr(fed_to_, offset - fed_to_).find('\n') != std::string_view::npos;
}

void Reader::end_line() {
  if (frames_.empty()) {
    if (state_ == State::Count && keyword_ == "let") state_ = State::Outer;
  } else if (Frame& frame = frames_.back();
             frame.kind == FrameKind::Features && state_ == State::Value && frame.operand) {
    next_feature(frame);
  }
}

bool Reader::restarts(size_t i, std::string_view text) const {
  if (frames_.empty() || !is_block_word(text) || (radl2_ && text == "each")) return false;
  uint32_t begin = tokens_[i].span.begin;
  bool first_column = begin == 0 || source_.text()[begin - 1] == '\n';
  if (!first_column || i + 1 >= tokens_.size() || tokens_[i + 1].cls != TokenClass::Name) return false;
  bool in_items = frames_.back().kind == FrameKind::Contextualize;
  if (!in_items || (text != "system" && text != "configure")) return true;
  return i + 2 < tokens_.size() && source_.text(tokens_[i + 2].span) == "(";
}

void Reader::feed(TokenClass cls, std::string_view text) {
  if (text == "(" || text == "[") return open(text);
  if (text == ")" || text == "]") return close();
  if (frames_.empty()) return feed_outer(cls, text);
  switch (frames_.back().kind) {
    case FrameKind::Features:
      return feed_features(cls, text);
    case FrameKind::Body:
      return feed_body(cls, text);
    case FrameKind::Contextualize:
      return feed_items(cls, text);
    case FrameKind::Expression:
      if (text == ",") ++frames_.back().argument;
      return feed_value(cls, text);
  }
}

void Reader::feed_outer(TokenClass cls, std::string_view text) {
  bool word = cls == TokenClass::Keyword || cls == TokenClass::Name;
  if (word && is_block_word(text) && state_ != State::Keyword && state_ != State::Alias) {
    begin_block(text);
  } else if (state_ == State::Keyword && keyword_ == "use" && cls == TokenClass::String) {
    module_ = text.size() >= 2 ? text.substr(1, text.size() - 2) : "";
    state_ = State::As;
  } else if (state_ == State::As && text == "as") {
    state_ = State::Alias;
  } else if (state_ == State::Keyword && keyword_ == "radl") {
    radl2_ = radl2_ || text == "2";
    state_ = State::Outer;
  } else if (word && (state_ == State::Keyword || state_ == State::Alias)) {
    name_ = text;
    state_ = keyword_ == "deploy" ? State::Count : State::Named;
  } else if ((keyword_ == "let" && text == "=") || (keyword_ == "each" && text == "in")) {
    state_ = State::Count;
  } else if (state_ == State::Count && cls == TokenClass::Number && keyword_ == "deploy") {
    state_ = State::Cloud;
  } else if (state_ == State::Cloud && word) {
    state_ = State::Outer;
  } else if (word && state_ == State::Outer) {
    begin_block(text);  // EC3's `include NAME`
  }
}

void Reader::begin_block(std::string_view text) {
  keyword_ = text;
  name_.clear();
  module_.clear();
  state_ = text == "contextualize" ? State::Named : State::Keyword;
}

bool Reader::opens_blocks(std::string_view text) {
  if (!frames_.empty() || keyword_ != "each" || text != "(" || glued_) return false;
  keyword_.clear();
  state_ = State::Outer;
  return true;
}

void Reader::open(std::string_view text) {
  if (opens_blocks(text)) return;
  Frame frame;
  frame.outside = state_;
  bool value = !frames_.empty() && (state_ == State::Value || state_ == State::OptionValue);
  bool condition = frames_.empty() && (state_ == State::Count || keyword_ == "assert" || keyword_ == "moved");
  if (text == "[" || value || condition) {
    frame.kind = FrameKind::Expression;
    if (!frames_.empty()) {
      frame.owner = frames_.back().owner;
      frame.feature = frames_.back().feature;
    }
    if (text == "(") frame.call = last_name_;
    state_ = State::Value;
  } else if (frames_.empty() ? keyword_ == "configure"
                             : frames_.back().kind == FrameKind::Body && frames_.back().feature == "each") {
    frame.kind = FrameKind::Body;
    state_ = State::Name;
  } else if (frames_.empty() ? keyword_ == "contextualize"
                             : frames_.back().kind == FrameKind::Contextualize) {
    frame.kind = FrameKind::Contextualize;
    state_ = State::Item;
  } else {
    frame.kind = FrameKind::Features;
    frame.owner = owner_of_group();
    state_ = State::Name;
  }
  last_name_.clear();
  frames_.push_back(std::move(frame));
}

std::string Reader::owner_of_group() const {
  if (frames_.empty()) return keyword_ == "use" ? "use " + module_ : keyword_;
  const Frame& outer = frames_.back();
  if (outer.kind == FrameKind::Body) return "resource " + outer.feature;
  return state_ == State::Weight ? outer.owner : outer.feature;
}

void Reader::close() {
  if (frames_.empty()) return;
  FrameKind kind = frames_.back().kind;
  state_ = frames_.back().outside;
  frames_.pop_back();
  last_name_.clear();
  if (frames_.empty()) {
    bool count = kind == FrameKind::Expression && state_ == State::Count;
    state_ = !count ? State::Outer : keyword_ == "deploy" ? State::Cloud : State::Count;
    return;
  }
  Frame& outer = frames_.back();
  if (outer.kind == FrameKind::Body) {
    if (kind != FrameKind::Expression) state_ = State::Name;
  } else if (kind == FrameKind::Features) {
    state_ = State::Value;  // behind contains ( ) or soft ( ): `and` comes next
    outer.started = outer.operand = true;
  } else {
    outer.started = outer.operand = true;
  }
  outer.number = false;
}

void Reader::feed_features(TokenClass cls, std::string_view text) {
  Frame& frame = frames_.back();
  bool word = cls == TokenClass::Keyword || cls == TokenClass::Name;
  switch (state_) {
    case State::Name:
      if (text == "soft") {
        state_ = State::Weight;
      } else if (word && text != "and") {
        frame.feature = text;
        frame.features.emplace_back(text);
        state_ = State::Comparator;
      }
      return;
    case State::Comparator:
      frame.started = frame.operand = frame.number = false;
      if (cls == TokenClass::Operator) state_ = State::Value;
      if (text == "contains") state_ = State::Contains;
      return;
    case State::Contains:
      state_ = State::Value;
      return feed_value(cls, text);
    case State::Value:
      if (radl2_ && frame.operand && (text == "," || (new_line_ && word && !goes_on(text)))) {
        next_feature(frame);
        return text == "," ? void() : feed_features(cls, text);
      }
      if (text == "and" && !radl2_) return next_feature(frame);
      return feed_value(cls, text);
    default:
      return;
  }
}

void Reader::next_feature(Frame& frame) {
  state_ = State::Name;
  frame.feature.clear();
}

bool Reader::goes_on(std::string_view text) {
  return text == "and" || text == "or" || text == "then" || text == "else" || text == "contains";
}

void Reader::feed_value(TokenClass cls, std::string_view text) {
  Frame& frame = frames_.back();
  frame.started = true;
  bool joins = cls == TokenClass::Operator || text == "if" || text == "then" || text == "else" ||
               text == "and" || text == "or" || text == "not" || text == ",";
  frame.operand = !joins;
  frame.number = cls == TokenClass::Number;
  last_name_ = cls == TokenClass::Name && !joins ? std::string(text) : std::string();
}

void Reader::feed_body(TokenClass cls, std::string_view text) {
  if (state_ == State::Name && (cls == TokenClass::Name || cls == TokenClass::Keyword)) {
    frames_.back().feature = text;
    state_ = State::ResourceName;
  } else if (state_ == State::ResourceName) {
    state_ = State::ResourceBody;
  }
}

void Reader::feed_items(TokenClass cls, std::string_view text) {
  bool word = cls == TokenClass::Name || cls == TokenClass::Keyword;
  switch (state_) {
    case State::OptionName:
      state_ = State::OptionValue;
      return;
    case State::OptionValue:
      if (cls != TokenClass::Operator) state_ = State::Item;
      return;
    case State::System:
      state_ = State::ItemConfigure;
      return;
    case State::ItemConfigure:
      state_ = text == "configure" ? State::ConfigureName : State::Item;
      return;
    case State::ConfigureName:
    case State::Step:
    case State::Tool:
    case State::After:
      state_ = State::Item;
      return;
    default:
      break;
  }
  if (!word && text != ",") return;
  if (text == "option") state_ = State::OptionName;
  if (text == "system") state_ = State::System;
  if (text == "configure") state_ = State::ConfigureName;
  if (text == "step") state_ = State::Step;
  if (text == "with") state_ = State::Tool;
  if (text == "after" || text == ",") state_ = State::After;
}

Cursor read_tokens(const SourceFile& source, uint32_t stop) {
  Reader reader(source);
  reader.feed_until(stop);
  return reader.result();
}

}  // namespace radl::lsp

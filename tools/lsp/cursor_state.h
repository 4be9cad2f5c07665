// How read_tokens (cursor_reader.h) goes over the tokens: one state for what stands outside of brackets and
// one frame for each pair that is open. cursor_reader.cc moves on from token to token; cursor_places.cc says
// what could come next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source.h"
#include "compiler/syntax/parser.h"
#include "tools/lsp/cursor.h"

namespace radl::lsp {

// Reads tokens up to the cursor and keeps what the next one could be.
class Reader {
 public:
  explicit Reader(const SourceFile& source) : source_(source), tokens_(tokenize(source)) {}

  void feed_until(uint32_t offset);
  Cursor result() const;

 private:
  enum class FrameKind { Features, Body, Contextualize, Expression };
  enum class State {
    Outer,
    Keyword,  // behind a block's keyword
    Named,    // behind its name
    Module,
    As,
    Alias,
    Count,
    Cloud,
    Name,
    Comparator,
    Contains,
    Weight,
    Value,  // Features
    ResourceName,
    ResourceBody,  // Body
    Item,
    OptionName,
    OptionValue,
    System,
    ItemConfigure,
    ConfigureName,
    Step,
    Tool,
    After,  // Contextualize
  };
  struct Frame {
    FrameKind kind;
    State outside;  // to go back to behind the closing bracket
    std::string owner, feature;
    std::vector<std::string> features;
    bool started = false, operand = false,
         number = false;  // Value: something written; ends in an operand; in a number
    std::string call;
    int argument = 0;
  };
  bool line_ends_before(uint32_t offset) const;
  // What the end of a line ends in `radl 2`, when a value is complete.
  void end_line();

  // A block's keyword in the first column ends whatever was left open before it.
  bool restarts(size_t i, std::string_view text) const;
  void feed(TokenClass cls, std::string_view text);
  void feed_outer(TokenClass cls, std::string_view text);
  void begin_block(std::string_view text);

  // The parentheses of `each`: blocks stand in them as they do outside.
  bool opens_blocks(std::string_view text);
  void open(std::string_view text);
  std::string owner_of_group() const;
  void close();
  void feed_features(TokenClass cls, std::string_view text);
  void next_feature(Frame& frame);
  static bool goes_on(std::string_view text);
  void feed_value(TokenClass cls, std::string_view text);
  void feed_body(TokenClass cls, std::string_view text);
  void feed_items(TokenClass cls, std::string_view text);
  void describe(Cursor& cursor) const;
  void describe_outer(Cursor& cursor) const;
  void describe_item(Cursor& cursor) const;

  const SourceFile& source_;
  std::vector<Token> tokens_;
  std::vector<Frame> frames_;
  State state_ = State::Outer;
  std::string keyword_, name_, module_, last_name_;
  bool radl2_ = false, new_line_ = false, glued_ = false;
  uint32_t fed_to_ = 0;
};

}  // namespace radl::lsp

// Determines what may be written at a position of an unfinished text.
//
// The parser reads the text before the position with error recovery, and returns what may follow
// (compiler/syntax/text_end.h). This code classifies the position by the open constructs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/ast.h"

namespace radl::lsp {

enum class Place : uint8_t {
  None,          // a name chosen by the user, or a comment: no completions
  Block,         // a block's keyword
  FeatureName,   // a feature of `owner`, or `soft`
  Comparator,    // after a feature's name
  Value,         // of `feature`
  BehindValue,   // an operator, a unit
  RecipeBody,    // inside configure ( ): @begin or a resource's type
  ResourceName,  // after a resource's type
  Words,         // words of the grammar: `configure`, `as`, the beginning or continuation of an item
  OptionName,
  SystemName,
  ConfigureName,
  StepNumber,
  ToolName,
  NetworkName,  // `network NAME`: a reference
  DeploySystem,
  Expression,  // the count of a deploy, the value of a let
  DeployCloud,
  ModulePath,
  Recipe,  // Ansible text
};

struct Cursor {
  Place place = Place::None;
  std::vector<std::string_view> expected;  // the grammar's names of terminals that may follow
  std::string keyword;                     // of the block: "system"
  std::string name;                        // of the block; "" if not written yet
  std::string owner;    // owner of features: "system", "network", ..., "disk.0.applications", "resource
                        // file", "use MODULE"
  std::string feature;  // Value, Comparator, BehindValue
  std::vector<std::string> features;  // names of the features before the cursor in the same group
  std::string word;                   // the part of the word before the cursor
  uint32_t word_begin = 0;            // its offset; `word_end` is the word's end in the whole text
  uint32_t word_end = 0;
  bool in_text = false;           // between quotes
  bool in_interpolation = false;  // between ${ and } of a string
  bool behind_number = false;     // BehindValue: a unit may follow
  bool radl2 = false;
  // The arguments of the innermost call around the cursor, for signature help.
  std::string call;
  int argument = 0;

  bool expects(std::string_view terminal) const;
};

// `tree`: the text's tree, or null. If given, parsing starts at the tree's block around the offset instead of
// at the first block.
Cursor read_cursor(std::string_view text, uint32_t offset, const ast::Tree* tree = nullptr);

}  // namespace radl::lsp

// What could stand at a place of a text that is still being written.
//
// The grammar reads the text in front of the place, with its recovery, and says what may follow
// (compiler/syntax/text_end.h); this names the place by what is open there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/ast.h"

namespace radl::lsp {

enum class Place : uint8_t {
  None,          // a name that the user makes up, a comment: nothing to offer
  Block,         // a block's keyword
  FeatureName,   // a feature of `owner`, or `soft`
  Comparator,    // after a feature's name
  Value,         // of `feature`
  BehindValue,   // an operator, a unit
  RecipeBody,    // inside configure ( ): @begin or a resource's type
  ResourceName,  // after a resource's type
  Words,         // those that the grammar takes: `configure`, `as`, what begins an item or goes on with it
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
  std::vector<std::string_view> expected;  // the grammar's names of the terminals that may follow
  std::string keyword;                     // of the block: "system"
  std::string name;                        // of the block; "" when not written yet
  std::string owner;    // whose features: "system", "network", ..., "disk.0.applications", "resource file",
                        // "use MODULE"
  std::string feature;  // Value, Comparator, BehindValue
  std::vector<std::string> features;  // names of the features in front of the cursor, in the same group
  std::string word;                   // what is written of the word so far
  uint32_t word_begin = 0;            // its offset; the word's end in the whole text is `word_end`
  uint32_t word_end = 0;
  bool in_text = false;           // between quotes
  bool in_interpolation = false;  // between ${ and } of a string
  bool behind_number = false;     // BehindValue: a unit could follow
  bool radl2 = false;
  // Arguments of the innermost call around the cursor, for signature help.
  std::string call;
  int argument = 0;

  bool expects(std::string_view terminal) const;
};

// `tree`, if there is one, is that of the text: reading begins at the block that it has there, not at the
// first.
Cursor read_cursor(std::string_view text, uint32_t offset, const ast::Tree* tree = nullptr);

}  // namespace radl::lsp

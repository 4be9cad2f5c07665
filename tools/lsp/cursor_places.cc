// What could stand behind the tokens that were read.
#include "tools/lsp/cursor_state.h"

namespace radl::lsp {

Cursor Reader::result() const {
  Cursor cursor;
  cursor.keyword = keyword_;
  cursor.name = name_;
  cursor.radl2 = radl2_;
  describe(cursor);
  return cursor;
}

void Reader::describe(Cursor& cursor) const {
  if (frames_.empty()) return describe_outer(cursor);
  const Frame& frame = frames_.back();
  cursor.owner = frame.owner;
  cursor.feature = frame.feature;
  cursor.features = frame.features;
  for (const Frame& each : frames_) {
    if (each.kind == FrameKind::Expression && !each.call.empty())
      cursor.call = each.call, cursor.argument = each.argument;
  }
  if (frame.kind == FrameKind::Body) {
    cursor.place = state_ == State::Name           ? Place::RecipeBody
                   : state_ == State::ResourceName ? Place::ResourceName
                                                   : Place::None;
    return;
  }
  if (frame.kind == FrameKind::Contextualize) return describe_item(cursor);
  switch (state_) {
    case State::Name:
      cursor.place = Place::FeatureName;
      break;
    case State::Comparator:
      cursor.place = Place::Comparator;
      break;
    case State::Contains:
    case State::Value:
      cursor.place = frame.operand ? Place::BehindValue : Place::Value;
      cursor.behind_number = frame.number;
      break;
    default:
      cursor.place = Place::None;
  }
}

void Reader::describe_outer(Cursor& cursor) const {
  switch (state_) {
    case State::Outer:
      cursor.place = Place::Block;
      break;
    case State::Named:
      cursor.place = Place::Block;
      break;
    case State::Keyword:
      cursor.place = keyword_ == "deploy"    ? Place::DeploySystem
                     : keyword_ == "use"     ? Place::ModulePath
                     : keyword_ == "network" ? Place::NetworkName
                                             : Place::None;
      break;
    case State::As:
      cursor.place = Place::ModuleAlias;
      break;
    case State::Count:
      cursor.place = Place::DeployCount;
      break;
    case State::Cloud:
      cursor.place = Place::DeployCloud;
      break;
    default:
      cursor.place = Place::None;
  }
}

void Reader::describe_item(Cursor& cursor) const {
  switch (state_) {
    case State::Item:
      cursor.place = Place::ItemStart;
      break;
    case State::OptionName:
      cursor.place = Place::OptionName;
      break;
    case State::System:
      cursor.place = Place::SystemName;
      break;
    case State::ItemConfigure:
      cursor.place = Place::ItemConfigureWord;
      break;
    case State::ConfigureName:
    case State::After:
      cursor.place = Place::ConfigureName;
      break;
    case State::Step:
      cursor.place = Place::StepNumber;
      break;
    case State::Tool:
      cursor.place = Place::ToolName;
      break;
    default:
      cursor.place = Place::None;
  }
}

}  // namespace radl::lsp

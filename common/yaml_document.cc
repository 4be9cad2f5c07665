#include "common/yaml_document.h"

#include <yaml.h>

namespace radl {
namespace {

// libyaml counts characters.
YamlNode::Place place_of(std::string_view text, const yaml_mark_t& mark) {
  size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (size_t left = mark.index; left > 0 && at < text.size(); --left) do
      ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return {at, mark.line + 1, mark.column + 1};
}

}  // namespace

bool YamlNode::is_scalar() const { return node_ == nullptr || node_->type == YAML_SCALAR_NODE; }
bool YamlNode::is_list() const { return node_ != nullptr && node_->type == YAML_SEQUENCE_NODE; }
bool YamlNode::is_map() const { return node_ != nullptr && node_->type == YAML_MAPPING_NODE; }

bool YamlNode::is_null() const {
  if (node_ == nullptr) return true;
  if (node_->type != YAML_SCALAR_NODE || node_->data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
  const std::string word = text();
  return word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL";
}

bool YamlNode::flow() const {
  return (is_list() && node_->data.sequence.style == YAML_FLOW_SEQUENCE_STYLE) ||
         (is_map() && node_->data.mapping.style == YAML_FLOW_MAPPING_STYLE);
}

std::string YamlNode::text() const {
  if (node_ == nullptr || node_->type != YAML_SCALAR_NODE) return {};
  return {reinterpret_cast<const char*>(node_->data.scalar.value), node_->data.scalar.length};
}

YamlNode YamlNode::at(int index) const {
  return {document_, yaml_document_get_node(document_, index), source_};
}

std::vector<YamlNode> YamlNode::items() const {
  std::vector<YamlNode> found;
  if (is_list())
    for (auto* item = node_->data.sequence.items.start; item != node_->data.sequence.items.top; ++item)
      found.push_back(at(*item));
  return found;
}

std::vector<std::pair<YamlNode, YamlNode>> YamlNode::entries() const {
  std::vector<std::pair<YamlNode, YamlNode>> found;
  if (is_map())
    for (auto* pair = node_->data.mapping.pairs.start; pair != node_->data.mapping.pairs.top; ++pair)
      found.emplace_back(at(pair->key), at(pair->value));
  return found;
}

YamlNode YamlNode::find(std::string_view key) const {
  for (const auto& [name, value] : entries())
    if (name.is_scalar() && name.text() == key) return value;
  return {document_, nullptr, source_};
}

YamlNode::Place YamlNode::begin() const {
  return node_ == nullptr ? Place{} : place_of(source_, node_->start_mark);
}

YamlNode::Place YamlNode::end() const {
  return node_ == nullptr ? Place{} : place_of(source_, node_->end_mark);
}

void YamlDocument::Delete::operator()(yaml_document_s* document) const {
  yaml_document_delete(document);
  delete document;
}

bool YamlDocument::load(std::string_view text, YamlFault& fault) {
  text_ = text;
  document_.reset();
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  std::unique_ptr<yaml_parser_t, decltype(&yaml_parser_delete)> owner(&parser, yaml_parser_delete);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  auto made = std::make_unique<yaml_document_t>();
  if (yaml_parser_load(&parser, made.get()) == 0) {  // which deletes the document
    fault = {parser.problem == nullptr ? "out of memory" : parser.problem, parser.problem_mark.line + 1,
             parser.problem_mark.column + 1};
    return false;
  }
  document_.reset(made.release());
  return true;
}

YamlNode YamlDocument::root() const {
  return {document_.get(), document_ ? yaml_document_get_root_node(document_.get()) : nullptr, text_};
}

}  // namespace radl

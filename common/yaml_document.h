// A YAML document parsed by libyaml: nodes with their positions in the text. An alias is the node that it
// refers to.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"

struct yaml_document_s;
struct yaml_node_s;

namespace radl {

class YamlNode {
 public:
  struct Place {
    size_t offset = 0;            // in bytes
    size_t line = 1, column = 1;  // columns in characters
  };

  bool is_scalar() const;  // including null
  bool is_null() const;
  bool is_list() const;
  bool is_map() const;
  bool flow() const;         // a list in brackets, a map in braces
  std::string text() const;  // of a scalar, else ""
  std::vector<YamlNode> items() const;
  std::vector<std::pair<YamlNode, YamlNode>> entries() const;
  // The value of the key; null if missing.
  YamlNode find(std::string_view key) const;
  Place begin() const;
  Place end() const;

 private:
  friend class YamlDocument;
  YamlNode(yaml_document_s* document, yaml_node_s* node, std::string_view source)
      : document_(document), node_(node), source_(source) {}
  YamlNode at(int index) const;

  yaml_document_s* document_;
  yaml_node_s* node_;  // null: an empty document
  std::string_view source_;
};

struct YamlFault {
  std::string problem;  // libyaml's message
  size_t line = 1, column = 1;
};

// The first document of a text. The text must outlive it, and it must outlive its nodes.
class YamlDocument {
 public:
  // False on a parse error; `fault` describes it.
  bool load(std::string_view text, YamlFault& fault);
  YamlNode root() const;

 private:
  struct Delete {
    void operator()(yaml_document_s* document) const;
  };
  std::unique_ptr<yaml_document_s, Delete> document_;
  std::string_view text_;
};

}  // namespace radl

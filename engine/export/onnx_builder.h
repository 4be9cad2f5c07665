// Puts an ONNX graph together: nodes, constants, and the names between them (onnx/onnx.proto, hand-encoded).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/export/protobuf.h"

namespace radl::engine::exporter {

class OnnxBuilder {
 public:
  struct Attribute {
    std::string name;
    enum class Type { Float = 1, Int = 2, Floats = 6, Ints = 7 } type;
    float real = 0;
    int64_t integer = 0;
    std::vector<int64_t> integers;
  };
  static Attribute f(std::string name, float v) {
    return {std::move(name), Attribute::Type::Float, v, 0, {}};
  }
  static Attribute i(std::string name, int64_t v) {
    return {std::move(name), Attribute::Type::Int, 0, v, {}};
  }
  static Attribute ints(std::string name, std::vector<int64_t> v) {
    return {std::move(name), Attribute::Type::Ints, 0, 0, std::move(v)};
  }

  // Adds a node with one output, whose name it returns; `name` is made unique.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& name,
                   const std::vector<Attribute>& attributes = {});
  // The same with several outputs, named NAME.0, NAME.1, ...
  std::vector<std::string> split(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::string& name, size_t outputs,
                                 const std::vector<Attribute>& attributes);
  // Keeps a name for result().
  void reserve(const std::string& name) { names_.insert(name); }
  // A node whose output has exactly this name.
  void result(const std::string& op, const std::string& input, const std::string& output,
              const std::vector<Attribute>& attributes = {});
  // Constants, whose names they return; a second one of the same name is taken to be the same.
  std::string floats(const std::string& name, const std::vector<int64_t>& shape,
                     std::span<const float> values);
  std::string integers(const std::string& name, std::span<const int64_t> values);

  // Shapes: -1 stands for the free batch dimension.
  void input(const std::string& name, const std::vector<int64_t>& shape);
  void output(const std::string& name, const std::vector<int64_t>& shape);
  // The whole GraphProto.
  Message finish(const std::string& name) const;

 private:
  void add(const std::string& op, const std::vector<std::string>& inputs,
           const std::vector<std::string>& outputs, const std::vector<Attribute>& attributes);
  std::string unique(const std::string& name);

  std::vector<Message> nodes_, constants_, inputs_, outputs_;
  std::set<std::string> names_;
  std::map<std::string, std::string> constant_names_;  // asked for -> given
};

}  // namespace radl::engine::exporter

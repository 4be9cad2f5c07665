// Builds an ONNX graph: nodes, constants and unique names (onnx/onnx.proto, encoded directly).
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

  // Adds a node with one output and returns the output's name. Makes `name` unique.
  std::string node(const std::string& op, const std::vector<std::string>& inputs, const std::string& name,
                   const std::vector<Attribute>& attributes = {});
  // Same with several outputs, named NAME.0, NAME.1, ...
  std::vector<std::string> split(const std::string& op, const std::vector<std::string>& inputs,
                                 const std::string& name, size_t outputs,
                                 const std::vector<Attribute>& attributes);
  // Reserves a name for result().
  void reserve(const std::string& name) { names_.insert(name); }
  // A node whose output has exactly this name.
  void result(const std::string& op, const std::string& input, const std::string& output,
              const std::vector<Attribute>& attributes = {});
  // Adds a constant and returns its name. A second constant of the same name is assumed to be equal.
  std::string floats(const std::string& name, const std::vector<int64_t>& shape,
                     std::span<const float> values);
  std::string integers(const std::string& name, std::span<const int64_t> values);

  // In shapes, -1 means the free batch dimension.
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
  std::map<std::string, std::string> constant_names_;  // requested -> actual
};

}  // namespace radl::engine::exporter

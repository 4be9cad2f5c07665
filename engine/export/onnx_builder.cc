#include "engine/export/onnx_builder.h"

namespace radl::engine::exporter {
namespace {

constexpr int kFloat = 1, kInt64 = 7;  // TensorProto.DataType

Message value_info(const std::string& name, const std::vector<int64_t>& shape) {
  Message dims;
  for (int64_t d : shape) {
    Message dim;
    if (d < 0)
      dim.bytes(2, "batch");
    else
      dim.integer(1, d);
    dims.message(1, dim);
  }
  Message tensor, type, info;
  tensor.integer(1, kFloat).message(2, dims);
  type.message(1, tensor);
  info.bytes(1, name).message(2, type);
  return info;
}

Message attribute_message(const OnnxBuilder::Attribute& a) {
  Message m;
  m.bytes(1, a.name);
  using Type = OnnxBuilder::Attribute::Type;
  if (a.type == Type::Float) m.real32(2, a.real);
  if (a.type == Type::Int) m.integer(3, a.integer);
  if (a.type == Type::Ints) {
    for (int64_t v : a.integers) m.integer(8, v);
  }
  m.integer(20, int64_t(a.type));
  return m;
}

}  // namespace

std::string OnnxBuilder::unique(const std::string& name) {
  std::string candidate = name;
  for (int n = 2; !names_.insert(candidate).second; ++n) candidate = name + "#" + std::to_string(n);
  return candidate;
}

void OnnxBuilder::add(const std::string& op, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs, const std::vector<Attribute>& attributes) {
  Message m;
  for (const auto& name : inputs) m.bytes(1, name);
  for (const auto& name : outputs) m.bytes(2, name);
  m.bytes(3, outputs[0]).bytes(4, op);
  for (const auto& a : attributes) m.message(5, attribute_message(a));
  nodes_.push_back(std::move(m));
}

std::string OnnxBuilder::node(const std::string& op, const std::vector<std::string>& inputs,
                              const std::string& name, const std::vector<Attribute>& attributes) {
  std::string output = unique(name);
  add(op, inputs, {output}, attributes);
  return output;
}

std::vector<std::string> OnnxBuilder::split(const std::string& op, const std::vector<std::string>& inputs,
                                            const std::string& name, size_t outputs,
                                            const std::vector<Attribute>& attributes) {
  std::vector<std::string> all;
  for (size_t k = 0; k < outputs; ++k) all.push_back(unique(name + "." + std::to_string(k)));
  add(op, inputs, all, attributes);
  return all;
}

void OnnxBuilder::result(const std::string& op, const std::string& input, const std::string& output,
                         const std::vector<Attribute>& attributes) {
  add(op, {input}, {output}, attributes);
}

std::string OnnxBuilder::floats(const std::string& name, const std::vector<int64_t>& shape,
                                std::span<const float> values) {
  const auto [known, fresh] = constant_names_.try_emplace(name);
  if (!fresh) return known->second;
  known->second = unique(name);
  Message m;
  for (int64_t d : shape) m.integer(1, d);
  m.integer(2, kFloat)
      .bytes(8, known->second)
      .bytes(9, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  constants_.push_back(std::move(m));
  return known->second;
}

std::string OnnxBuilder::integers(const std::string& name, std::span<const int64_t> values) {
  const auto [known, fresh] = constant_names_.try_emplace(name);
  if (!fresh) return known->second;
  known->second = unique(name);
  Message m;
  m.integer(1, int64_t(values.size())).integer(2, kInt64).bytes(8, known->second);
  m.bytes(9, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  constants_.push_back(std::move(m));
  return known->second;
}

void OnnxBuilder::input(const std::string& name, const std::vector<int64_t>& shape) {
  names_.insert(name);
  inputs_.push_back(value_info(name, shape));
}
void OnnxBuilder::output(const std::string& name, const std::vector<int64_t>& shape) {
  outputs_.push_back(value_info(name, shape));
}

Message OnnxBuilder::finish(const std::string& name) const {
  Message graph;
  for (const auto& n : nodes_) graph.message(1, n);
  graph.bytes(2, name);
  for (const auto& c : constants_) graph.message(5, c);
  for (const auto& i : inputs_) graph.message(11, i);
  for (const auto& o : outputs_) graph.message(12, o);
  return graph;
}

}  // namespace radl::engine::exporter

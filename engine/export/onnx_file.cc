#include "engine/export/onnx_file.h"
#include "engine/export/half.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

namespace radl::engine::exporter {
namespace {

// Fields of one protobuf message, in the order of their bytes (protobuf.dev/programming-guides/encoding).
struct ProtoField {
  int number = 0, wire = 0;
  uint64_t integer = 0;    // wire types 0, 1 and 5
  std::string_view bytes;  // wire type 2
  float real32() const { return std::bit_cast<float>(static_cast<uint32_t>(integer)); }
  std::string text() const { return std::string(bytes); }
};

bool take_varint(std::string_view& in, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(in.front());
    in.remove_prefix(1);
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool take_fixed(std::string_view& in, size_t bytes, uint64_t& value) {
  value = 0;
  if (in.size() < bytes) return false;
  for (size_t i = 0; i < bytes; ++i) value |= uint64_t(static_cast<unsigned char>(in[i])) << (8 * i);
  in.remove_prefix(bytes);
  return true;
}

bool take_field(std::string_view& in, ProtoField& field) {
  uint64_t key = 0;
  if (!take_varint(in, key) || key >> 3 == 0 || key >> 3 > 536870911) return false;
  field = {static_cast<int>(key >> 3), static_cast<int>(key & 7), 0, {}};
  if (field.wire == 0) return take_varint(in, field.integer);
  if (field.wire == 1) return take_fixed(in, 8, field.integer);
  if (field.wire == 5) return take_fixed(in, 4, field.integer);
  uint64_t size = 0;
  if (field.wire != 2 || !take_varint(in, size) || size > in.size()) return false;
  field.bytes = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

Status broken_onnx(const std::string& what) { return {Code::Corrupt, "is not an ONNX file: " + what}; }

using TakeField = std::function<Status(const ProtoField& field)>;
Status each_field(std::string_view in, const char* what, const TakeField& take) {
  ProtoField field;
  while (!in.empty()) {
    if (!take_field(in, field)) return broken_onnx(std::string(what) + " ends early");
    if (Status taken = take(field); !taken.ok()) return taken;
  }
  return {};
}

// A repeated number: one of many fields, or all packed in one.
template <class Take>
Status take_varints(const ProtoField& field, Take take) {
  if (field.wire == 0) {
    take(static_cast<int64_t>(field.integer));
    return {};
  }
  std::string_view in = field.bytes;
  uint64_t value = 0;
  while (!in.empty()) {
    if (!take_varint(in, value)) return broken_onnx("a list of integers ends early");
    take(static_cast<int64_t>(value));
  }
  return {};
}

template <class Number, class Take>
Status take_fixed_numbers(const ProtoField& field, Take take) {
  using Bits = std::conditional_t<sizeof(Number) == 8, uint64_t, uint32_t>;
  if (field.wire != 2) {
    take(std::bit_cast<Number>(static_cast<Bits>(field.integer)));
    return {};
  }
  std::string_view in = field.bytes;
  uint64_t value = 0;
  while (!in.empty()) {
    if (!take_fixed(in, sizeof(Number), value)) return broken_onnx("a list of numbers ends early");
    take(std::bit_cast<Number>(static_cast<Bits>(value)));
  }
  return {};
}

enum TensorType {
  kTensorFloat = 1,
  kTensorInt32 = 6,
  kTensorInt64 = 7,
  kTensorHalf = 10,
  kTensorDouble = 11
};

Status take_raw(std::string_view raw, int type, OnnxTensor& tensor) {
  const size_t width = type == kTensorHalf ? 2 : type == kTensorFloat || type == kTensorInt32 ? 4 : 8;
  if (raw.size() % width != 0) return broken_onnx("tensor '" + tensor.name + "' ends early");
  uint64_t bits = 0;
  while (take_fixed(raw, width, bits)) {
    switch (type) {
      case kTensorFloat:
        tensor.values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
        break;
      case kTensorHalf:
        tensor.values.push_back(half_to_float(static_cast<uint16_t>(bits)));
        break;
      case kTensorDouble:
        tensor.values.push_back(static_cast<float>(std::bit_cast<double>(bits)));
        break;
      case kTensorInt32:
        tensor.integers.push_back(static_cast<int32_t>(bits));
        break;
      default:
        tensor.integers.push_back(static_cast<int64_t>(bits));
    }
  }
  return {};
}

Status check_size(const OnnxTensor& tensor) {
  size_t size = 1;
  for (int64_t d : tensor.shape) {
    if (d < 0 || (d > 0 && size > (size_t{1} << 40) / static_cast<size_t>(d)))
      return broken_onnx("tensor '" + tensor.name + "' has an impossible shape");
    size *= static_cast<size_t>(d);
  }
  if (size != tensor.size())
    return broken_onnx("tensor '" + tensor.name + "' has " + std::to_string(tensor.size()) +
                       " values, and its shape " + std::to_string(size));
  return {};
}

Result<OnnxTensor> parse_tensor(std::string_view bytes) {
  OnnxTensor tensor;
  int type = 0;
  bool elsewhere = false;
  std::string_view raw;
  auto add_real = [&](auto v) { tensor.values.push_back(static_cast<float>(v)); };
  auto add_integer = [&](int64_t v) { tensor.integers.push_back(v); };
  std::vector<int64_t> narrow;  // int32_data: also the bits of float16
  Status read = each_field(bytes, "a tensor", [&](const ProtoField& f) -> Status {
    if (f.number == 1) return take_varints(f, [&](int64_t d) { tensor.shape.push_back(d); });
    if (f.number == 2) type = static_cast<int>(f.integer);
    if (f.number == 4) return take_fixed_numbers<float>(f, add_real);
    if (f.number == 5) return take_varints(f, [&](int64_t v) { narrow.push_back(v); });
    if (f.number == 7) return take_varints(f, add_integer);
    if (f.number == 8) tensor.name = f.text();
    if (f.number == 9) raw = f.bytes;
    if (f.number == 10) return take_fixed_numbers<double>(f, add_real);
    if (f.number == 13 || (f.number == 14 && f.integer == 1)) elsewhere = true;
    return {};
  });
  if (!read.ok()) return read;
  if (elsewhere)
    return Status(Code::Unsupported, "its weights are in other files")
        .with_hint("save it as one file: onnx.save_model(model, path, save_as_external_data=False)");
  tensor.is_integer = type == kTensorInt64 || type == kTensorInt32;
  if (!tensor.is_integer && type != kTensorFloat && type != kTensorHalf && type != kTensorDouble)
    return Status(Code::Unsupported, "tensor '" + tensor.name + "' has the element type " +
                                         std::to_string(type) + ", which radl-train does not read");
  for (const int64_t v : narrow) {
    if (type == kTensorHalf)
      tensor.values.push_back(half_to_float(static_cast<uint16_t>(v)));
    else
      tensor.integers.push_back(v);
  }
  if (Status taken = take_raw(raw, type, tensor); !taken.ok()) return taken;
  if (Status right = check_size(tensor); !right.ok()) return right;
  return tensor;
}

Status parse_attribute(std::string_view bytes, OnnxNode& node) {
  OnnxAttribute made;
  std::string name;
  std::string_view tensor;
  Status read = each_field(bytes, "an attribute", [&](const ProtoField& f) -> Status {
    if (f.number == 1) name = f.text();
    if (f.number == 2) made.real = f.real32();
    if (f.number == 3) made.integer = static_cast<int64_t>(f.integer);
    if (f.number == 4) made.text = f.text();
    if (f.number == 5) tensor = f.bytes;
    if (f.number == 7) return take_fixed_numbers<float>(f, [&](float v) { made.reals.push_back(v); });
    if (f.number == 8) return take_varints(f, [&](int64_t v) { made.integers.push_back(v); });
    return {};
  });
  if (!read.ok()) return read;
  if (tensor.data() != nullptr) {
    auto parsed = parse_tensor(tensor);
    if (!parsed.ok()) return parsed.status();
    made.tensors.push_back(std::move(*parsed));
  }
  node.attributes[name] = std::move(made);
  return {};
}

Status parse_node(std::string_view bytes, OnnxFile& file) {
  OnnxNode node;
  std::string domain;
  Status read = each_field(bytes, "a node", [&](const ProtoField& f) -> Status {
    if (f.number == 1) node.inputs.push_back(f.text());
    if (f.number == 2) node.outputs.push_back(f.text());
    if (f.number == 3) node.name = f.text();
    if (f.number == 4) node.op = f.text();
    if (f.number == 5) return parse_attribute(f.bytes, node);
    if (f.number == 7) domain = f.text();
    return {};
  });
  if (!read.ok()) return read;
  if (!domain.empty() && domain != "ai.onnx") node.op = domain + "." + node.op;
  file.nodes.push_back(std::move(node));
  return {};
}

Result<OnnxValue> parse_value(std::string_view bytes) {
  OnnxValue value;
  auto dimension = [&](const ProtoField& f) -> Status {
    if (f.number != 1) return {};
    int64_t size = 0;
    Status read = each_field(f.bytes, "a shape", [&](const ProtoField& d) -> Status {
      if (d.number == 1) size = static_cast<int64_t>(d.integer);
      return {};
    });
    value.shape.push_back(size);
    return read;
  };
  auto tensor = [&](const ProtoField& f) -> Status {
    return f.number == 2 ? each_field(f.bytes, "a shape", dimension) : Status();
  };
  auto type = [&](const ProtoField& f) -> Status {
    return f.number == 1 ? each_field(f.bytes, "a type", tensor) : Status();
  };
  Status read = each_field(bytes, "a value", [&](const ProtoField& f) -> Status {
    if (f.number == 1) value.name = f.text();
    return f.number == 2 ? each_field(f.bytes, "a type", type) : Status();
  });
  if (!read.ok()) return read;
  return value;
}

Status parse_graph(std::string_view bytes, OnnxFile& file) {
  Status read = each_field(bytes, "the graph", [&](const ProtoField& f) -> Status {
    if (f.number == 1) return parse_node(f.bytes, file);
    if (f.number == 2) file.graph_name = f.text();
    if (f.number == 5) {
      auto tensor = parse_tensor(f.bytes);
      if (!tensor.ok()) return tensor.status();
      const std::string name = tensor->name;
      file.constants[name] = std::move(*tensor);
    }
    if (f.number == 11 || f.number == 12) {
      auto value = parse_value(f.bytes);
      if (!value.ok()) return value.status();
      (f.number == 11 ? file.inputs : file.outputs).push_back(std::move(*value));
    }
    if (f.number == 15) return {Code::Unsupported, "it has sparse weights"};
    return {};
  });
  std::erase_if(file.inputs, [&](const OnnxValue& input) { return file.constants.contains(input.name); });
  return read;
}

std::pair<std::string, std::string> parse_pair(std::string_view bytes, Status& read) {
  std::pair<std::string, std::string> made;
  read = each_field(bytes, "a property", [&](const ProtoField& f) -> Status {
    if (f.number == 1) made.first = f.text();
    if (f.number == 2) made.second = f.text();
    return {};
  });
  return made;
}

Status parse_opset(std::string_view bytes, OnnxFile& file) {
  std::string domain;
  int64_t version = 0;
  Status read = each_field(bytes, "an operator set", [&](const ProtoField& f) -> Status {
    if (f.number == 1) domain = f.text();
    if (f.number == 2) version = static_cast<int64_t>(f.integer);
    return {};
  });
  if (domain.empty() || domain == "ai.onnx") file.opset = version;
  return read;
}

}  // namespace

int64_t OnnxNode::integer(const std::string& key, int64_t otherwise) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? otherwise : found->second.integer;
}

float OnnxNode::real(const std::string& key, float otherwise) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? otherwise : found->second.real;
}

std::vector<int64_t> OnnxNode::integers(const std::string& key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? std::vector<int64_t>() : found->second.integers;
}

std::string OnnxNode::text(const std::string& key, const std::string& otherwise) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? otherwise : found->second.text;
}

Result<OnnxFile> parse_onnx(std::string_view bytes, const std::string& name) {
  OnnxFile file;
  bool has_graph = false;
  Status read = each_field(bytes, "the file", [&](const ProtoField& f) -> Status {
    Status status;
    if (f.number == 2) file.producer = f.text();
    if (f.number == 7) {
      has_graph = true;
      return parse_graph(f.bytes, file);
    }
    if (f.number == 8) return parse_opset(f.bytes, file);
    if (f.number == 14) file.metadata.insert(parse_pair(f.bytes, status));
    return status;
  });
  if (read.ok() && !has_graph) read = broken_onnx("it has no graph");
  if (!read.ok()) return std::move(read).at(name);
  return file;
}

}  // namespace radl::engine::exporter

#include "engine/model/compile.h"

#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "engine/layers/ops.h"
#include "engine/model/geometry.h"

namespace radl::engine {

namespace {

class Compiler {
 public:
  Compiler(const Graph& graph, Type type, const OpSettings& settings, MemoryPlan& plan)
      : graph_(graph),
        type_(type),
        settings_(settings),
        plan_(plan),
        tensors_(graph.layers.size()),
        producers_(graph.layers.size()),
        consumers_(graph.layers.size()),
        last_reader_(graph.layers.size()),
        done_(graph.layers.size()) {
    for (size_t i = 0; i < graph.layers.size(); ++i)
      for (const int input : graph.layers[i].inputs)
        ++consumers_[input], last_reader_[input] = static_cast<int>(i);
    mark_fp32();
  }

  Result<Compiled> run() {
    if (graph_.layers[1].kind != Kind::Embedding) {
      tensors_[0] = plan_.make(graph_.input, fp32_[0] ? Type::F32 : type_);
      add(make_input_op(tensors_[0], settings_), 0);
    }
    for (size_t i = 1; i < graph_.layers.size(); ++i) {
      if (done_[i]) continue;
      if (Status s = compile_layer(static_cast<int>(i)); !s.ok())
        return std::move(s).at(fmt::format("layer {}", graph_.layers[i].name));
    }
    out_.logits = tensors_.back();
    return std::move(out_);
  }

 private:
  // The last layers compute in fp32: the last linear layer, the element-wise layers after it, and the
  // output.
  void mark_fp32() {
    fp32_.assign(graph_.layers.size(), type_ == Type::F32);
    fp32_.back() = true;
    for (size_t i = graph_.layers.size() - 1; i > 0; --i) {
      const Layer& l = graph_.layers[i];
      const bool passes = l.kind == Kind::Scale || l.kind == Kind::Activation || l.kind == Kind::Flatten ||
                          l.kind == Kind::Dropout;
      if (fp32_[i] && passes && consumers_[l.inputs[0]] == 1) fp32_[l.inputs[0]] = true;
    }
  }

  Type type_of(int layer) const { return fp32_[layer] ? Type::F32 : type_; }

  void add(std::unique_ptr<Op> op, int layer) {
    if (op->name.empty()) op->name = graph_.layers[layer].name;
    plan_.set_time(static_cast<int>(out_.ops.size()));
    op->plan_forward(plan_);
    op->parameters = std::exchange(parameters_, {});
    out_.ops.push_back(std::move(op));
  }

  // The layer's value in the type wanted.
  Tensor* value(int layer, Type type) {
    Tensor* t = tensors_[layer];
    if (t->type == type) return t;
    Tensor* converted = plan_.make(t->shape, type);
    auto op = make_convert_op(t, converted, settings_);
    op->name = graph_.layers[layer].name + ".convert";
    add(std::move(op), layer);
    return converted;
  }

  Tensor* output(int layer) { return tensors_[layer] = plan_.make(graph_.layers[layer].out, type_of(layer)); }
  // For a parameter of the operation that is added next.
  int64_t offset(int parameter) {
    if (parameter < 0) return -1;
    parameters_.push_back(static_cast<size_t>(parameter));
    return static_cast<int64_t>(graph_.parameters[parameter].offset);
  }
  int64_t statistic(int index) const {
    return index < 0 ? -1 : static_cast<int64_t>(graph_.statistics[index].offset);
  }

  Status compile_layer(int i) {
    const Layer& l = graph_.layers[i];
    const Type type = type_of(i);
    switch (l.kind) {
      case Kind::Input:
        return ok_status();
      case Kind::Conv:
      case Kind::Linear:
        return compile_conv(i);
      case Kind::BatchNorm:
      case Kind::Activation:
        return compile_pointwise(i), ok_status();
      case Kind::Add:
        if (l.inputs.size() == 2) return compile_pointwise(i), ok_status();
        [[fallthrough]];
      case Kind::Concat: {
        std::vector<Tensor*> in;
        for (int input : l.inputs) in.push_back(value(input, type));
        add(l.kind == Kind::Add ? make_sum_op(in, output(i), settings_)
                                : make_concat_op(in, output(i), settings_),
            i);
        return ok_status();
      }
      case Kind::Flatten:
        return compile_flatten(i), ok_status();
      case Kind::Embedding:
        if (l.inputs[0] != 0) return invalid("embedding must be the first layer");
        add(make_embedding_op(l.vocabulary, offset(l.weight), output(i), settings_), i);
        return ok_status();
      case Kind::Attention: {
        Tensor* in = value(l.inputs[0], type);
        const AttentionSpec spec{l.heads,           l.causal,       offset(l.weight), offset(l.bias_param),
                                 offset(l.weight2), offset(l.bias2)};
        Result<std::unique_ptr<Op>> op = make_attention_op(spec, in, output(i), settings_);
        if (!op) return op.status();
        add(std::move(*op), i);
        return ok_status();
      }
      default:
        return compile_simple(i), ok_status();
    }
  }

  void compile_simple(int i) {
    const Layer& l = graph_.layers[i];
    Tensor* in = value(l.inputs[0], type_of(i));
    Tensor* out = output(i);
    const NormSpec norm{l.eps, l.groups, offset(l.weight), offset(l.bias_param), l.frozen};
    switch (l.kind) {
      case Kind::MaxPool:
      case Kind::AvgPool:
        return add(make_pool_op(l, in, out, settings_), i);
      case Kind::GlobalAvgPool:
      case Kind::GlobalMaxPool:
        return add(make_global_pool_op(l.kind == Kind::GlobalMaxPool, in, out, settings_), i);
      case Kind::Scale:
        return add(make_scale_op(l.factor, in, out, settings_), i);
      case Kind::Dropout:
        return add(make_dropout_op(l.rate, i, in, out, settings_), i);
      case Kind::LayerNorm:
        return add(make_layer_norm_op(norm, in, out, settings_), i);
      case Kind::GroupNorm:
        return add(make_group_norm_op(norm, in, out, settings_), i);
      case Kind::Position:
        return add(make_position_op(norm.gamma, in, out, settings_), i);
      default:
        assert(false && "every kind is compiled somewhere");
    }
  }

  Status compile_conv(int i) {
    const Layer& l = graph_.layers[i];
    Tensor* in = value(l.inputs[0], type_of(i));
    ConvSpec spec{conv_geometry(graph_, l, settings_.batch)};
    spec.rows_per_example = l.kind == Kind::Linear ? spec.geometry.n / settings_.batch : 1;
    spec.weight = offset(l.weight), spec.bias = offset(l.bias_param), spec.frozen = l.frozen;
    spec.bias_trains = l.bias_param >= 0 && !l.bias_frozen;
    const int pool = pool_behind(i);
    spec.pool = pool > 0 && conv_op_pools(spec, *in, settings_);
    const int last = spec.pool ? pool : i;
    Result<std::unique_ptr<ConvOp>> op = make_conv_op(spec, in, output(last), settings_);
    if (!op) return op.status();
    if (spec.pool) (*op)->name = fmt::format("{}+maxpool", l.name), done_[pool] = true;
    producers_[last] = op->get();
    add(std::move(*op), i);
    return ok_status();
  }

  // The layer that alone reads a convolution and takes the largest of each 2x2; 0: none.
  int pool_behind(int i) const {
    const int next = only_consumer(i, Kind::MaxPool);
    if (next == 0 || graph_.layers[i].kind != Kind::Conv || type_of(next) != type_of(i)) return 0;
    const Layer &l = graph_.layers[next], &conv = graph_.layers[i];
    const bool halves = l.kernel_h == 2 && l.kernel_w == 2 && l.stride_h == 2 && l.stride_w == 2;
    return halves && l.out.h == conv.out.h / 2 && l.out.w == conv.out.w / 2 && l.pad_top == 0 &&
                   l.pad_left == 0
               ? next
               : 0;
  }

  // A flattened NHWC image is the same bytes, and a linear layer takes either shape; other readers go by
  // the tensor's shape and get a copy.
  void compile_flatten(int i) {
    const Layer& l = graph_.layers[i];
    Tensor* in = value(l.inputs[0], type_of(i));
    if (in->shape == l.out || only_consumer(i, Kind::Linear) > 0)
      tensors_[i] = in;
    else
      add(make_scale_op(1, in, output(i), settings_), i);
  }

  // BatchNorm, Add and Activation in this order, each optional, become one operation when nothing else reads
  // what is between them.
  void compile_pointwise(int i) {
    PointwiseSpec spec;
    Tensor* residual = nullptr;
    int last = i, x = graph_.layers[i].inputs[0];
    const bool norm = graph_.layers[i].kind == Kind::BatchNorm;
    std::string name = graph_.layers[i].name;
    const Type type = type_of(i);
    Tensor* in = value(x, type);
    if (graph_.layers[i].kind == Kind::Add) residual = value(graph_.layers[i].inputs[1], type);
    if (const int next = only_consumer(last, Kind::Add);
        norm && next > 0 && graph_.layers[next].inputs.size() == 2) {
      const Layer& join = graph_.layers[next];
      const int other = join.inputs[0] == last ? join.inputs[1] : join.inputs[0];
      if (other < i && tensors_[other] && tensors_[other]->type == type)
        residual = tensors_[other], last = next, name += "+add";
    }
    if (graph_.layers[last].kind == Kind::Activation) {
      spec.act = graph_.layers[last].act, spec.slope = graph_.layers[last].slope;
    } else if (const int next = only_consumer(last, Kind::Activation); next > 0 && type_of(next) == type) {
      spec.act = graph_.layers[next].act, spec.slope = graph_.layers[next].slope;
      last = next, name += fmt::format("+{}", act_name(spec.act));
    }
    Tensor* out = tensors_[last] = plan_.make(graph_.layers[last].out, type);
    for (int j = i; j <= last; ++j) done_[j] = done_[j] || fused_between(i, j, last);
    auto op = norm ? make_batch_norm_op(batch_norm(graph_.layers[i], spec), in, residual, out, producers_[x],
                                        settings_)
                   : make_pointwise_op(spec, in, residual, out, settings_);
    op->name = name;
    add(std::move(op), i);
  }

  BatchNormSpec batch_norm(const Layer& l, const PointwiseSpec& pointwise) {
    return {pointwise,
            l.eps,
            l.momentum,
            offset(l.weight),
            offset(l.bias_param),
            statistic(l.running_mean),
            statistic(l.running_var),
            l.frozen};
  }

  // The layer that alone reads `layer`, when it is of the kind; 0 otherwise.
  int only_consumer(int layer, Kind kind) const {
    const int reader = last_reader_[layer];
    return consumers_[layer] == 1 && graph_.layers[reader].kind == kind ? reader : 0;
  }

  // Whether j lies on the chain from i to last.
  bool fused_between(int i, int j, int last) const {
    for (int at = last;;) {
      if (at == j) return true;
      if (at == i) return false;
      const std::vector<int>& inputs = graph_.layers[at].inputs;
      int next = -1;
      for (int input : inputs)
        if (input >= i && consumers_[input] == 1) next = std::max(next, input);
      if (next < 0) return false;
      at = next;
    }
  }

  const Graph& graph_;
  Type type_;
  const OpSettings& settings_;
  MemoryPlan& plan_;
  std::vector<Tensor*> tensors_;
  std::vector<ConvOp*> producers_;
  std::vector<int> consumers_, last_reader_;
  std::vector<bool> done_, fp32_;
  std::vector<size_t> parameters_;  // of the operation that is added next
  Compiled out_;
};

}  // namespace

Result<Compiled> compile(const Graph& graph, Type type, const OpSettings& settings, MemoryPlan& plan) {
  return Compiler(graph, type, settings, plan).run();
}

}  // namespace radl::engine

#include "engine/kernels/onednn/conv.h"

#include <omp.h>

#include <dnnl.hpp>
#include <map>
#include <unordered_map>

#include "engine/kernels/bias.h"

namespace radl::engine {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Args = std::unordered_map<int, memory>;

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// A primitive that runs in the library's plain reference code is not worth having.
bool optimised(const char* implementation) {
  return std::string_view(implementation).find("ref") == std::string_view::npos;
}

// oneDNN takes the thread count from the calling thread's OpenMP setting.
class ThreadScope {
 public:
  explicit ThreadScope(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~ThreadScope() { omp_set_num_threads(before_); }

 private:
  int before_;
};

struct Described {
  memory::desc x, y, any_w, plain_w;  // plain_w: fp32 master layout
};

Described describe(const ConvGeometry& g, Type type, int n) {
  const auto dt = type == Type::Bf16 ? memory::data_type::bf16 : memory::data_type::f32;
  Described d;
  d.x = {{n, g.c, g.h, g.w}, dt, Tag::nhwc};
  d.y = {{n, g.oc, g.oh, g.ow}, dt, Tag::nhwc};
  if (g.groups == 1) {
    d.any_w = {{g.oc, g.c, g.kh, g.kw}, dt, Tag::any};
    d.plain_w = {{g.oc, g.c, g.kh, g.kw}, memory::data_type::f32, Tag::oihw};
  } else {
    const memory::dims dims{g.groups, g.oc / g.groups, g.c / g.groups, g.kh, g.kw};
    d.any_w = {dims, dt, Tag::any};
    d.plain_w = {dims, memory::data_type::f32, Tag::goihw};
  }
  return d;
}

// The three convolutions for one batch size.
struct Primitives {
  dnnl::convolution_forward forward;
  dnnl::convolution_backward_data backward_data;
  dnnl::convolution_backward_weights backward_weights;
  memory x, y, dx, dy, scratch_f, scratch_d, scratch_w;
};

class OnednnConv : public ConvKernel {
 public:
  explicit OnednnConv(const ConvRequest& r)
      : r_(r),
        g_(r.geometry),
        kernels_(elementwise(r.type)),
        sums_kernel_(r.type, g_.oc, r.threads),
        stream_(cpu_engine()) {
    sums_.resize(2 * g_.oc);
    ThreadScope scope(r.threads);
    sizes_.emplace(g_.n, make(g_.n));
    if (r.backward_data) added_ = Buffer(static_cast<size_t>(g_.n) * g_.h * g_.w * g_.c * size_of(r.type));
  }

  void set_weights(const float* weights, bool training) override {
    ThreadScope scope(r_.threads);
    memory master(describe(g_, r_.type, 1).plain_w, cpu_engine(), const_cast<float*>(weights));
    to_forward_.execute(stream_, master, weights_f_);
    if (training && r_.backward_data) to_backward_.execute(stream_, master, weights_d_);
    stream_.wait();
  }

  void forward(int n, const void* x, const float* bias, void* y, double*) override {
    ThreadScope scope(r_.threads);
    Primitives& p = primitives(n);
    p.x.set_data_handle(const_cast<void*>(x));
    p.y.set_data_handle(y);
    p.forward.execute(stream_, {{DNNL_ARG_SRC, p.x},
                                {DNNL_ARG_WEIGHTS, weights_f_},
                                {DNNL_ARG_DST, p.y},
                                {DNNL_ARG_SCRATCHPAD, p.scratch_f}});
    stream_.wait();
    if (!bias) return;
    const PointwiseArgs add{Act::None, 0, g_.oc, ones(), bias};
    parallel_for(r_.threads, static_cast<size_t>(n) * g_.oh * g_.ow, 64, [&](size_t begin, size_t end, int) {
      std::byte* at = static_cast<std::byte*>(y) + begin * g_.oc * size_of(r_.type);
      kernels_.pointwise(add, end - begin, at, nullptr, at);
    });
  }

  void backward_data(int n, const void* dy, void* dx, bool add) override {
    ThreadScope scope(r_.threads);
    Primitives& p = primitives(n);
    p.dy.set_data_handle(const_cast<void*>(dy));
    p.dx.set_data_handle(add ? static_cast<void*>(added_.data()) : dx);
    p.backward_data.execute(stream_, {{DNNL_ARG_DIFF_DST, p.dy},
                                      {DNNL_ARG_WEIGHTS, weights_d_},
                                      {DNNL_ARG_DIFF_SRC, p.dx},
                                      {DNNL_ARG_SCRATCHPAD, p.scratch_d}});
    stream_.wait();
    if (!add) return;
    const size_t count = static_cast<size_t>(n) * g_.h * g_.w * g_.c, element = size_of(r_.type);
    parallel_for(r_.threads, count, 1024, [&](size_t begin, size_t end, int) {
      kernels_.scale(added_.data() + begin * element, 1, static_cast<std::byte*>(dx) + begin * element,
                     end - begin, true);
    });
  }

  void backward_weights(int n, const void* x, const void* dy, float* dw, float* dbias) override {
    ThreadScope scope(r_.threads);
    Primitives& p = primitives(n);
    p.x.set_data_handle(const_cast<void*>(x));
    p.dy.set_data_handle(const_cast<void*>(dy));
    p.backward_weights.execute(stream_, {{DNNL_ARG_SRC, p.x},
                                         {DNNL_ARG_DIFF_DST, p.dy},
                                         {DNNL_ARG_DIFF_WEIGHTS, weights_w_},
                                         {DNNL_ARG_SCRATCHPAD, p.scratch_w}});
    memory master(describe(g_, r_.type, 1).plain_w, cpu_engine(), dw);
    from_gradient_.execute(stream_, weights_w_, master);
    stream_.wait();
    if (!dbias) return;
    sums_kernel_.run(dy, static_cast<size_t>(n) * g_.oh * g_.ow, sums_.data());
    for (int o = 0; o < g_.oc; ++o) dbias[o] = static_cast<float>(sums_[o]);
  }

  size_t memory_bytes() const override { return memory_ + added_.size(); }
  std::string name() const override { return "onednn " + implementation_; }
  bool usable() const { return usable_; }

 private:
  Primitives& primitives(int n) {
    auto it = sizes_.find(n);
    if (it == sizes_.end()) it = sizes_.emplace(n, make(n)).first;  // once per batch size
    return it->second;
  }
  const float* ones() {
    if (ones_.empty()) ones_.assign(g_.oc, 1.0f);
    return ones_.data();
  }
  memory allocate(const memory::desc& d) {
    memory_ += d.get_size();
    return memory(d, cpu_engine());
  }

  Primitives make(int n) {
    const Described d = describe(g_, r_.type, n);
    const memory::dims strides{g_.sh, g_.sw}, dilates{g_.dh - 1, g_.dw - 1}, before{g_.pt, g_.pl},
        after{g_.pb, g_.pr};
    const dnnl::primitive_attr attr = user_scratchpad();
    const auto algorithm = dnnl::algorithm::convolution_direct;
    Described pinned = d;  // a later batch size must use the weights' layout of the first
    if (weights_f_) pinned.any_w = weights_f_.get_desc();
    const dnnl::convolution_forward::desc fd(dnnl::prop_kind::forward_training, algorithm, d.x, pinned.any_w,
                                             d.y, strides, dilates, before, after);
    const dnnl::convolution_forward::primitive_desc fpd(fd, attr, cpu_engine());
    implementation_ = fpd.impl_info_str();
    usable_ = usable_ && optimised(fpd.impl_info_str());
    Primitives p;
    p.forward = dnnl::convolution_forward(fpd);
    p.x = memory(d.x, cpu_engine(), nullptr), p.dx = memory(d.x, cpu_engine(), nullptr);
    p.y = memory(d.y, cpu_engine(), nullptr), p.dy = memory(d.y, cpu_engine(), nullptr);
    p.scratch_f = allocate(fpd.scratchpad_desc());
    if (!weights_f_) {
      weights_f_ = allocate(fpd.weights_desc());
      to_forward_ = reorder(d.plain_w, fpd.weights_desc());
    }
    if (r_.backward_data) make_backward_data(p, d, fpd, attr);
    if (r_.backward_weights) make_backward_weights(p, d, fpd, attr);
    return p;
  }

  static dnnl::reorder reorder(const memory::desc& from, const memory::desc& to) {
    return dnnl::reorder(dnnl::reorder::primitive_desc(cpu_engine(), from, cpu_engine(), to));
  }

  void make_backward_data(Primitives& p, const Described& d,
                          const dnnl::convolution_forward::primitive_desc& fpd,
                          const dnnl::primitive_attr& attr) {
    const memory::desc weights = weights_d_ ? weights_d_.get_desc() : d.any_w;
    const dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, d.x, weights, d.y,
                                                     {g_.sh, g_.sw}, {g_.dh - 1, g_.dw - 1}, {g_.pt, g_.pl},
                                                     {g_.pb, g_.pr});
    const dnnl::convolution_backward_data::primitive_desc pd(desc, attr, cpu_engine(), fpd);
    usable_ = usable_ && optimised(pd.impl_info_str());
    p.backward_data = dnnl::convolution_backward_data(pd);
    p.scratch_d = allocate(pd.scratchpad_desc());
    if (weights_d_) return;
    weights_d_ = allocate(pd.weights_desc());
    to_backward_ = reorder(d.plain_w, pd.weights_desc());
  }

  void make_backward_weights(Primitives& p, const Described& d,
                             const dnnl::convolution_forward::primitive_desc& fpd,
                             const dnnl::primitive_attr& attr) {
    memory::desc any = d.any_w;
    any.data.data_type = dnnl_f32;  // gradients of the weights stay fp32
    if (weights_w_) any = weights_w_.get_desc();
    const dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, d.x, any, d.y,
                                                        {g_.sh, g_.sw}, {g_.dh - 1, g_.dw - 1},
                                                        {g_.pt, g_.pl}, {g_.pb, g_.pr});
    const dnnl::convolution_backward_weights::primitive_desc pd(desc, attr, cpu_engine(), fpd);
    usable_ = usable_ && optimised(pd.impl_info_str());
    p.backward_weights = dnnl::convolution_backward_weights(pd);
    p.scratch_w = allocate(pd.scratchpad_desc());
    if (weights_w_) return;
    weights_w_ = allocate(pd.diff_weights_desc());
    from_gradient_ = reorder(pd.diff_weights_desc(), d.plain_w);
  }

  ConvRequest r_;
  ConvGeometry g_;
  const ElementwiseKernels& kernels_;
  ChannelSums sums_kernel_;
  std::vector<double> sums_;
  std::vector<float> ones_;
  Buffer added_;  // where a gradient lands before it is added
  dnnl::stream stream_;
  memory weights_f_, weights_d_, weights_w_;
  dnnl::reorder to_forward_, to_backward_, from_gradient_;
  std::map<int, Primitives> sizes_;
  std::string implementation_;
  bool usable_ = true;
  size_t memory_ = 0;
};

}  // namespace

std::unique_ptr<ConvKernel> make_onednn_conv(const ConvRequest& request) {
  // The library says by exception that it has no implementation; that is an answer, not a failure.
  try {
    auto kernel = std::make_unique<OnednnConv>(request);
    if (kernel->usable()) return kernel;
  } catch (const dnnl::error&) {
  }
  return nullptr;
}

}  // namespace radl::engine

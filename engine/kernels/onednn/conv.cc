#include "engine/kernels/onednn/conv.h"

#include <omp.h>

#include <cassert>
#include <dnnl.hpp>
#include <initializer_list>
#include <map>

#include "engine/kernels/bias.h"
#include "engine/kernels/cpu.h"

namespace radl::engine {

namespace {

using dnnl::memory;
using Tag = memory::format_tag;

// The library shares the limit that the user sets for our kernels.
dnnl::cpu_isa most_isa() {
  const CpuFeatures& has = cpu();
  return !has.avx2          ? dnnl::cpu_isa::sse41
         : !has.avx512      ? dnnl::cpu_isa::avx2
         : !has.avx512_bf16 ? dnnl::cpu_isa::avx512_core
         : !has.amx_bf16    ? dnnl::cpu_isa::avx512_core_bf16
                            : dnnl::cpu_isa::all;
}

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine = [] {
    if (cpu().limited) dnnl::set_max_cpu_isa(most_isa());
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
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

// The three convolutions for one number of images.
struct Primitives {
  dnnl::convolution_forward forward;
  dnnl::convolution_backward_data backward_data;
  dnnl::convolution_backward_weights backward_weights;
  size_t scratch_f = 0, scratch_d = 0, scratch_w = 0;
};

// A thread's images and scratch memory as the library wants to see them, for one number of images: only
// the addresses change from call to call.
struct Views {
  memory x, y, scratch_f, scratch_d, scratch_w;
};

// What one thread works with.
struct Part {
  dnnl::stream stream{cpu_engine()};
  Buffer scratch;
  memory sums;  // this part's gradient of the weights
  std::map<int, Views> views;
};

// The C interface takes the arguments as they are; the C++ one would want a map of them, allocated at every
// call. (The library itself still makes one of its own.)
void execute(const dnnl::primitive& primitive, const dnnl::stream& stream,
             std::initializer_list<dnnl_exec_arg_t> arguments) {
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive.get(), stream.get(),
                                                 static_cast<int>(arguments.size()), arguments.begin()),
                          "a convolution could not run");
}

dnnl_memory_t view_of(const memory& view, const void* data) {
  dnnl::error::wrap_c_api(dnnl_memory_set_data_handle(view.get(), const_cast<void*>(data)),
                          "a convolution could not take its memory");
  return view.get();
}

// The batch is cut over our own threads and each part runs in the library on one: OpenMP's helpers, which
// spin for milliseconds after each call, would hold the cores that the next operation needs. A batch of fewer
// images than threads is one part on all of them.
class OnednnConv : public ConvKernel {
 public:
  explicit OnednnConv(const ConvRequest& r)
      : r_(r),
        g_(r.geometry),
        kernels_(elementwise(r.type)),
        sums_kernel_(r.type, g_.oc, r.threads),
        parts_(r.threads) {
    sums_.resize(2 * g_.oc);
    ones_.assign(g_.oc, 1.0f);
    master_ = unbound(describe(g_, r_.type, 1).plain_w);
    prepare(g_.n);
  }

  void set_weights(const float* weights, bool training) override {
    ThreadScope scope(1);
    dnnl::stream& stream = parts_[0].stream;
    view_of(master_, weights);
    execute(to_forward_, stream, {{DNNL_ARG_FROM, master_.get()}, {DNNL_ARG_TO, weights_f_.get()}});
    if (training && r_.backward_data)
      execute(to_backward_, stream, {{DNNL_ARG_FROM, master_.get()}, {DNNL_ARG_TO, weights_d_.get()}});
    stream.wait();
  }

  void forward(int n, const void* x, const float* bias, void* y, double*) override {
    for_parts(n, [&](Part& part, const Primitives& p, const Views& v, size_t first) {
      execute(p.forward, part.stream,
              {{DNNL_ARG_SRC, view_of(v.x, at(x, first * in_size()))},
               {DNNL_ARG_WEIGHTS, weights_f_.get()},
               {DNNL_ARG_DST, view_of(v.y, at(y, first * out_size()))},
               {DNNL_ARG_SCRATCHPAD, view_of(v.scratch_f, part.scratch.data())}});
    });
    if (!bias) return;
    const PointwiseArgs add{Act::None, 0, g_.oc, ones_.data(), bias};
    parallel_for(r_.threads, static_cast<size_t>(n) * g_.oh * g_.ow, 64, [&](size_t begin, size_t end, int) {
      std::byte* row = static_cast<std::byte*>(y) + begin * g_.oc * size_of(r_.type);
      kernels_.pointwise(add, end - begin, row, nullptr, row);
    });
  }

  bool adds() const override { return false; }
  void backward_data(int n, const void* dy, void* dx, bool add) override {
    assert(!add);
    (void)add;
    for_parts(n, [&](Part& part, const Primitives& p, const Views& v, size_t first) {
      execute(p.backward_data, part.stream,
              {{DNNL_ARG_DIFF_DST, view_of(v.y, at(dy, first * out_size()))},
               {DNNL_ARG_WEIGHTS, weights_d_.get()},
               {DNNL_ARG_DIFF_SRC, view_of(v.x, at(dx, first * in_size()))},
               {DNNL_ARG_SCRATCHPAD, view_of(v.scratch_d, part.scratch.data())}});
    });
  }

  void backward_weights(int n, const void* x, const void* dy, float* dw, float* dbias) override {
    const int parts = for_parts(n, [&](Part& part, const Primitives& p, const Views& v, size_t first) {
      execute(p.backward_weights, part.stream,
              {{DNNL_ARG_SRC, view_of(v.x, at(x, first * in_size()))},
               {DNNL_ARG_DIFF_DST, view_of(v.y, at(dy, first * out_size()))},
               {DNNL_ARG_DIFF_WEIGHTS, part.sums.get()},
               {DNNL_ARG_SCRATCHPAD, view_of(v.scratch_w, part.scratch.data())}});
    });
    float* total = static_cast<float*>(parts_[0].sums.get_data_handle());
    for (int t = 1; t < parts; ++t) {
      const float* more = static_cast<const float*>(parts_[t].sums.get_data_handle());
      for (size_t i = 0; i < parts_[t].sums.get_desc().get_size() / 4; ++i) total[i] += more[i];
    }
    ThreadScope scope(1);
    execute(from_gradient_, parts_[0].stream,
            {{DNNL_ARG_FROM, parts_[0].sums.get()}, {DNNL_ARG_TO, view_of(master_, dw)}});
    parts_[0].stream.wait();
    if (!dbias) return;
    sums_kernel_.run(dy, static_cast<size_t>(n) * g_.oh * g_.ow, sums_.data());
    for (int o = 0; o < g_.oc; ++o) dbias[o] = static_cast<float>(sums_[o]);
  }

  size_t memory_bytes() const override {
    size_t total = memory_;
    for (const Part& part : parts_) total += part.scratch.size();
    return total;
  }
  std::string name() const override { return "onednn " + implementation_; }
  bool usable() const { return usable_; }

 private:
  size_t in_size() const { return static_cast<size_t>(g_.h) * g_.w * g_.c; }
  size_t out_size() const { return static_cast<size_t>(g_.oh) * g_.ow * g_.oc; }
  const std::byte* at(const void* base, size_t element) const {
    return static_cast<const std::byte*>(base) + element * size_of(r_.type);
  }
  static memory unbound(const memory::desc& d) { return memory(d, cpu_engine(), DNNL_MEMORY_NONE); }
  static memory unbound(size_t bytes) {
    return unbound({{static_cast<int64_t>(bytes)}, memory::data_type::u8, Tag::a});
  }
  int parts_of(int n) const { return n >= r_.threads ? r_.threads : 1; }

  // f(part, primitives, views, first image) on each thread's part; gives the number of
  // parts.
  template <class F>
  int for_parts(int n, F&& f) {
    const int parts = parts_of(n);
    prepare(n);
    struct Work {
      OnednnConv& self;
      F& f;
      int n, parts;
    } work{*this, f, n, parts};
    run_on_threads(
        parts,
        [](void* context, int t) {
          const Work& w = *static_cast<Work*>(context);
          const Share share = share_of(w.n, t, w.parts);
          const int count = static_cast<int>(share.end - share.begin);
          const ThreadScope scope(w.parts == 1 ? w.self.r_.threads : 1);
          Part& part = w.self.parts_[t];
          w.f(part, w.self.sizes_.at(count), part.views.at(count), share.begin);
          part.stream.wait();
        },
        &work);
    return parts;
  }

  // Primitives for the parts of a batch of n: made once per size.
  void prepare(int n) {
    const int parts = parts_of(n);
    const ThreadScope scope(parts == 1 ? r_.threads : 1);
    for (int t = 0; t < parts; ++t) {
      const Share share = share_of(n, t, parts);
      const int count = static_cast<int>(share.end - share.begin);
      if (!sizes_.contains(count)) sizes_.emplace(count, make(count));
      if (parts_[t].views.contains(count)) continue;
      const Primitives& p = sizes_.at(count);
      const Described d = describe(g_, r_.type, count);
      parts_[t].views.emplace(count, Views{unbound(d.x), unbound(d.y), unbound(p.scratch_f),
                                           unbound(p.scratch_d), unbound(p.scratch_w)});
    }
  }
  memory allocate(const memory::desc& d) {
    memory_ += d.get_size();
    return memory(d, cpu_engine());
  }
  size_t need(const memory::desc& scratchpad) {
    const size_t bytes = scratchpad.get_size();
    for (Part& part : parts_)
      if (part.scratch.size() < bytes) part.scratch = Buffer(bytes);
    return bytes;
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
    p.scratch_f = need(fpd.scratchpad_desc());
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
    p.scratch_d = need(pd.scratchpad_desc());
    if (weights_d_) return;
    weights_d_ = allocate(pd.weights_desc());
    to_backward_ = reorder(d.plain_w, pd.weights_desc());
  }

  void make_backward_weights(Primitives& p, const Described& d,
                             const dnnl::convolution_forward::primitive_desc& fpd,
                             const dnnl::primitive_attr& attr) {
    memory::desc any = d.any_w;
    any.data.data_type = dnnl_f32;  // gradients of the weights stay fp32
    if (parts_[0].sums) any = parts_[0].sums.get_desc();
    const dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, d.x, any, d.y,
                                                        {g_.sh, g_.sw}, {g_.dh - 1, g_.dw - 1},
                                                        {g_.pt, g_.pl}, {g_.pb, g_.pr});
    const dnnl::convolution_backward_weights::primitive_desc pd(desc, attr, cpu_engine(), fpd);
    usable_ = usable_ && optimised(pd.impl_info_str());
    p.backward_weights = dnnl::convolution_backward_weights(pd);
    p.scratch_w = need(pd.scratchpad_desc());
    if (parts_[0].sums) return;
    for (Part& part : parts_) part.sums = allocate(pd.diff_weights_desc());
    from_gradient_ = reorder(pd.diff_weights_desc(), d.plain_w);
  }

  ConvRequest r_;
  ConvGeometry g_;
  const ElementwiseKernels& kernels_;
  ChannelSums sums_kernel_;
  std::vector<double> sums_;
  std::vector<float> ones_;
  std::vector<Part> parts_;
  memory weights_f_, weights_d_, master_;
  dnnl::reorder to_forward_, to_backward_, from_gradient_;
  std::map<int, Primitives> sizes_;
  std::string implementation_;
  bool usable_ = true;
  size_t memory_ = 0;
};

}  // namespace

std::unique_ptr<ConvKernel> make_onednn_conv(const ConvRequest& request) {
  // The library throws if it has no implementation; that is an answer, not a failure.
  try {
    auto kernel = std::make_unique<OnednnConv>(request);
    if (kernel->usable()) return kernel;
  } catch (const dnnl::error&) {
  }
  return nullptr;
}

}  // namespace radl::engine

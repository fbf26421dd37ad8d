#include "words.hpp"

#include "../../backend.hpp"
#include "../../no_elements.hpp"
#include "../captures.hpp"
#include "../device.hpp"
#include "../pointers.hpp"
#include "../runtime.hpp"
#include "../streams.hpp"

namespace onefold::cuda_backend {

namespace exact = onefold::detail::exact;

exact_conclusion conclusion_of_words(element_type type, form what, bool wide, std::int64_t ddof) noexcept {
  const exact::kind_row& kind = exact::kind_of(what, type);
  exact_conclusion how{};
  how.result = exact::rounding_of(type, what, wide, 1, 0);
  how.ddof = ddof;
  how.kind = kind.number;
  for (int s = 0; s < 2; ++s) how.number[s] = kind.limbs[s];
  onefold::detail::store_empty(type, what, wide, how.of_none);
  return how;
}

void conclude_exact_words(const executor& where, const onefold::detail::exact_words& of, void* output) {
  const int device = where.device();
  properties_of(device);
  const device_scope current(device);
  refuse_foreign_stream(where, current);
  refuse_unusable_stream(where);
  exact_conclusion how = conclusion_of_words(of.type, of.what, of.wide, of.ddof);
  const bool is_joint = of.states == 2 && exact::is_of_both_parts(of.what);
  const cudaStream_t stream = stream_of(device, where.has_stream(), where.stream());
  const void* words = device_view_in_graph(of.words, "state", device, current, stream);
  device::destination to{};
  to.bytes = static_cast<int>(is_joint ? 3 * how.result.to.bytes : result_bytes(of.type, of.what, of.wide));
  to.output = device_view(output, "result", device, current);

  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(is_joint ? 1 : of.states));
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = code_capability(device) >= 90 ? 1 : 0;
  void* arguments[] = {&how, &words, &to};
  unsigned long long* launches = nullptr;
  void* of_moments[] = {&how, &words, &launches, &to};
  check(calls().launch_kernel(&config, is_joint ? exact_complex_moments_kernel() : exact_conclusion_kernel(),
                              is_joint ? of_moments : arguments),
        "cudaLaunchKernelExC");
}

void add_exact_words(const executor& where, const std::int64_t* words, std::size_t states, std::size_t of_each,
                     std::int64_t* sums) {
  const int device = where.device();
  const device_scope current(device);
  const void* all = device_view(words, "words", device, current);
  void* to = device_view(sums, "sums", device, current);
  auto number = static_cast<int>(states);
  auto each = static_cast<int>(of_each);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(256);
  config.stream = stream_of(device, where.has_stream(), where.stream());
  void* arguments[] = {&all, &number, &each, &to};
  check(calls().launch_kernel(&config, exact_addition_kernel(), arguments), "cudaLaunchKernelExC");
}

}  // namespace onefold::cuda_backend

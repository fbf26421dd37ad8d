/// @file collect.cu  The end of two finishes, for each type and operator once: the kernel that hands an accumulator over, and the combination
/// of block values on the host.

#include <iterator>

#include "building_blocks/grid.cuh"
#include "passes.hpp"

namespace onefold::cuda_backend {

namespace {

template <class T, class Op>
__global__ void collect(T* accumulator, T* result) {
  wait_for_previous_kernel();
  *result = canonical(*accumulator);
  *accumulator = Op::template neutral<T>();
}

template <class T, class Op>
void combine_on_host(const void* values, std::int64_t count, void* result) {
  T value = Op::template neutral<T>();
  for (std::int64_t i = 0; i < count; ++i) value = Op::combine(value, static_cast<const T*>(values)[i]);
  *static_cast<T*>(result) = canonical(value);
}

struct end_of_pass {
  const void* collect = nullptr;
  host_combination combine = nullptr;
};

template <class T, class Op>
end_of_pass end_of() {
  return {reinterpret_cast<const void*>(&collect<T, Op>), &combine_on_host<T, Op>};
}

end_of_pass end_of(element_type type, operation op) {
  switch (type) {
#define ONEFOLD_TYPE(name, T)                                                                                            \
  case element_type::name: {                                                                                             \
    const end_of_pass all[] = {end_of<T, op::sum>(), end_of<T, op::prod>(), end_of<T, op::min>(), end_of<T, op::max>()}; \
    static_assert(std::size(all) == operation_count);                                                                    \
    return all[static_cast<int>(op)];                                                                                    \
  }
#include <onefold/types.def>
    default:
      return {};  // no variant reduces it
  }
}

}  // namespace

const void* collect_kernel(element_type type, operation op) { return end_of(type, op).collect; }
host_combination combination_on_host(element_type type, operation op) { return end_of(type, op).combine; }

}  // namespace onefold::cuda_backend

#pragma once
/// @file own_subtree.hpp  A subtree of a reduction in code of the caller's: what states of ranges ask for, on either side of the compiled library.

#include <cstdint>

#include <onefold/detail/request.hpp>
#include <onefold/detail/unit.hpp>

namespace onefold {
namespace detail {
ONEFOLD_BEGIN_ARITHMETIC

/// Code of the caller's from a later element on, of which the tree's value alone is wanted.
class own_subtree {
 public:
  own_subtree(const own_code& of, std::uint64_t from) noexcept : code_(of), of_(of), from_(from) {
    code_.context = this;
    code_.groups = [](void* context, std::uint64_t first, std::uint64_t count, void* states) {
      const auto& own = *static_cast<const own_subtree*>(context);
      return own.of_.groups(own.of_.context, own.from_ + first, count, states);
    };
    code_.level = [](void* context, void* states, std::uint64_t count) {
      const auto& own = *static_cast<const own_subtree*>(context);
      return own.of_.level(own.of_.context, states, count);
    };
    code_.conclude = [](void*, const void*, std::uint64_t, void*) { return 0; };
  }
  own_subtree(const own_subtree&) = delete;
  own_subtree& operator=(const own_subtree&) = delete;
  [[nodiscard]] const own_code* code() const noexcept { return &code_; }

 private:
  own_code code_;
  const own_code& of_;
  std::uint64_t from_;
};

ONEFOLD_END_ARITHMETIC
}  // namespace detail
}  // namespace onefold

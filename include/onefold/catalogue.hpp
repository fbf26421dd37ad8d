#pragma once
/// @file catalogue.hpp  The variants: list them, find one by name, ask why one cannot run here.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <onefold/detail/standard.hpp>
#if ONEFOLD_CXX20
#include <ranges>
#endif

#include <onefold/detail/exact_kinds.hpp>
#include <onefold/executor.hpp>
#include <onefold/types.hpp>

namespace onefold {

/// Elements side by side that live elsewhere, as std::span<const T>, which C++17 has not and to which it converts.
template <class T>
class view {
 public:
  constexpr view() noexcept = default;
  constexpr view(const T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// Of all that has data() and size(): std::span, std::array, std::vector.
  template <class R, class = std::enable_if_t<!std::is_same_v<R, view> &&
                                              std::is_convertible_v<decltype(std::declval<const R&>().data()), const T*>>>
  constexpr view(const R& from) noexcept : data_(from.data()), size_(from.size()) {}

  [[nodiscard]] constexpr const T* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr const T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] constexpr const T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  [[nodiscard]] constexpr const T& front() const noexcept { return data_[0]; }
  [[nodiscard]] constexpr const T& back() const noexcept { return data_[size_ - 1]; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// One row of the catalogue. All texts live as long as the program.
struct variant_info {
  std::string_view name;     ///< the one name: file, key, test, performance row
  std::string_view seed;     ///< the lecture it comes from, or "beyond", "peer", "reference"
  std::string_view summary;  ///< its idea in a line
  onefold::backend backend;  ///< cuda, or serial for those of the CPU backends serial and openmp
  bool built;                ///< compiled into this library; the fields below are only known when it is
  onefold::guarantee guarantee = onefold::guarantee::none;
  onefold::finish default_finish = onefold::finish::none;
  view<onefold::finish> finishes = {};  ///< empty where there is nothing to finish
  int default_block_size = 0;           ///< threads; 0 where the variant chooses it by the count
  view<int> block_sizes = {};           ///< threads; empty where the size cannot be chosen
  bool grid_size_free = false;          ///< whether grid_size may be chosen
  int default_width = 0;
  view<int> widths = {};  ///< the variant's own parameter; empty where it has none
  std::string_view width_meaning = {};
  int min_compute_capability = 0;  ///< 10 * major + minor; 0 on the CPU
  std::string_view limits = {};    ///< types and operators it refuses, and why; empty when it takes all
  /// Whether it takes every form of every type that the form has, f32 accumulated in f64, functions of the index and operators of the caller's. One that does not
  /// reduces elements as they are.
  bool takes_everything = false;
  std::uint8_t operators[element_type_count] = {};  ///< of each type, bit i: operator i; see supports()

  /// Whether the variant takes this element type with this form.
  [[nodiscard]] constexpr bool supports(element_type type, form what) const noexcept {
    if (!takes_type(what, type)) return false;
    if (takes_everything) return true;
    if (is_complex(type)) return false;
    if (guarantee == onefold::guarantee::exact) return detail::exact::has_state(what, type);
    return is_plain(what) && (operators[static_cast<int>(type)] >> static_cast<int>(what) & 1) != 0;
  }
  /// Whether the variant takes this element type with this operator.
  [[nodiscard]] constexpr bool supports(element_type type, operation op) const noexcept { return supports(type, form_of(op)); }
};

namespace detail {

// The library's rows with C++'s types. In memory that is there from the start: whoever looks a name up is promised that nothing is thrown.
struct catalogue_rows {
  static constexpr std::size_t most = 128;
  variant_info all[most] = {};
  std::size_t count = 0;
  std::size_t on_cpu = 0;  // which come first

  catalogue_rows() noexcept {
    for (; count < most; ++count) {
      const onefold_variant_info* const row = onefold_variant(count);
      if (row == nullptr) break;
      variant_info& to = all[count];
      to.name = row->name;
      to.seed = row->seed;
      to.summary = row->summary;
      to.backend = static_cast<backend>(row->backend);
      to.built = row->built != 0;
      to.guarantee = static_cast<guarantee>(row->guarantee - ONEFOLD_GUARANTEE_NONE);
      to.default_finish = static_cast<finish>(row->default_finish);
      to.finishes = {reinterpret_cast<const finish*>(row->finishes), row->finish_count};
      to.default_block_size = row->default_block_size;
      to.block_sizes = {row->block_sizes, row->block_size_count};
      to.grid_size_free = row->grid_size_free != 0;
      to.default_width = row->default_width;
      to.widths = {row->widths, row->width_count};
      to.width_meaning = row->width_meaning;
      to.min_compute_capability = row->min_compute_capability;
      to.limits = row->limits;
      to.takes_everything = row->takes_everything != 0;
      for (int type = 0; type < element_type_count; ++type) to.operators[type] = row->operators[type];
      if (to.backend != backend::cuda) on_cpu = count + 1;
    }
  }
};

inline const catalogue_rows& rows_of_the_library() noexcept {
  static const catalogue_rows rows;
  return rows;
}

inline const variant_info* find_in(view<variant_info> rows, std::string_view name) noexcept {
  for (const variant_info& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace detail

/// Every variant of every backend, in learning order; those of a backend that is not built are listed too.
[[nodiscard]] inline view<variant_info> variants() noexcept {
  const auto& rows = detail::rows_of_the_library();
  return {rows.all, rows.count};
}

/// The variants of one backend; serial and openmp share theirs.
[[nodiscard]] inline view<variant_info> variants(backend where) noexcept {
  const auto& rows = detail::rows_of_the_library();
  if (where == backend::cuda) return {rows.all + rows.on_cpu, rows.count - rows.on_cpu};
  return {rows.all, rows.on_cpu};
}

/// The variant with this name that is native to a backend, or null. `fixed_order` is native to every backend.
[[nodiscard]] inline const variant_info* find_variant(std::string_view name, backend where) noexcept {
  return detail::find_in(variants(where), name);
}

/// The first variant with this name in the order of variants(), or null.
[[nodiscard]] inline const variant_info* find_variant(std::string_view name) noexcept { return detail::find_in(variants(), name); }

/// The sentence that says why the variant cannot run natively on this executor here, or nothing when it can. Errors:
/// out_of_memory.
[[nodiscard]] inline std::optional<std::string> why_not(const variant_info& variant, const executor& where) {
  return detail::telling_of_lacking_memory([&variant, &where]() -> std::optional<std::string> {
    char sentence[1024];
    detail::check_status(onefold_why_not(std::string(variant.name).c_str(), static_cast<int>(variant.backend),
                                         detail::c_executor(where), sentence, sizeof(sentence)));
    if (sentence[0] == '\0') return std::nullopt;
    return std::string(sentence);
  });
}

}  // namespace onefold

#if ONEFOLD_CXX20
template <class T>
inline constexpr bool std::ranges::enable_view<onefold::view<T>> = true;
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<onefold::view<T>> = true;
#endif

#include <onefold/types.hpp>

#include <array>

namespace onefold {

namespace {

constexpr std::array<std::string_view, element_type_count> type_names{
#define ONEFOLD_TYPE(name, type) #name,
#include <onefold/types.def>
#undef ONEFOLD_TYPE
};
constexpr std::array<std::string_view, operation_count> operation_names{
#define ONEFOLD_OP(name) #name,
#include <onefold/ops.def>
#undef ONEFOLD_OP
};
constexpr std::array<std::string_view, form_count + record_count> form_names{
#define ONEFOLD_FORM(name, op) #name,
#include <onefold/forms.def>
#undef ONEFOLD_FORM
#define ONEFOLD_RECORD(name) #name,
#include <onefold/records.def>
#undef ONEFOLD_RECORD
};
constexpr std::array<std::string_view, backend_count> backend_names{"serial", "openmp", "cuda"};
constexpr std::array<std::string_view, finish_count> finish_names{"automatic", "none",       "atomic",     "host",
                                                                  "relaunch",  "last_block", "cooperative"};
constexpr std::array<std::string_view, 3> guarantee_names{"none", "fixed", "exact"};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& names, std::string_view text) noexcept {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

template <class Enum, std::size_t N>
std::string_view at(const std::array<std::string_view, N>& names, Enum value) noexcept {
  const auto i = static_cast<std::size_t>(value);
  return i < N ? names[i] : std::string_view("unknown");
}

}  // namespace

std::string_view name(element_type type) noexcept { return at(type_names, type); }
std::string_view name(operation op) noexcept { return at(operation_names, op); }
std::string_view name(form what) noexcept { return at(form_names, what); }
std::string_view name(backend where) noexcept { return at(backend_names, where); }
std::string_view name(finish how) noexcept { return at(finish_names, how); }
std::string_view name(guarantee promise) noexcept { return at(guarantee_names, promise); }

template <>
std::optional<element_type> parse(std::string_view text) noexcept {
  return find<element_type>(type_names, text);
}
template <>
std::optional<operation> parse(std::string_view text) noexcept {
  return find<operation>(operation_names, text);
}
template <>
std::optional<form> parse(std::string_view text) noexcept {
  return find<form>(form_names, text);
}
template <>
std::optional<backend> parse(std::string_view text) noexcept {
  return find<backend>(backend_names, text);
}
template <>
std::optional<finish> parse(std::string_view text) noexcept {
  return find<finish>(finish_names, text);
}
template <>
std::optional<guarantee> parse(std::string_view text) noexcept {
  return find<guarantee>(guarantee_names, text);
}

}  // namespace onefold

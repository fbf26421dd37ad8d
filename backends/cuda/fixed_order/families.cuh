#pragma once
/// @file families.cuh  Makes the rows of the folds that are read in packs from any boundary: of small elements, and those of others that few ask for. What
/// has the same combination shares a kernel.

#include "fold_entry.cuh"
#include "packed.hpp"

namespace onefold::cuda_backend {

namespace detail {

template <class... Fold>
struct fold_list {};

// A list with one more, unless it has it.
template <class List, class Fold>
struct with_one;
template <class... Have, class Fold>
struct with_one<fold_list<Have...>, Fold> {
  using type = std::conditional_t<(std::is_same_v<Have, Fold> || ...), fold_list<Have...>, fold_list<Have..., Fold>>;
};

// The folds of these forms on a type.
template <class List, element_type Type, bool Wide, form... What>
struct with_forms {
  using type = List;
};
template <class List, element_type Type, bool Wide, form First, form... Others>
struct with_forms<List, Type, Wide, First, Others...> {
  static constexpr auto extended() noexcept {
    if constexpr (is_packed(Type, First, Wide))
      return
          typename with_one<List, onefold::detail::form_fold_t<First, typename onefold::detail::c_type<Type>::type, Wide>>::type{};
    else
      return List{};
  }
  using type = typename with_forms<decltype(extended()), Type, Wide, Others...>::type;
};

// .. and on all types from number `Type` on.
template <class List, int Type, form... What>
struct with_types {
  static constexpr auto its = static_cast<element_type>(Type);
  using narrow = typename with_forms<List, its, false, What...>::type;
  using type = typename with_types<typename with_forms<narrow, its, true, What...>::type, Type + 1, What...>::type;
};
template <class List, form... What>
struct with_types<List, element_type_count, What...> {
  using type = List;
};

// The family of those in a list that combine as `Fold` does.
template <class Fold, class Family, class List>
struct family_in;
template <class Fold, class C, class... Members>
struct family_in<Fold, device::fold_family<C, Members...>, fold_list<>> {
  using type = device::fold_family<C, Members...>;
};
template <class Fold, class C, class... Members, class First, class... Others>
struct family_in<Fold, device::fold_family<C, Members...>, fold_list<First, Others...>> {
  using next = std::conditional_t<std::is_same_v<device::combination_of<First>, C>, device::fold_family<C, Members..., First>,
                                  device::fold_family<C, Members...>>;
  using type = typename family_in<Fold, next, fold_list<Others...>>::type;
};

template <class Fold, class C, class... Members>
constexpr int member_number(const device::fold_family<C, Members...>*) noexcept {
  int number = 0;
  bool found = false;
  ((found = found || std::is_same_v<Members, Fold>, number += found ? 0 : 1), ...);
  return number;
}

template <class Family>
const onefold::detail::device_kernels& kernels_of_family() {
  using onefold::detail::device_kernels;
  static onefold::detail::device_kernels_known known[device_kernels::known_devices];
  static const device_kernels kernels = [&] {
    constexpr int which = static_cast<int>(onefold::detail::device_kernel::single);  // that of arrays which may begin anywhere
    device_kernels made{};
    made.symbol[which] = reinterpret_cast<const void*>(device::fixed_order_kernel<Family, device::reading::packed>);
    made.log_tiles[which] = device::packed_tiles<Family>::log_tiles;
    made.known = known;
    return made;
  }();
  return kernels;
}

template <class Fold, class List>
const onefold::detail::device_fold& packed_row_of_fold() {
  using family = typename family_in<Fold, device::fold_family<device::combination_of<Fold>>, List>::type;
  static const family object{{}, member_number<Fold>(static_cast<const family*>(nullptr))};
  return row_with<Fold>(kernels_of_family<family>(), false, &object);
}

}  // namespace detail

/// The row of the fold of one of the forms `What`.
template <form... What>
const onefold::detail::device_fold& packed_row(element_type type, form what, bool wide) {
  using all = typename detail::with_types<detail::fold_list<>, 0, What...>::type;
  const onefold::detail::device_fold* found = nullptr;
  const auto look = [&]<element_type Type, form Its, bool Wide>() {
    if constexpr (is_packed(Type, Its, Wide))
      if (type == Type && what == Its && wide == Wide)
        found = &detail::packed_row_of_fold<onefold::detail::form_fold_t<Its, typename onefold::detail::c_type<Type>::type, Wide>,
                                            all>();
  };
#define ONEFOLD_TYPE(name, T)                                         \
  (look.template operator()<element_type::name, What, false>(), ...); \
  (look.template operator()<element_type::name, What, true>(), ...);
#define ONEFOLD_SMALL_TYPE ONEFOLD_TYPE
#include <onefold/types.def>
  return *found;
}

}  // namespace onefold::cuda_backend

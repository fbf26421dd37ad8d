#include "choices.hpp"

#include <algorithm>
#include <span>
#include <string>

#include <onefold/error.hpp>

#include "policy.hpp"

namespace onefold::cuda_backend {

namespace {

template <class Value, class Text>
std::string choices(std::span<const Value> values, Text text) {
  std::string list;
  for (std::size_t i = 0; i < values.size(); ++i) list += (i == 0 ? "" : i + 1 == values.size() ? " or " : ", ") + text(values[i]);
  return list;
}

// The caller's number, or the variant's own where the caller left it alone; refused when it is not one of the variant's.
int choose_number(const variant_info& variant, const char* option, int wanted, int own, std::span<const int> allowed) {
  if (wanted == 0) return own;
  if (std::ranges::find(allowed, wanted) != allowed.end()) return wanted;
  if (allowed.empty()) refuse(variant, std::string("has no ") + option + " to choose");
  refuse(variant, std::string("takes a ") + option + " of " + choices(allowed, [](int value) { return std::to_string(value); }) +
                      ", not " + std::to_string(wanted));
}

finish choose_finish(const variant_info& variant, finish wanted, bool waits) {
  const auto as_text = [](finish how) { return std::string(name(how)); };
  if (wanted == finish::automatic) {
    // A call that does not wait for the host cannot have the host finish; the next best of the variant's is taken.
    if (variant.default_finish != finish::host || waits) return variant.default_finish;
    const auto other = std::ranges::find_if(variant.finishes, [](finish how) { return how != finish::host; });
    if (other == variant.finishes.end())
      refuse(variant, "finishes on the host, which the *_into calls must not wait for: use the call that returns the value");
    return *other;
  }
  if (std::ranges::find(variant.finishes, wanted) == variant.finishes.end())
    refuse(variant, "cannot finish with " + as_text(wanted) +
                        (variant.finishes.empty() ? ": it leaves no block partials"
                                                  : ": it takes " + choices<finish>(variant.finishes, as_text)));
  if (wanted == finish::host && !waits)
    refuse(variant,
           "cannot finish on the host here: the *_into calls must not wait for the host; use the call that returns the value");
  return wanted;
}

}  // namespace

void refuse(const variant_info& variant, const std::string& what) {
  throw error(errc::unsupported, std::string(variant.name) + " " + what);
}

launch_choices choose_launch(const onefold::detail::request& what, const options& how, const variant_info& variant,
                             const variant_row& row, const device_properties& gpu) {
  const entry_point entry = row.run_everything != nullptr
                                ? row.run_everything
                                : row.run[static_cast<int>(what.type)][static_cast<int>(operation_of(what.form))];
  if (what.device != nullptr && row.run_everything == nullptr)
    refuse(variant, "takes no folds of the caller's: leave its name away");
  if (how.grid_size != 0 && !variant.grid_size_free)
    refuse(variant, "chooses its grid from the number of elements: leave grid_size alone");
  if (how.grid_size > row.what.most_grid_size)
    refuse(variant, "takes a grid_size of at most " + std::to_string(row.what.most_grid_size));
  const launch_policy& policy = policy_in_force(gpu);
  const variant_policy& of_variant = choices_of(policy, variant.name);
  return {entry,
          policy,
          of_variant,
          choose_number(variant, "block_size", how.block_size, of_variant.block_size, variant.block_sizes),
          choose_number(variant, "width", how.width, variant.default_width, variant.widths),
          choose_finish(variant, how.finish, what.waits)};
}

}  // namespace onefold::cuda_backend

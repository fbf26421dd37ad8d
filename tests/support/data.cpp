#include "data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "oracle.hpp"

namespace onefold_test {

namespace {

template <class T>
constexpr int significand_bits = std::numeric_limits<T>::digits;

template <class T>
void fill_exact_sum(std::span<T> out, const random_numbers& random) {
  if constexpr (std::is_integral_v<T>) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(random.at(i) | 1);
  } else {
    // Every partial sum of any order is at most count * most, and must stay below 2^24 (2^53).
    const double room = std::ldexp(1.0, significand_bits<T>) / static_cast<double>(std::max<std::size_t>(out.size(), 1));
    const auto most = static_cast<std::uint64_t>(std::clamp(room, 1.0, 8.0));
    // Beyond 2^24 elements of f32 some must be zeros: the share of the others keeps a margin of a quarter.
    const double share = std::min(1.0, 0.75 * room);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::uint64_t bits = random.at(i);
      const bool kept = room >= 1 || static_cast<double>(bits >> 40) * 0x1p-24 < share;
      const auto size = static_cast<T>(1 + (bits >> 8) % most);
      out[i] = !kept ? T(0) : (bits & 1) != 0 ? size : -size;
    }
  }
}

template <class T>
void fill_exact_prod(std::span<T> out, const random_numbers& random) {
  if constexpr (std::is_integral_v<T>) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(random.at(i) | 3);  // odd, and never 1
  } else {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = (random.at(i) & 1) != 0 ? T(1) : T(-1);
    // A hundred factors would stay in the range of a float even if all were the same and met first.
    random_numbers places(random.at(out.size()));
    for (std::size_t k = 0; k < std::min<std::size_t>(100, out.size() / 4); ++k)
      out[places.below(out.size())] *= (k % 2 == 0 ? T(2) : T(0.5));
  }
}

template <class T>
void fill_falling(std::span<T> out, operation op) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    // Floats: whole numbers below 2^24, each exact. Unsigned: around the middle of the range, so that both winners are free.
    const auto step = static_cast<std::int64_t>(i);
    const std::int64_t from = std::is_unsigned_v<T> ? std::int64_t{1} << 30 : 0;
    out[i] = static_cast<T>(op == operation::min ? from - step : from + step);
  }
}

// A finite float of exponent `exponent`, random otherwise.
template <class T>
T with_exponent(std::uint64_t bits, int exponent) {
  const T size = std::ldexp(T(1) + static_cast<T>(bits >> 40) * T(0x1p-24), exponent);
  return (bits & 1) != 0 ? size : -size;
}

template <class T>
void shuffle(std::span<T> values, random_numbers& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

template <class T>
void fill_hard_sum(std::span<T> out, hardship kind, random_numbers& random) {
  const auto count = static_cast<double>(out.size());
  const int largest =
      std::numeric_limits<T>::max_exponent - 2 - static_cast<int>(std::ceil(std::log2(count)));  // no order overflows
  const int smallest = std::numeric_limits<T>::min_exponent;
  switch (kind) {
    case hardship::cancelling:
      for (std::size_t i = 0; i + 1 < out.size(); i += 2) {
        out[i] = with_exponent<T>(random(), static_cast<int>(random.below(20)));
        out[i + 1] = -out[i];
      }
      out[out.size() - 1] = T(1.25);
      return shuffle(out, random);
    case hardship::ill_conditioned: {
      for (auto& x : out) x = with_exponent<T>(random(), static_cast<int>(random.below(40)) - 20);
      // The rounded sum of the others, taken away: what is left is a few units in the last place.
      long double sum = 0;
      for (std::size_t i = 0; i + 1 < out.size(); ++i) sum += out[i];
      out[out.size() - 1] = static_cast<T>(-sum);
      return shuffle(out, random);
    }
    case hardship::full_range:
      for (auto& x : out)
        x = with_exponent<T>(random(), smallest + static_cast<int>(random.below(static_cast<std::uint64_t>(largest - smallest))));
      return;
    case hardship::growing:
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double place = static_cast<double>(i) / count;
        out[i] = static_cast<T>(std::exp2(-20 + 40 * place) * (1 + random.unit()));
      }
      return;
    case hardship::one_huge:
      for (auto& x : out) x = static_cast<T>(1 + random.unit());
      out[random.below(out.size())] = std::ldexp(T(1), significand_bits<T> + 10);
      return;
  }
}

}  // namespace

std::uint64_t environment_seed() {
  static const std::uint64_t seed = [] {
    const char* text = std::getenv("ONEFOLD_SEED");
    return text == nullptr ? std::uint64_t{0} : std::uint64_t{std::strtoull(text, nullptr, 0)};
  }();
  return seed;
}

std::uint64_t seed_of(std::string_view test_name) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : test_name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash ^ environment_seed();
}

elements exact_data(element_type type, operation op, std::size_t count, std::uint64_t seed) {
  elements data(type, count);
  const random_numbers random(seed);
  with_type(type, [&]<class T> {
    switch (op) {
      case operation::sum:
        return fill_exact_sum(data.as<T>(), random);
      case operation::prod:
        return fill_exact_prod(data.as<T>(), random);
      case operation::min:
      case operation::max:
        return fill_falling(data.as<T>(), op);
    }
  });
  return data;
}

std::string_view name(hardship kind) {
  switch (kind) {
    case hardship::cancelling:
      return "cancelling";
    case hardship::ill_conditioned:
      return "ill-conditioned";
    case hardship::full_range:
      return "full exponent range";
    case hardship::growing:
      return "growing";
    case hardship::one_huge:
      return "one huge";
  }
  return "";
}

elements hard_sum(element_type type, hardship kind, std::size_t count, std::uint64_t seed) {
  elements data(type, count);
  random_numbers random(seed);
  if (type == element_type::f32)
    fill_hard_sum(data.as<float>(), kind, random);
  else
    fill_hard_sum(data.as<double>(), kind, random);
  return data;
}

elements factors_near_one(element_type type, std::size_t count, std::uint64_t seed) {
  elements data(type, count);
  random_numbers random(seed);
  const double spread = std::min(0.5, 40.0 / static_cast<double>(count));  // |log2| of any partial product is below 60
  const auto fill = [&]<class T>(std::span<T> out) {
    for (auto& x : out) x = static_cast<T>((random() & 1) != 0 ? 1 + spread * random.unit() : -1 + spread * random.unit());
  };
  type == element_type::f32 ? fill(data.as<float>()) : fill(data.as<double>());
  return data;
}

elements any_values(element_type type, std::size_t count, std::uint64_t seed) {
  elements data(type, count);
  const random_numbers random(seed);
  with_type(type, [&]<class T> {
    const auto out = data.as<T>();
    for (std::size_t i = 0; i < count; ++i) {
      scalar value{type, random.at(i)};
      if constexpr (std::is_floating_point_v<T>) {
        // An exponent of all ones would be an infinity or a NaN: take its lowest bit away.
        const std::uint64_t lowest_exponent_bit = std::uint64_t{1} << (significand_bits<T> - 1);
        if (!std::isfinite(value_of<T>(value))) value.bits ^= lowest_exponent_bit;
      }
      out[i] = value_of<T>(value);
    }
  });
  return data;
}

scalar poison(element_type type, operation op) {
  return with_type(type, [&]<class T> {
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>) return scalar_of(limits::quiet_NaN());
    switch (op) {
      case operation::sum:
        return scalar_of(static_cast<T>(0x5bd1e995));
      case operation::prod:
        return scalar_of(static_cast<T>(0x5bd1e995));
      case operation::min:
        return scalar_of(limits::lowest());
      case operation::max:
        return scalar_of(limits::max());
    }
    return scalar{};
  });
}

scalar winner(element_type type, operation op) {
  return with_type(type, [&]<class T> {
    using limits = std::numeric_limits<T>;
    return scalar_of(op == operation::min ? limits::lowest() : limits::max());
  });
}

}  // namespace onefold_test

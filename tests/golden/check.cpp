/// @file check.cpp  Two checks for builds without the tool, of which it takes a tenth: the golden tables on serial(), as `onefold check` does, and
/// every kind of reduction that they name on three threads. Of the tables' own rows only those of 256 KiB and more go to several threads.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include <onefold/onefold.hpp>

#include "golden.hpp"

namespace {

using onefold::tool::golden_row, onefold::tool::golden_table, onefold::tool::result_bits;

// What stands for a row in a message.
void print(const golden_row& row) {
  const std::string_view type = name(row.type), form = name(row.form);
  std::printf("%.*s of %s%.*s%s, \"%.*s\", seed %llu, count %llu", static_cast<int>(form.size()), form.data(),
              row.exact ? "exact " : "", static_cast<int>(type.size()), type.data(), row.wide ? ", wide" : "",
              static_cast<int>(row.data.size()), row.data.data(), static_cast<unsigned long long>(row.seed),
              static_cast<unsigned long long>(row.count));
}

bool check_golden() {
  const auto outcome = compare(golden_table(), onefold::serial());
  for (const auto& difference : outcome.differences) {
    print(difference.row);
    std::printf(": behind boundaries by %zu and %zu elements, first result %#llx instead of %#llx %s\n", difference.offset_x,
                difference.offset_y, static_cast<unsigned long long>(difference.got[0]),
                static_cast<unsigned long long>(difference.row.bits[0]), difference.error.c_str());
  }
  std::printf("golden: %zu of %zu rows, %zu cases\n", outcome.agreeing_rows, outcome.rows, outcome.cases);
  return outcome.rows != 0 && outcome.differences.empty();
}

std::vector<std::byte> elements(onefold::element_type type, std::string_view family, std::uint64_t seed, std::uint64_t count) {
  const std::size_t size = size_of(is_complex(type) ? part_type(type) : type);
  const auto bits = onefold::tool::golden_data(type, family, seed, count);
  std::vector<std::byte> all(bits.size() * size);
  for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(&all[i * size], &bits[i], size);
  return all;
}

// Each kind of row on three threads, which get 128 KiB and 16384 elements each and more, with the bits of serial(). "blank", zeros alone, is
// read to the end by those forms too that stop early elsewhere.
bool check_threads() {
  constexpr int threads = 3;
  constexpr std::uint64_t bytes = (std::uint64_t{threads} * 256 + 24) * 1024;
  bool same = true;
  int reductions = 0, on_all = 0;
  std::set<onefold::element_type> types;
  for (const golden_row& row : golden_table()) types.insert(row.type);
  for (const std::string_view family : {"uniform", "blank"})
    for (const onefold::element_type type : types) {
      const std::uint64_t count = bytes / size_of(type) + 77;
      const auto x = elements(type, family, 1, count), y = elements(type, family, 2, count);
      std::set<std::tuple<onefold::form, bool, bool>> done;
      for (golden_row row : golden_table()) {
        if (row.type != type || !done.insert({row.form, row.wide, row.exact}).second) continue;
        const onefold::tool::form_request request{
            type, row.form, row.wide, x.data(), row.form == onefold::form::dot ? y.data() : nullptr, count, row.ddof};
        onefold::report ran;
        const onefold::options how{.guarantee = row.exact ? onefold::guarantee::exact : onefold::guarantee::fixed, .report = &ran};
        const result_bits alone = reduce_bits(onefold::serial(), request, how),
                          together = reduce_bits(onefold::openmp(threads), request, how);
        ++reductions;
        if (ran.threads == threads) ++on_all;
        if (alone == together) continue;
        same = false;
        row.data = family, row.seed = 1, row.count = count;
        print(row);
        std::printf(": first result %#llx on %d threads, %#llx on one\n", static_cast<unsigned long long>(together[0]), threads,
                    static_cast<unsigned long long>(alone[0]));
      }
    }
  std::printf("threads: %d reductions, %d of them on %d threads, %s\n", reductions, on_all, threads,
              same ? "as on one" : "with differences");
  return same && reductions != 0 && on_all == reductions;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "golden") return check_golden() ? 0 : 1;
  if (what == "threads") return check_threads() ? 0 : 1;
  std::fputs("usage: onefold_golden_check golden|threads\n", stderr);
  return 2;
}

#include "trial.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <sstream>

#include "data.hpp"

namespace onefold_test {

namespace {

std::string (*repeat)() = [] { return std::string("(unknown)"); };

// Calls that came back, by executor.
struct counters {
  std::mutex lock;
  std::map<std::string, std::uint64_t, std::less<>> by_label;
  std::atomic<std::uint64_t> all{0};
};
counters& counted() {
  static counters all;
  return all;
}

std::string label_of(const onefold::executor& where) {
  if (where.chooses_itself()) return "best";
  switch (where.backend()) {
    case onefold::backend::serial:
      return "serial";
    case onefold::backend::openmp:
      return where.threads() == 0 ? "openmp_all" : "openmp" + std::to_string(where.threads());
    case onefold::backend::cuda:
      return "cuda";
  }
  return "";
}

template <class F>
void with_operator(operation op, F&& f) {
  switch (op) {
#define ONEFOLD_OP(name) \
  case operation::name:  \
    return f(onefold::op::name{});
#include <onefold/ops.def>
#undef ONEFOLD_OP
  }
}

}  // namespace

void count_dispatch(const onefold::executor& where) {
  counted().all.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(counted().lock);
  ++counted().by_label[label_of(where)];
}

const std::vector<executor_under_test>& executors() {
  static const std::vector<executor_under_test> all = [] {
    std::vector<executor_under_test> found;
    const auto add = [&](std::string label, const onefold::executor& where) {
      const auto& info = backend_under_test(where.backend());
      if (!info.built) return;
      found.push_back({std::move(label), where, info.usable ? std::nullopt : std::optional(info.detail)});
    };
    add("serial", onefold::serial());
    add("openmp1", onefold::openmp(1));
    add("openmp_all", onefold::openmp());
    add("cuda", onefold::cuda());
    return found;
  }();
  return all;
}

const onefold::backend_info& backend_under_test(onefold::backend where) {
  static const std::vector<onefold::backend_info> all = onefold::backends();
  for (const auto& info : all)
    if (info.where == where) return info;
  std::abort();  // backends() lists every backend, built or not
}

onefold::options trial::options(onefold::report* ran) const {
  onefold::options asked;
  asked.variant = variant;
  asked.finish = how;
  asked.block_size = block_size;
  asked.grid_size = grid_size;
  asked.width = width;
  asked.report = ran;
  return asked;
}

outcome reduce(const trial& one, const void* input, std::uint64_t count, const onefold::report& before) {
  outcome result{{}, before};
  with_type(one.type, [&]<class T> {
    with_operator(one.op, [&](auto op) {
      result.value = scalar_of(onefold::reduce(one.where, static_cast<const T*>(input), count, op, one.options(&result.ran)));
    });
  });
  count_dispatch(one.where);
  return result;
}

onefold::report reduce_into(const trial& one, const void* input, std::uint64_t count, void* output) {
  onefold::report ran;
  with_type(one.type, [&]<class T> {
    with_operator(one.op, [&](auto op) {
      onefold::reduce_into(one.where, static_cast<const T*>(input), count, static_cast<T*>(output), op, one.options(&ran));
    });
  });
  count_dispatch(one.where);
  return ran;
}

std::string describe(const trial& one, std::uint64_t count, const onefold::report& ran, const expectation& expected,
                     const scalar& got) {
  std::ostringstream out;
  out << "  variant   " << ran.variant << ", ran as " << ran.implementation << " on " << text(one.where) << "\n";
  out << "  type      " << onefold::name(one.type) << ", operator " << onefold::name(one.op) << "\n";
  out << "  launch    finish " << onefold::name(ran.finish) << ", block_size " << ran.block_size << ", grid_size " << ran.grid_size
      << ", width " << ran.width << ", launches " << ran.launches << ", threads " << ran.threads << "\n";
  out << "  asked     finish " << onefold::name(one.how) << ", block_size " << one.block_size << ", grid_size " << one.grid_size
      << ", width " << one.width << "\n";
  out << "  count     " << count << "\n";
  out << "  data      " << (one.data.empty() ? "exact" : one.data) << ", seed " << one.seed << "\n";
  out << "  expected  " << text(expected.value) << "\n";
  out << "  got       " << text(got) << "\n";
  out << "  bound     " << bound_text(expected) << "\n";
  out << "  repeat    " << repeat_command();
  return out.str();
}

std::optional<std::string> not_as_asked(const trial& one, std::uint64_t count, const onefold::report& ran) {
  std::ostringstream wrong;
  const auto expect = [&](bool right, const char* field, const auto& got) {
    if (!right) wrong << "  report." << field << " is " << got << "\n";
  };
  const auto* info = native_variant(one.variant, one.where);
  expect(ran.variant == (one.variant.empty() ? "fixed_order" : one.variant), "variant", ran.variant);
  expect(info != nullptr, "variant", ran.variant);
  expect(ran.backend == one.where.backend(), "backend", onefold::name(ran.backend));
  if (info != nullptr) expect(ran.guarantee == info->guarantee, "guarantee", onefold::name(ran.guarantee));
  if (ran.backend != onefold::backend::cuda) {
    const bool fixed = info != nullptr && info->guarantee >= onefold::guarantee::fixed;
    const int asked = one.where.backend() == onefold::backend::serial ? 1 : one.where.threads();
    const int most = backend_under_test(one.where.backend()).threads;
    if (fixed) {  // the instruction set is the machine's, and fewer threads may do
      expect(ran.implementation.starts_with(std::string(info->name) + "/"), "implementation", ran.implementation);
      expect(ran.threads >= 1 && ran.threads <= (asked == 0 ? most : asked), "threads", ran.threads);
    } else {
      expect(ran.implementation == "Kokkos::parallel_reduce", "implementation", ran.implementation);
      expect(asked == 0 ? ran.threads >= 1 && ran.threads <= most : ran.threads == asked, "threads", ran.threads);
    }
    expect(ran.finish == onefold::finish::none, "finish", onefold::name(ran.finish));
    expect(ran.device == -1, "device", ran.device);
    expect(ran.launches == 0, "launches", ran.launches);
    expect(ran.grid_size == 0 && ran.block_size == 0, "grid_size or block_size", ran.grid_size);
  } else if (info != nullptr) {
    const bool own_launches = info->seed != "peer";  // a peer starts its own kernels and does not say how
    expect(ran.implementation == ran.variant, "implementation", ran.implementation);
    expect(ran.device == one.where.device(), "device", ran.device);
    expect(ran.threads == 0, "threads", ran.threads);
    expect(ran.finish != onefold::finish::automatic, "finish", onefold::name(ran.finish));
    if (one.how != onefold::finish::automatic) expect(ran.finish == one.how, "finish", onefold::name(ran.finish));
    expect(ran.width == (one.width != 0 ? one.width : info->default_width), "width", ran.width);
    if (one.block_size != 0) expect(ran.block_size == one.block_size, "block_size", ran.block_size);
    if (one.grid_size != 0 && count > 0) expect(ran.grid_size == one.grid_size, "grid_size", ran.grid_size);
    if (count > 0 && own_launches) expect(ran.launches >= 1 && ran.grid_size >= 1, "launches", ran.launches);
  }
  if (wrong.str().empty()) return std::nullopt;
  wrong << "  asked: variant " << one.variant << ", finish " << onefold::name(one.how) << ", block_size " << one.block_size
        << ", grid_size " << one.grid_size << ", width " << one.width << " of " << onefold::name(one.type) << " "
        << onefold::name(one.op) << " for " << count << " elements on " << text(one.where) << "\n  repeat: " << repeat_command();
  return "ran otherwise than asked:\n" + wrong.str();
}

const onefold::variant_info* native_variant(std::string_view name, const onefold::executor& where) {
  const auto backend = where.chooses_itself() ? onefold::backend::serial : where.backend();
  if (name.empty()) return onefold::find_variant("fixed_order", backend);
  const auto* own = onefold::find_variant(name, backend);
  const bool of_the_gpu = onefold::find_variant(name, onefold::backend::cuda) != nullptr;
  if (own != nullptr || backend == onefold::backend::cuda || !of_the_gpu) return own;
  return onefold::find_variant("parallel_reduce", backend);
}

void set_repeat_command(std::string (*command)()) { repeat = command; }
std::string repeat_command() { return repeat(); }

std::uint64_t dispatches(std::string_view executor_label) {
  const std::lock_guard lock(counted().lock);
  const auto found = counted().by_label.find(executor_label);
  return found == counted().by_label.end() ? 0 : found->second;
}
std::uint64_t dispatches() { return counted().all.load(); }

std::string text(const onefold::executor& where) {
  if (where.chooses_itself()) return "best()";
  switch (where.backend()) {
    case onefold::backend::serial:
      return "serial()";
    case onefold::backend::openmp:
      return "openmp(" + (where.threads() == 0 ? "" : std::to_string(where.threads())) + ")";
    case onefold::backend::cuda:
      return "cuda(" + std::to_string(where.device()) + (where.has_stream() ? ", stream)" : ")");
  }
  return "";
}

}  // namespace onefold_test

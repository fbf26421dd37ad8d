/// @file onefold_mpi.cpp  onefold_mpi.h: requests of C as the reductions over ranks of mpi.hpp. No part of the library: it is compiled with the MPI of the program
/// that calls it, as C++17 or newer.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

// Without MPI's own C++ bindings, which ask for a library that a program of C or Fortran is not linked with.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif

#define ONEFOLD_MPI_DEFINES_FORMS
#include <onefold/onefold_mpi.h>

#include <onefold/mpi.hpp>

namespace {

using onefold::errc;
using onefold::error;
using onefold::detail::ranks::part;

thread_local char last_error[2048];

int failed(int status, const char* sentence) noexcept {
  const std::size_t bytes = std::min(std::strlen(sentence), sizeof(last_error) - 1);
  std::memcpy(last_error, sentence, bytes);
  last_error[bytes] = '\0';
  return status;
}

template <class Body>
int guarded(const Body& body) noexcept {
  try {
    onefold::detail::telling_of_lacking_memory(body);
    return ONEFOLD_OK;
  } catch (const error& what) {
    return failed(static_cast<int>(what.code()), what.what());
  } catch (const std::exception& what) {
    return failed(ONEFOLD_INVALID_ARGUMENT, what.what());
  }
}

[[noreturn]] void refuse(errc code, const std::string& sentence) { throw error(code, sentence); }
void refuse_null(const void* what, const char* name) {
  if (what == nullptr) refuse(errc::null_pointer, std::string(name) + " is NULL");
}
[[noreturn]] void refuse_member(const char* name, const char* instead) {
  refuse(errc::unsupported, std::string("request.") + name + " is of no use over ranks: " + instead);
}
void check_struct_bytes(std::size_t given, std::size_t here, const char* name) {
  if (given != here)
    refuse(errc::invalid_argument, std::string(name) + ".struct_bytes is " + std::to_string(given) +
                                       ": set it to sizeof, which is " + std::to_string(here) +
                                       " in the onefold.h that onefold_mpi.cpp was compiled with");
}

// Tiles are as long as their elements are large.
onefold::index_range aligned_share(onefold::element_type type, std::uint64_t total, std::uint64_t which,
                                   std::uint64_t shares) noexcept {
  switch (onefold::size_of(onefold::part_type(type))) {
    case sizeof(std::uint8_t):
      return onefold::detail::aligned_share<std::uint8_t>(total, which, shares);
    case sizeof(std::uint16_t):
      return onefold::detail::aligned_share<std::uint16_t>(total, which, shares);
    case sizeof(std::uint32_t):
      return onefold::detail::aligned_share<std::uint32_t>(total, which, shares);
    default:
      return onefold::detail::aligned_share<std::uint64_t>(total, which, shares);
  }
}

bool is_type(std::int32_t type) noexcept { return onefold_tile_elements(type, ONEFOLD_COUNT) != 0; }

onefold::executor executor_of(const onefold_executor& where) {
  switch (where.backend) {
    case ONEFOLD_SERIAL:
      return onefold::serial();
    case ONEFOLD_OPENMP:
      return onefold::openmp(where.threads);
    case ONEFOLD_CUDA:
      return where.own_stream != 0 ? onefold::cuda(where.device, static_cast<CUstream_st*>(where.stream))
                                   : onefold::cuda(where.device);
    case ONEFOLD_BEST:
      return onefold::best();
    default:
      refuse(errc::invalid_argument,
             "request.where.backend is " + std::to_string(where.backend) +
                 ": make executors by onefold_serial(), onefold_openmp(), onefold_cuda() and onefold_best()");
  }
}
bool are_same(const onefold_executor& one, const onefold_executor& other) noexcept {
  return one.backend == other.backend && one.threads == other.threads && one.device == other.device &&
         (one.own_stream != 0) == (other.own_stream != 0) && one.stream == other.stream;
}

/// What functions of C give.
class values_of_source final : public onefold::detail::ranks::function_values {
 public:
  explicit values_of_source(const onefold_request& of) : of_(of), source_(*of.source) {}
  void begin(const onefold::executor& where) override {
    refuse_null(reinterpret_cast<const void*>(source_.fill), "request.source.fill");
    if (onefold::detail::is_for_cuda(where))
      refuse(errc::unsupported, "cuda() cannot call a source: use openmp() or serial(), or put the values into an array");
  }
  void check_arrays(const onefold::executor& where, std::uint64_t count) const override {
    if (count == 0 || of_.arrays == nullptr) return;
    onefold::detail::request what{where, onefold::element_type::f64, onefold::form::sum, nullptr, count, nullptr, true};
    what.arrays = of_.arrays;
    what.array_count = of_.array_count;
    onefold::detail::ranks::check_arrays_of_function(what);
  }
  [[nodiscard]] const onefold::detail::value_source* source() const noexcept override { return &source_; }
  [[nodiscard]] int kept_arrays() const noexcept override { return std::max(1, of_.results); }
  void check(int status) const override { onefold::detail::check_status(status); }
  [[nodiscard]] bool any_present() const noexcept override { return true; }
  [[nodiscard]] std::uint64_t present() const noexcept override { return of_.present(source_.context); }
  [[nodiscard]] counter tells_present() const noexcept override { return of_.present; }
  /// Which operators there are: those of the request need not live until the results are there.
  [[nodiscard]] const onefold::operation* keep_operators(const std::uint8_t* given, int count) {
    std::copy(given, given + count, operators_);
    return reinterpret_cast<const onefold::operation*>(operators_);
  }

 private:
  onefold_request of_;
  onefold_value_source source_;
  std::uint8_t operators_[16] = {};
};

struct destroys_range {
  void operator()(onefold_range* of) const noexcept { onefold_range_destroy(of); }
};
using owned_range = std::unique_ptr<onefold_range, destroys_range>;

/// Values that are reduced with an operator of a C caller's.
class own_part final : public onefold::detail::ranks::state_part {
 public:
  explicit own_part(const onefold_mpi_own_request& asked) : asked_(asked) {
    check_struct_bytes(asked.struct_bytes, sizeof(asked), "request");
    refuse_null(asked.of, "request.of");
    if (asked.input != nullptr && asked.source != nullptr)
      refuse(errc::invalid_argument, "request.input and request.source are both given: values come from one of them");
    operator_ = *asked.of;
    if (asked.source != nullptr) source_ = *asked.source;
    (void)made(0);  // what is no operator is refused here
  }

  [[nodiscard]] std::uint64_t signature() const noexcept override {
    return std::uint64_t{operator_.value_bytes} << 15 | (operator_.can_be_absent != 0 ? 4U << 12 : 0U) | is_of_c;
  }
  void check(const onefold::detail::ranks::distribution& of, const onefold::options& how) const override {
    onefold::detail::ranks::check_states(of, how, asked_.count, "an operator of your own", false);
  }
  void reduce(const onefold::detail::ranks::distribution& of, const onefold::executor& where,
              const onefold::options& how) override {
    state_ = made(of.begin);
    onefold::detail::check_status(onefold::detail::with_c_options(how, [this, &where](const onefold_options* wishes) {
      const onefold_executor here = onefold::detail::c_executor(where);
      return asked_.source != nullptr ? onefold_range_add_values(state_.get(), here, &source_, asked_.count, wishes)
                                      : onefold_range_add(state_.get(), here, asked_.input, nullptr, asked_.count, wishes);
    }));
  }
  [[nodiscard]] std::vector<std::byte> bytes() const override {
    std::vector<std::byte> bytes(onefold_range_bytes(state_.get()));
    onefold::detail::check_status(onefold_range_write(state_.get(), bytes.data(), bytes.size()));
    return bytes;
  }
  void append(const std::byte* bytes, std::size_t size) override {
    const owned_range next = made(0);
    onefold::detail::check_status(onefold_range_read(next.get(), bytes, size));
    onefold::detail::check_status(onefold_range_append(state_.get(), next.get()));
  }
  [[nodiscard]] bool has_place() const noexcept override { return asked_.output != nullptr; }
  [[nodiscard]] bool has_result() const noexcept override {  // a failed operator's error comes out of conclude()
    alignas(16) unsigned char value[64];
    return onefold_range_result(state_.get(), 0, value) != ONEFOLD_INVALID_ARGUMENT;
  }
  [[nodiscard]] std::size_t result_bytes() const noexcept override { return operator_.value_bytes; }
  void conclude(std::byte* to) const override { onefold::detail::check_status(onefold_range_result(state_.get(), 0, to)); }
  void store(const std::byte* result) const override { std::memcpy(asked_.output, result, operator_.value_bytes); }

 private:
  static constexpr std::uint64_t is_of_c = 0xc;  // C++ has numbers of forms there, or none

  [[nodiscard]] owned_range made(std::uint64_t begin) const {
    onefold_range* state = nullptr;
    onefold::detail::check_status(onefold_range_create_own(&operator_, begin, &state));
    return owned_range(state);
  }

  onefold_mpi_own_request asked_;
  onefold_own_operator operator_{};
  onefold_value_source source_{};
  owned_range state_;
};

/// Reductions over ranks, and what they refer to.
struct calls {
  std::vector<part> parts;
  std::vector<std::unique_ptr<values_of_source>> sources;
  std::vector<std::unique_ptr<own_part>> own;
  onefold::executor where = onefold::serial();

  template <class Request>
  calls(const Request* requests, std::size_t count) {
    if (count == 0) refuse(errc::invalid_argument, "there is no request");
    refuse_null(requests, "requests");
    where = executor_of(requests[0].where);
    for (std::size_t i = 0; i < count; ++i) {
      if (!are_same(requests[i].where, requests[0].where))
        refuse(errc::invalid_argument, "the requests name several executors: a call on a layout has one on each rank");
      add(requests[i]);
    }
  }
  /// They are this one's, and outlive the transfer's use of them.
  void put_into(onefold::detail::ranks::transfer& with) const {
    with.parts = parts;
    for (const auto& each : own) with.states.push_back(each.get());
  }

 private:
  void add(const onefold_mpi_own_request& asked) { own.push_back(std::make_unique<own_part>(asked)); }
  void add(const onefold_request& asked) {
    check_struct_bytes(asked.struct_bytes, sizeof(asked), "request");
    if (!is_type(asked.type))
      refuse(errc::invalid_argument, "request.type is " + std::to_string(asked.type) + ", which is no onefold_type");
    if (asked.form < ONEFOLD_SUM || asked.form > ONEFOLD_REDUCE_TOGETHER)
      refuse(errc::invalid_argument, "request.form is " + std::to_string(asked.form) + ", which is no onefold_form");
    if ((asked.flags & ~(ONEFOLD_INTO | ONEFOLD_WIDE)) != 0 || (asked.reserved | asked.reserved_2) != 0)
      refuse(errc::invalid_argument, "the request has flags, or members, that there are not");
    if ((asked.flags & ONEFOLD_INTO) != 0) refuse_member("flags & ONEFOLD_INTO", "results come to the host");
    if (asked.own != nullptr) refuse_member("own", "onefold_mpi_reduce_own() takes operators of your own");
    if (asked.device != nullptr) refuse_member("device", "code for a GPU goes over ranks by onefold/mpi.hpp");
    if (asked.tree_value != nullptr) refuse_member("tree_value", "leave it NULL");
    if (asked.exact_state != nullptr) refuse_member("exact_state", "results are those of all ranks");
    if (asked.count_at != nullptr) refuse_member("count_at", "the number of elements is the layout's");
    if (asked.input_at != nullptr || asked.second_at != nullptr) refuse_member("input_at", "give the address of the array");
    if (asked.source != nullptr && (asked.input != nullptr || asked.second != nullptr || asked.vectors != nullptr))
      refuse(errc::invalid_argument, "request.source is given beside arrays: values come from one of them");
    if (asked.second_type != 0 && (asked.source != nullptr || asked.vectors != nullptr))
      refuse(errc::unsupported, "request.second_type is for a dot of two arrays");
    if (asked.results < 0 || (asked.results > 1 && asked.source == nullptr))
      refuse(errc::invalid_argument,
             "request.results is " + std::to_string(asked.results) + ": a source alone has several, and 0 is one");
    if (asked.source == nullptr && asked.form == ONEFOLD_REDUCE_TOGETHER)
      refuse(errc::unsupported, "reduce_together of an array is a request for each operator over ranks, in one call");
    if (asked.vectors != nullptr) return add_dots(asked);
    if (asked.source != nullptr) return add_values(asked);
    part made = part_of(asked, asked.input, asked.second, asked.output);
    if (asked.second_type != 0 && (asked.form != ONEFOLD_DOT || asked.second_type != asked.type + 1)) make_products(asked, made);
    parts.push_back(made);
  }

  static part part_of(const onefold_request& asked, const void* x, const void* y, void* result) {
    const bool is_dot = asked.form == ONEFOLD_DOT;
    return {static_cast<onefold::element_type>(asked.type),
            static_cast<onefold::form>(asked.form),
            (asked.flags & ONEFOLD_WIDE) != 0,
            asked.ddof,
            x,
            is_dot ? y : nullptr,
            asked.count,
            asked.count,
            result};
  }

  // The sum of the products, of their type.
  static void make_products(const onefold_request& asked, part& of) {
    const std::int32_t type = asked.form == ONEFOLD_DOT ? onefold_mixed_dot_type(asked.type, asked.second_type - 1) : -1;
    if (type < 0) refuse(errc::invalid_argument, "request.second_type is of a dot of two types of real numbers");
    const bool wide = (asked.flags & ONEFOLD_WIDE) != 0;
    if (wide && type != ONEFOLD_F32 && type != ONEFOLD_U32)
      refuse(errc::unsupported, "no wider type than " + std::string(onefold::name(static_cast<onefold::element_type>(type))) +
                                    " is there for this dot: leave ONEFOLD_WIDE away");
    const std::int32_t wider = type == ONEFOLD_F32 ? ONEFOLD_F64 : ONEFOLD_U64;
    of.type = static_cast<onefold::element_type>(wide ? wider : type);
    of.form = onefold::form::sum;
    of.wide = false;
    of.x = of.y = nullptr;
    of.is_of_products = true;
    of.products = {asked.input, asked.second, asked.type, asked.second_type - 1};
  }

  void add_dots(const onefold_request& asked) {
    const onefold_vectors& of = *asked.vectors;
    if (asked.form != ONEFOLD_DOT || (asked.type != ONEFOLD_F32 && asked.type != ONEFOLD_F64))
      refuse(errc::unsupported, "request.vectors are for ONEFOLD_DOT of f32 and f64");
    if (of.rows < 1 || of.columns < 1 || of.rows > ONEFOLD_MOST_DOTS || of.columns > ONEFOLD_MOST_DOTS ||
        of.rows * of.columns > ONEFOLD_MOST_DOTS)
      refuse(errc::invalid_argument, "there are " + std::to_string(of.rows) + " by " + std::to_string(of.columns) +
                                         " dots: one request takes 1 to " + std::to_string(ONEFOLD_MOST_DOTS));
    const std::size_t bytes = onefold::result_bytes(static_cast<onefold::element_type>(asked.type), onefold::form::dot,
                                                    (asked.flags & ONEFOLD_WIDE) != 0);
    auto* result = static_cast<std::byte*>(asked.output);
    for (std::int32_t i = 0; i < of.rows; ++i)
      for (std::int32_t j = 0; j < of.columns; ++j) {
        // A table that is NULL is an error of this rank's own, told of where the others hear of it.
        parts.push_back(part_of(asked, of.x == nullptr ? nullptr : of.x[i], of.y == nullptr ? nullptr : of.y[j], result));
        if (result != nullptr) result += bytes;
      }
  }

  void add_values(const onefold_request& asked) {
    const int results = std::max(1, asked.results);
    if (results > onefold::most_results) refuse(errc::invalid_argument, "request.results is " + std::to_string(asked.results));
    if (asked.form == ONEFOLD_DOT) refuse(errc::unsupported, "a dot has two arrays: of a source ask for the sum of its products");
    if (onefold::is_complex(static_cast<onefold::element_type>(asked.type)) ||
        onefold::size_of(static_cast<onefold::element_type>(asked.type)) < sizeof(float))
      refuse(errc::unsupported, "a source gives real numbers of 4 or 8 bytes");
    if (results > 1 && asked.form != ONEFOLD_REDUCE_TOGETHER && onefold::is_record(static_cast<onefold::form>(asked.form)))
      refuse(errc::unsupported, "over ranks forms with several results take sources of one value: give a request for each");
    if (asked.present != nullptr && asked.form != ONEFOLD_MEAN)
      refuse(errc::unsupported, "over ranks request.present is for ONEFOLD_MEAN");
    sources.push_back(std::make_unique<values_of_source>(asked));
    part made = part_of(asked, nullptr, nullptr, asked.output);
    made.values = sources.back().get();
    made.results = results;
    made.counts_present = asked.present != nullptr;
    if (asked.form == ONEFOLD_REDUCE_TOGETHER) {
      refuse_null(asked.operators, "request.operators");
      for (int k = 0; k < results; ++k)
        if (asked.operators[k] > ONEFOLD_OP_MAX)
          refuse(errc::invalid_argument, "request.operators has a number that is no onefold_operation");
      made.operators = sources.back()->keep_operators(asked.operators, results);
    }
    parts.push_back(made);
  }
};

/// A workspace of the caller's, which stays his.
struct lent_workspace {
  onefold::workspace of;
  explicit lent_workspace(onefold_workspace* handle) noexcept : of(onefold::detail::workspace_access::make(handle)) {}
  lent_workspace(const lent_workspace&) = delete;
  lent_workspace& operator=(const lent_workspace&) = delete;
  ~lent_workspace() { onefold::detail::workspace_access::release(of); }
};

/// Options of C for a call in C++'s types, whose report goes back.
class options_of_c {
 public:
  explicit options_of_c(const onefold_options* given) : given_(given), workspace_(given == nullptr ? nullptr : given->workspace) {
    if (given == nullptr) return;
    check_struct_bytes(given->struct_bytes, sizeof(*given), "options");
    if (given->variant != nullptr)
      how_.variant =
          given->variant_bytes == 0 ? std::string_view(given->variant) : std::string_view(given->variant, given->variant_bytes);
    if (given->guarantee < ONEFOLD_GUARANTEE_DEFAULT || given->guarantee > ONEFOLD_GUARANTEE_EXACT)
      refuse(errc::invalid_argument,
             "options.guarantee is " + std::to_string(given->guarantee) + ", which is no onefold_guarantee");
    if (given->guarantee != ONEFOLD_GUARANTEE_DEFAULT)
      how_.guarantee = static_cast<onefold::guarantee>(given->guarantee - ONEFOLD_GUARANTEE_NONE);
    how_.finish = static_cast<onefold::finish>(given->knobs.finish);
    how_.block_size = given->knobs.block_size;
    how_.grid_size = given->knobs.grid_size;
    how_.width = given->knobs.width;
    if (given->needs_workspace != 0 || given->workspace != nullptr) how_.workspace = &workspace_.of;
    if (given->report != nullptr) {
      if (given->report->struct_bytes < sizeof(std::size_t))
        refuse(errc::invalid_argument,
               "report.struct_bytes is " + std::to_string(given->report->struct_bytes) + ": set it to sizeof");
      how_.report = &report_;
    }
  }

  [[nodiscard]] const onefold::options& how() const noexcept { return how_; }
  void give_report() const noexcept {
    if (given_ == nullptr || given_->report == nullptr) return;
    onefold_report ran{};
    const auto put = [](char(&to)[64], const std::string& text) {
      std::memcpy(to, text.data(), std::min(text.size(), sizeof(to) - 1));
    };
    put(ran.variant, report_.variant);
    put(ran.implementation, report_.implementation);
    ran.backend = static_cast<std::int32_t>(report_.backend);
    ran.guarantee = static_cast<std::int32_t>(report_.guarantee) + ONEFOLD_GUARANTEE_NONE;
    ran.finish = static_cast<std::int32_t>(report_.finish);
    ran.threads = report_.threads;
    ran.device = report_.device;
    ran.block_size = report_.block_size;
    ran.width = report_.width;
    ran.launches = report_.launches;
    ran.grid_size = report_.grid_size;
    ran.shared_bytes = report_.shared_bytes;
    ran.scratch_bytes = report_.scratch_bytes;
    ran.struct_bytes = given_->report->struct_bytes;
    std::memset(static_cast<void*>(given_->report), 0, ran.struct_bytes);  // also what this file does not know of
    std::memcpy(given_->report, &ran, std::min(ran.struct_bytes, sizeof(ran)));
  }

 private:
  const onefold_options* given_;
  lent_workspace workspace_;
  onefold::report report_;
  onefold::options how_;
};

}  // namespace

struct onefold_mpi_layout {
  onefold::detail::ranks::shared_state state;
  explicit onefold_mpi_layout(MPI_Comm comm) : state(comm) {}
};

struct onefold_mpi_pending {
  calls what;
  onefold::detail::ranks::transfer with;
  onefold_mpi_pending(calls&& given, onefold_mpi_layout& of) : what(std::move(given)), with(of.state) {}
};

namespace {

template <class Shape>
int make_layout(MPI_Comm comm, onefold_mpi_layout** made, const Shape& shape) noexcept {
  if (made == nullptr) return failed(ONEFOLD_NULL_POINTER, "the place of the layout is NULL");
  *made = nullptr;
  return guarded([&] {
    auto layout = std::make_unique<onefold_mpi_layout>(comm);
    shape(layout->state);
    *made = layout.release();
  });
}

void check_root(const onefold_mpi_layout& layout, int root) {
  const int ranks = layout.state.on.size();
  if (root < ONEFOLD_MPI_ALL_RANKS || root >= ranks)
    refuse(errc::invalid_argument,
           "rank " + std::to_string(root) + " cannot be the root: the ranks are 0 to " + std::to_string(ranks - 1));
}

template <class Request>
int run(onefold_mpi_layout* layout, int root, const Request* requests, std::size_t count, const onefold_options* how,
        bool gives_up) noexcept {
  return guarded([&] {
    refuse_null(layout, "layout");
    check_root(*layout, root);
    const calls what(requests, count);
    const options_of_c wishes(how);
    const onefold::detail::ranks::borrowed_transfer with(layout->state, what.where, root);
    what.put_into(*with);
    with->gives_up = gives_up;
    with->run(wishes.how());
    if (!gives_up) wishes.give_report();
  });
}

template <class Request>
int start(onefold_mpi_layout* layout, int root, const Request* requests, std::size_t count, const onefold_options* how,
          onefold_mpi_pending** started) noexcept {
  if (started == nullptr) return failed(ONEFOLD_NULL_POINTER, "started is NULL");
  *started = nullptr;
  return guarded([&] {
    refuse_null(layout, "layout");
    check_root(*layout, root);
    const options_of_c wishes(how);
    auto pending = std::make_unique<onefold_mpi_pending>(calls(requests, count), *layout);
    pending->with.where = pending->what.where;
    pending->with.root = root;
    pending->what.put_into(pending->with);
    pending->with.start(wishes.how());
    wishes.give_report();
    *started = pending.release();
  });
}

}  // namespace

extern "C" {

const char* onefold_mpi_last_error(void) { return last_error; }

int onefold_mpi_layout_create(MPI_Comm comm, uint64_t count, onefold_mpi_layout** made) {
  return make_layout(comm, made, [&](auto& state) { state.make_layout(count, nullptr); });
}
int onefold_mpi_layout_create_range(MPI_Comm comm, uint64_t begin, uint64_t end, onefold_mpi_layout** made) {
  return make_layout(comm, made, [&](auto& state) { state.make_layout(end - begin, &begin); });
}
int onefold_mpi_layout_create_unordered(MPI_Comm comm, onefold_mpi_layout** made) {
  return make_layout(comm, made, [](auto&) {});
}
int onefold_mpi_layout_create_f(MPI_Fint comm, uint64_t count, onefold_mpi_layout** made) {
  return onefold_mpi_layout_create(MPI_Comm_f2c(comm), count, made);
}
void onefold_mpi_layout_destroy(onefold_mpi_layout* layout) { delete layout; }

uint64_t onefold_mpi_layout_begin(const onefold_mpi_layout* layout) { return layout == nullptr ? 0 : layout->state.begin; }
uint64_t onefold_mpi_layout_total(const onefold_mpi_layout* layout) { return layout == nullptr ? 0 : layout->state.total; }
int onefold_mpi_layout_is_aligned(const onefold_mpi_layout* layout, int32_t type) {
  if (layout == nullptr || !is_type(type) || !layout->state.is_layout) return 0;
  const auto tile_element = onefold::part_type(static_cast<onefold::element_type>(type));
  return layout->state.plans[onefold::detail::ranks::size_index(onefold::size_of(tile_element))].is_ragged ? 0 : 1;
}
int onefold_mpi_aligned_range(int32_t type, uint64_t total, int rank, int ranks, uint64_t* begin, uint64_t* end) {
  return guarded([&] {
    refuse_null(begin, "begin");
    refuse_null(end, "end");
    if (!is_type(type)) refuse(errc::invalid_argument, std::to_string(type) + " is no onefold_type");
    if (total > onefold::detail::ranks::most_elements)
      refuse(errc::invalid_argument, std::to_string(total) + " elements are more than an array can have");
    if (rank < 0 || rank >= ranks)
      refuse(errc::invalid_argument, "there is no rank " + std::to_string(rank) + " of " + std::to_string(ranks));
    const auto which = static_cast<std::uint64_t>(rank), shares = static_cast<std::uint64_t>(ranks);
    const onefold::index_range range = aligned_share(static_cast<onefold::element_type>(type), total, which, shares);
    *begin = range.begin;
    *end = range.end;
  });
}
int onefold_mpi_rank_of(onefold_mpi_layout* layout, uint64_t index, int* rank) {
  return guarded([&] {
    refuse_null(layout, "layout");
    refuse_null(rank, "rank");
    *rank = layout->state.rank_of(index);
  });
}

int onefold_mpi_reduce(onefold_mpi_layout* layout, int root, const onefold_request* requests, size_t count,
                       const onefold_options* how) {
  return run(layout, root, requests, count, how, false);
}

int onefold_mpi_give_up(onefold_mpi_layout* layout, int root, const onefold_request* requests, size_t count,
                        const onefold_options* how) {
  return run(layout, root, requests, count, how, true);
}

int onefold_mpi_start(onefold_mpi_layout* layout, int root, const onefold_request* requests, size_t count,
                      const onefold_options* how, onefold_mpi_pending** started) {
  return start(layout, root, requests, count, how, started);
}
int onefold_mpi_reduce_own(onefold_mpi_layout* layout, int root, const onefold_mpi_own_request* requests, size_t count,
                           const onefold_options* how) {
  return run(layout, root, requests, count, how, false);
}
int onefold_mpi_give_up_own(onefold_mpi_layout* layout, int root, const onefold_mpi_own_request* requests, size_t count,
                            const onefold_options* how) {
  return run(layout, root, requests, count, how, true);
}
int onefold_mpi_start_own(onefold_mpi_layout* layout, int root, const onefold_mpi_own_request* requests, size_t count,
                          const onefold_options* how, onefold_mpi_pending** started) {
  return start(layout, root, requests, count, how, started);
}
int onefold_mpi_test(onefold_mpi_pending* started, int* done) {
  return guarded([&] {
    refuse_null(started, "started");
    refuse_null(done, "done");
    *done = started->with.test() ? 1 : 0;
  });
}
int onefold_mpi_wait(onefold_mpi_pending* started) {
  return guarded([&] {
    refuse_null(started, "started");
    const std::unique_ptr<onefold_mpi_pending> mine(started);
    mine->with.wait();
  });
}

}  // extern "C"

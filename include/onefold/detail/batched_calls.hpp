#pragma once
/// @file batched_calls.hpp  Calls with functions and operators of the caller's as parts of a batch, which keeps what they are made of.

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <onefold/detail/callback.hpp>
#include <onefold/detail/device_code.hpp>
#include <onefold/detail/request.hpp>
#include <onefold/executor.hpp>

namespace onefold {
namespace detail {

/// A call, with copies of what is called.
struct batched_call {
  virtual ~batched_call() = default;
  /// Makes its request, which `how` takes, and does what is to be done with the result.
  virtual void run(const executor& where, const taken_call& how) = 0;
};
template <class Run>
class batched_call_of final : public batched_call {
 public:
  explicit batched_call_of(Run&& run) : run_(std::move(run)) {}
  void run(const executor& where, const taken_call& how) override { run_(where, how); }

 private:
  Run run_;
};
/// Where it stands among a batch's requests. Copies of a batch have the call in common.
struct call_among_requests {
  std::size_t at;
  std::shared_ptr<batched_call> call;
};

/// Requests that lie side by side.
struct some_requests {
  const onefold_request* first;
  std::size_t count;
  [[nodiscard]] const onefold_request* data() const noexcept { return first; }
  [[nodiscard]] std::size_t size() const noexcept { return count; }
};

/// On a CPU: requests and calls one behind the other.
class batch_in_turn {
 public:
  static void run(const executor& where, const std::vector<onefold_request>& requests,
                  const std::vector<call_among_requests>& calls, const options& how) {
    std::size_t done = 0;
    const auto run_until = [&done, &requests, &how](std::size_t end) {
      if (done < end) run_batch(some_requests{requests.data() + done, end - done}, how);
      done = end;
    };
    for (const call_among_requests& each : calls) {
      run_until(each.at);
      taken_call by_itself{how, take, const_cast<void*>(static_cast<const void*>(&how))};
      each.call->run(where, by_itself);
      ++done;
    }
    run_until(requests.size());
  }

 private:
  static int take(void* context, const onefold_request& what) {
    return with_c_options(*static_cast<const options*>(context),
                          [&what](const onefold_options* wishes) { return onefold_reduce(&what, wishes); });
  }
};

/// On a GPU: the calls are made one within the other, so that what their requests refer to is there while the innermost runs all of them.
class batch_at_once {
 public:
  /// As many calls at a time: each has up to some KiB on the stack.
  static constexpr std::size_t most_calls = 64;

  static void run(const executor& where, std::vector<onefold_request> requests, const std::vector<call_among_requests>& calls,
                  const options& how) {
    std::size_t first = 0;  // of the requests
    for (std::size_t call = 0; call < calls.size(); call += most_calls) {
      const std::size_t end_call = calls.size() - call > most_calls ? call + most_calls : calls.size();
      const std::size_t end = end_call < calls.size() ? calls[end_call].at : requests.size();
      batch_at_once now{where, requests.data(), first, end, calls.data() + call, calls.data() + end_call, how};
      check_status(now.go_on());
      first = end;
    }
  }

 private:
  batch_at_once(const executor& where, onefold_request* requests, std::size_t first, std::size_t end,
                const call_among_requests* next, const call_among_requests* end_call, const options& how)
      : where_(where), requests_(requests), first_(first), end_(end), next_(next), end_call_(end_call), how_(how) {}

  int go_on() {
    if (next_ == end_call_)
      return with_c_options(
          how_, [this](const onefold_options* wishes) { return onefold_reduce_batch(requests_ + first_, end_ - first_, wishes); });
    next_->call->run(where_, taken_call{how_, take, this});
    return 0;  // else it has thrown
  }
  static int take(void* context, const onefold_request& what) {
    auto& own = *static_cast<batch_at_once*>(context);
    own.requests_[own.next_->at] = what;
    ++own.next_;
    return own.go_on();
  }

  const executor& where_;
  onefold_request* requests_;
  std::size_t first_, end_;
  const call_among_requests* next_;
  const call_among_requests* end_call_;
  const options& how_;
};

inline void run_batch_with_calls(const executor& where, const std::vector<onefold_request>& requests,
                                 const std::vector<call_among_requests>& calls, const options& how) {
  with_report_of_all(how, [&where, &requests, &calls](const options& wishes) {
    if (is_for_cuda(where))
      batch_at_once::run(where, requests, calls, wishes);
    else
      batch_in_turn::run(where, requests, calls, wishes);
  });
}

}  // namespace detail
}  // namespace onefold

#pragma once
/// @file limit.hpp  The measured read limit, and when it cannot be one.

#include <functional>
#include <string>
#include <string_view>

#include "samples.hpp"

namespace onefold::perf {

/// Whether a bare read that takes `limit_s` can be the limit of what takes `seconds`. Noise makes one a little faster than its limit;
/// half as fast again means that the read was not measured properly.
bool is_limit(double limit_s, double seconds);

/// "97.3" (per cent of the limit's speed), or "-" where it is no limit.
std::string percent_text(double limit_s, double seconds);

/// `limit`, or where it is no limit of `fastest_s` the fastest that `measure` gives, which is called until it is one, three times at most:
/// the machine may have been busy for a moment.
samples settled_limit(samples limit, double fastest_s, const std::function<samples()>& measure);

/// What to say of a limit that is none; empty where it is one. `what` names it: "with 2 threads", "of the GPU's memory".
std::string limit_warning(std::string_view what, double limit_s, double fastest_s);

}  // namespace onefold::perf

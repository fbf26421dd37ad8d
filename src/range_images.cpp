/// @file range_images.cpp  Images: what a GPU makes of elements in stream order. They become states, or are put together by a kernel.

#include <algorithm>

#include <onefold/error.hpp>

#include "../backends/backend.hpp"
#include "c_api.hpp"
#include "dispatch.hpp"
#include "range.hpp"

namespace onefold::detail::ranges {

namespace {

// What makes the image of elements that follow those of `before`.
gpu_reading image_of(const range_reader& reader, const range_input& in, form_range& made) {
  gpu_reading what;
  read_range(reader, in, made, what);
  return what;
}

void check_has_images(const range_kind& of) {
  if (of.is_together())
    throw error(errc::unsupported,
                "reduce_together has no images: onefold_range_add() takes elements in a GPU's memory, or make the "
                "image of a state of each operator");
}

}  // namespace

std::size_t image_bytes(const form_range& before, std::uint64_t count) {
  check_has_images(before.of);
  check_end(before.of, before.end, count);
  if (count == 0) return 0;
  form_range made{before.of, before.end, before.end + count};
  return image_of({before.of, onefold_serial(), checked_options(nullptr)}, arrays_at(nullptr, nullptr), made).image_bytes();
}

void put_image(const form_range& before, const onefold_executor& where, const range_input& in, std::uint64_t count, void* image,
               const onefold_options* how) {
  check_has_images(before.of);
  range_reader reader{before.of, where, checked_options(how)};
  check_end(before.of, before.end, count);
  if (count == 0) return;
  if (image == nullptr) refuse_null("image");
  if (reinterpret_cast<std::uintptr_t>(image) % 16 != 0)
    throw error(errc::misaligned_pointer, "the image is not aligned to 16 bytes");
  const std::optional<onefold_executor> gpu = reader.gpu_of(in);
  if (!gpu)
    throw error(errc::unsupported,
                "an image is made by cuda(), of elements in a GPU's memory: onefold_range_add() takes them from anywhere");
  reader.where = *gpu;
  form_range made{before.of, before.end, before.end + count};
  static_cast<void>(put_on_stream(image_of(reader, in, made), reader.how, image));
}

void add_image(form_range& to, const void* image, std::uint64_t count) {
  check_has_images(to.of);
  check_end(to.of, to.end, count);
  if (count == 0) return;
  if (image == nullptr) refuse_null("image");
  form_range made{to.of, to.end, to.end + count};
  store(image_of({to.of, onefold_serial(), checked_options(nullptr)}, arrays_at(nullptr, nullptr), made), image);
  finish_nodes(made.of, made.nodes);
  append(to, std::move(made));
}

bool can_join_images(const images_of_parts& all) {
  const backend_entry* const gpus = find_backend(backend::cuda);
  return gpus != nullptr && gpus->can_join_images != nullptr && gpus->can_join_images(all);
}

void check_can_join(const onefold_executor& where, const images_of_parts& all) {
  if (where.backend != ONEFOLD_CUDA)
    throw error(errc::unsupported, "images are put together by cuda(): onefold_range_add_image() takes them anywhere");
  if (!can_join_images(all))
    throw error(errc::unsupported,
                "no kernel puts the images of " + std::to_string(all.parts) + " parts together for " +
                    range_kind{all.type, all.what, all.wide}.text() +
                    ": onefold_range_can_join_images() tells, and onefold_range_add_image() takes images of all forms");
}

void join_images(const onefold_executor& where, const images_of_parts& all, void* result) {
  if (all.images == nullptr) refuse_null("images");
  if (all.borders == nullptr) refuse_null("borders of the parts");
  if (result == nullptr) refuse_null("result");
  if (reinterpret_cast<std::uintptr_t>(all.images) % 16 != 0 || all.stride % 16 != 0)
    throw error(errc::misaligned_pointer, "images are not aligned to 16 bytes");
  check_output_alignment(result, result_alignment(all.type, all.what, all.wide));
  const std::span<const std::uint64_t> borders(all.borders, all.parts);
  if (!borders.empty() && (borders.front() != 0 || borders.back() > all.total || !std::is_sorted(borders.begin(), borders.end())))
    throw error(errc::invalid_argument, "the first part begins at 0, and each of the others where the one before it ends");
  check_can_join(where, all);
  if (all.total == 0 && has_index(all.what))
    throw error(errc::invalid_argument, std::string(name(all.what)) + " of no elements: there is no index");
  find_backend(backend::cuda)->join_images(executor_of(where), all, result);
}

}  // namespace onefold::detail::ranges

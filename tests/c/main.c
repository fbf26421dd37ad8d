/* main.c  onefold from C, linked as a C program: every function of onefold.h. */

#include <onefold.h>

#include "check.h"

int failures = 0;

int main(void) {
  test_abi();
  test_forms();
  test_refusals();
  test_places();
  test_exact();
  test_range();
  test_messages();
  test_own();
  test_own_range();
  printf("c: onefold ABI %d, %zu variants, %d failures\n", onefold_abi_version(), onefold_variant_count(), failures);
  return failures != 0;
}

#ifndef ONEFOLD_TESTS_C_CHECK_H
#define ONEFOLD_TESTS_C_CHECK_H
/* check.h  What the C tests share: a count of failures, each with its line. */

#include <stdio.h>
#include <string.h>

#include <onefold/onefold.h>

extern int failures;

#define EXPECT(condition)                                                                                  \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      printf("%s:%d: wrong: %s (last error: %s)\n", __FILE__, __LINE__, #condition, onefold_last_error()); \
      ++failures;                                                                                          \
    }                                                                                                      \
  } while (0)

#define EXPECT_OK(call) EXPECT((call) == ONEFOLD_OK)

/* The call fails with this status, and its sentence holds this text. */
#define EXPECT_REFUSED(call, status, text)                \
  do {                                                    \
    const int got_ = (call);                              \
    EXPECT(got_ == (status));                             \
    EXPECT(strstr(onefold_last_error(), (text)) != NULL); \
  } while (0)

void test_abi(void);       /* numbers and layouts */
void test_forms(void);     /* every function of a form and type */
void test_refusals(void);  /* what is refused, and how it is told */
void test_places(void);    /* backends, catalogue, workspaces, policies */
void test_exact(void);     /* states of exact sums */
void test_range(void);     /* states of ranges */
void test_messages(void);  /* messages of ranks */
void test_own(void);       /* values and operators of the caller's */
void test_own_range(void); /* states of ranges with operators of the caller's */

#endif

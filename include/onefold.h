#ifndef ONEFOLD_H
#define ONEFOLD_H
/* onefold.h  The C interface by its short name: #include <onefold.h>. All of it is in onefold/onefold.h. */

#include <onefold/onefold.h>

#endif

/// @file yield.c  Loaded ahead of MPICH's libraries, for its tests: a rank that waits asks for messages all the time and never leaves the core, so that
/// ranks that are more than the cores wait for the scheduler, milliseconds for each message. Where MPICH asks by UCX, the core is given to
/// whoever wants it each time that nothing has come.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

typedef unsigned progress(void* worker);

progress ucp_worker_progress;
unsigned ucp_worker_progress(void* worker) {
  static progress* real = NULL;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "ucp_worker_progress");
  const unsigned come = real(worker);
  if (come == 0) sched_yield();
  return come;
}

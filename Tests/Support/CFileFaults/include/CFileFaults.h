#pragma once
#include <stdint.h>

/* Failing system calls of this process on the files below a folder. Linux only. */

enum {
    POLYSTORE_FAULT_READS = 1,
    /* The calls that need space on the disk: writes, new files and folders, growing files. */
    POLYSTORE_FAULT_SPACE = 2,
};

/* Counts the calls of some classes on files below a folder, and lets some of them fail.
   at: the number of the call that fails, from 1; 0 for none. lasts: whether later calls fail too.
   Returns the number of the plan; -1 if there is none. */
int polystore_file_faults_begin(const char *folder, int classes, uint64_t at, int error, int lasts);
/* Calls a function before the call with the number `at`, which then does not fail. */
void polystore_file_faults_observe(int plan, void (*observer)(void *), void *context);
/* Returns the number of calls so far. */
uint64_t polystore_file_faults_count(int plan);
/* Returns the number of failed calls so far. */
uint64_t polystore_file_faults_failed(int plan);
void polystore_file_faults_end(int plan);

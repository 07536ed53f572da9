"""The original clocks and `fork`, stored before anything is pinned."""

from __future__ import annotations

import os
import time

real_clock, real_work, real_fork = time.perf_counter, time.process_time, os.fork
real_thread_work = time.thread_time

// Loaded by `leasehold` before its own code: from then on, it cannot start any process.
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'

// A limit of processes is also one of threads: those of the pool of Node are there from now on.
await readFile(new URL(import.meta.url))
execFileSync('prlimit', ['--pid', String(process.pid), '--nproc=1:'])

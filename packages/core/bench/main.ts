/** Speed and memory of core, in one run: prints a table and fails where a bound is not kept. */
import { measureAcquireRelease } from './acquire-release.js'
import { measureCheckLease } from './check-lease.js'
import { measureHeldLeases } from './held-leases.js'
import { isKept, toTable } from './support/measurement.js'

const measurements = [
  ...(await measureAcquireRelease()),
  ...(await measureCheckLease()),
  ...(await measureHeldLeases()),
]
console.log(toTable(measurements))
process.exitCode = measurements.every(isKept) ? 0 : 1

import { createLease, type LeaseStore } from '@leasehold/core'
import { flightRecorder } from '@leasehold/recorder'

/** Give one recorder to all leases of the process. */
export function reportLease(store: LeaseStore, folder: string) {
  const recorder = flightRecorder({ folder, signal: 'SIGUSR2' })
  return createLease(store, 'report', { heartbeatTimeout: 30_000, recorder })
}

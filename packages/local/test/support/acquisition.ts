import { LifeCycle } from '@leasehold/core/life-cycle'
import type { AcquireOutcome, AcquireRequest } from '@leasehold/core/store'
import type { LeaseOperations, Proposal } from '../../src/lease-operations.js'

/** The change of the log with which a request acquires its name, or takes its place. */
export function acquisition(operations: LeaseOperations, request: AcquireRequest): Proposal<AcquireOutcome> {
  return operations.propose(request.name, (state) => new LifeCycle(operations.rules).acquire(request, state))
}

export { memoryLease as firstLease, memoryLease as secondLease } from '@leasehold/core'

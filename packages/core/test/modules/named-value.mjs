export { memoryLease as ownLease } from '@leasehold/core'

export const defaultLease = { name: 'nightly' }

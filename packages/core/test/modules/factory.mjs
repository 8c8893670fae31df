import { memoryLease } from '@leasehold/core'

export const limits = {}

export function ownLease(settings, context) {
  return memoryLease(settings, context)
}

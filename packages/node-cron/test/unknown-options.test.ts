import { LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { LeaseCoordinator } from '@leasehold/node-cron'
import { describe, expect, it } from 'vitest'

const store = new MemoryLeaseStore()

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['LeaseCoordinator', 'atMostFo', 'atMostFor', (o: object) => new LeaseCoordinator(store, o)],
    ['LeaseCoordinator', 'ttl', 'heartbeatTimeout', (o: object) => new LeaseCoordinator(store, o)],
  ] as [string, string, string, (options: object) => unknown][])('%s: %s, meant is %s', (of, option, meant, use) => {
    const message = `${of} has no option '${option}': did you mean '${meant}'?`
    expect(() => use({ [option]: 1 })).toThrow(LeaseConfigurationError)
    expect(() => use({ [option]: 1 })).toThrow(message)
  })
})

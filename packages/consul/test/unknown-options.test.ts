import { ConsulGuard, ConsulLeaseStore } from '@leasehold/consul'
import { describe, expect, it } from 'vitest'

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['ConsulLeaseStore', 'lockdelay', 'lockDelay', (o: object) => new ConsulLeaseStore(o)],
    ['ConsulGuard', 'adresses', 'addresses', (o: object) => new ConsulGuard(o)],
  ])('%s: %s, meant is %s', (of, option, meant, use) => {
    const call = (): unknown => use({ [option]: 1 })
    expect(call).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${of} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })
})

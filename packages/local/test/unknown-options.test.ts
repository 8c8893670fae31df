import { LocalGuard, LocalLeaseStore } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['LocalLeaseStore', 'modes', 'mode', (o: object) => new LocalLeaseStore({ folder: temporaryFolder(), ...o })],
    ['LocalGuard', 'statFs', 'statfs', (o: object) => new LocalGuard({ folder: temporaryFolder(), ...o })],
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

import { MemoryLeaseStore } from '@leasehold/core'
import { LeaseUi } from '@leasehold/ui'
import { describe, expect, it } from 'vitest'

const store = new MemoryLeaseStore()

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['LeaseUi', 'writeable', 'writable', (o: object) => new LeaseUi(store, { token: 'a'.repeat(16), ...o })],
    ['LeaseUi', 'authorise', 'authorize', (o: object) => new LeaseUi(store, o)],
  ] as [string, string, string, (options: object) => unknown][])('%s: %s, meant is %s', (taker, option, meant, use) => {
    expect(() => use({ [option]: 1 })).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${taker} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })
})

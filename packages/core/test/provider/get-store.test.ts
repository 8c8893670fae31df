import {
  createLease,
  LeaseConfigurationError,
  LeaseProvider,
  MemoryLeaseStore,
  memoryLease,
  StoreLease,
} from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { ThreeMethods } from '../support/three-methods.js'

const config = {
  leasehold: { lease: { 'lease-class': 'memory' } },
  reports: { 'heartbeat-timeout': '20s', cron: '0 2 * * *' },
}

function warnings(): {
  readonly said: string[]
  readonly logger: { debug(): void; info(): void; warn(m: string): void; error(): void }
} {
  const said: string[] = []
  return { said, logger: { debug: () => {}, info: () => {}, warn: (message) => said.push(message), error: () => {} } }
}

describe('the store of a configuration', () => {
  it('is the one of the leases of the same block, with the settings of the block', async () => {
    await using provider = new LeaseProvider(config, { memory: memoryLease })
    const { store, settings } = await provider.getStore('nightly', 'reports', ['cron'])
    expect(store).toBeInstanceOf(MemoryLeaseStore)
    expect(settings.timeouts.heartbeatTimeout).toBe(20_000)
    expect(settings.options).toMatchObject({ cron: '0 2 * * *' })
    const lease = createLease(store, 'nightly')
    expect(await lease.acquire()).toBe(true)
    const other = await provider.getLease('nightly', 'reports')
    expect(await other.acquire()).toBe(false)
    await lease.release()
  })

  it('warns of keys that neither the lease-class nor the caller reads', async () => {
    const { said, logger } = warnings()
    await using provider = new LeaseProvider(config, { memory: memoryLease }, { logger })
    await provider.getStore('nightly', 'reports', ['cron'])
    expect(said).toEqual([])
    const other = warnings()
    await using second = new LeaseProvider(config, { memory: memoryLease }, { logger: other.logger })
    await second.getStore('nightly', 'reports', ['corn'])
    expect(other.said.join()).toContain("'reports.cron'")
  })

  it('is refused where the lease-class makes leases without one', async () => {
    await using provider = new LeaseProvider(config, { memory: () => new ThreeMethods() })
    await expect(provider.getStore('nightly', 'reports')).rejects.toThrow(LeaseConfigurationError)
    await expect(provider.getStore('nightly', 'reports')).rejects.toThrow('makes leases without a store')
  })

  it('is refused once the provider is closed, and for an unknown path', async () => {
    const provider = new LeaseProvider(config, { memory: memoryLease })
    await expect(provider.getStore('nightly', 'report')).rejects.toThrow("did you mean 'reports'")
    await provider.close()
    await expect(provider.getStore('nightly', 'reports')).rejects.toThrow('closed')
  })
})

it('a factory may pass its context on as the environment of a lease', async () => {
  const store = new MemoryLeaseStore()
  await using provider = new LeaseProvider(config, {
    memory: (settings, context) => new StoreLease(settings, store, context),
  })
  const lease = await provider.getLease('nightly', 'reports')
  expect(await lease.acquire()).toBe(true)
})

import { LeaseConfigurationError, LeaseProvider, memoryLease } from '@leasehold/core'
import { describe, expect, it } from 'vitest'

const memories = {
  old: { 'lease-class': 'memory' },
  next: { 'lease-class': 'memory' },
}

function providerOf(lease: object, blocks: object = memories): LeaseProvider {
  const config = { leasehold: { ...blocks, lease: { 'lease-class': '@leasehold/core/migrate', ...lease } } }
  return new LeaseProvider(config, { memory: memoryLease })
}

describe('lease-class = "@leasehold/core/migrate"', () => {
  it('holds leases in the stores of two other blocks', async () => {
    await using provider = providerOf({ from: 'leasehold.old', to: 'leasehold.next' })
    const both = await provider.getLease('orders', 'leasehold.lease', 'migrating')
    const old = await provider.getLease('orders', 'leasehold.old', 'old')
    const next = await provider.getLease('orders', 'leasehold.next', 'next')
    expect(await both.acquire()).toBe(true)
    expect([await old.acquire(), await next.acquire()]).toEqual([false, false])
    expect(await both.release()).toBe(true)
    expect(await next.acquire()).toBe(true)
    expect(await both.acquire()).toBe(false)
  })

  it('names the option that is missing', async () => {
    await using provider = providerOf({ from: 'leasehold.old' })
    const lease = provider.getLease('orders', 'leasehold.lease')
    await expect(lease).rejects.toThrow(LeaseConfigurationError)
    await expect(lease).rejects.toThrow('to must be given, such as to = "leasehold.postgres"')
  })

  it('refuses itself, and a block that falls back to it', async () => {
    await using provider = providerOf({ from: 'leasehold.lease', to: 'leasehold.next' })
    await expect(provider.getLease('orders', 'leasehold.lease')).rejects.toThrow('cannot be made of itself')
    await using other = providerOf({ from: 'leasehold.old', to: 'leasehold.next' }, { ...memories, old: {} })
    await expect(other.getLease('orders', 'leasehold.lease')).rejects.toThrow(
      "the store of 'leasehold.old' cannot be made of itself: give that block a lease-class of its own",
    )
  })

  it('cannot be combined with a heartbeat thread', async () => {
    const { migrateLease } = await import('@leasehold/core/migrate')
    const options = { from: 'leasehold.old', to: 'leasehold.next' }
    const made = async () =>
      migrateLease({ name: 'orders', options } as never, { configPath: 'leasehold.lease' } as never)
    await expect(made()).rejects.toThrow('switch heartbeat-thread off')
  })
})

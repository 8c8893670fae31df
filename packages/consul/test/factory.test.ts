import { ConsulLeaseStore } from '@leasehold/consul'
import { LeaseProvider } from '@leasehold/core'
import { describeConsul } from '@leasehold/testing/describe-consul'
import { describe, expect, it } from 'vitest'
import { Scene } from './support/scene.js'

describeConsul('leases by a configuration', () => {
  it('are held in Consul, over one store', async () => {
    await Scene.play(async (scene) => {
      const server = await scene.server()
      const block = {
        'lease-class': '@leasehold/consul',
        addresses: [server.url],
        prefix: 'by-config/',
        'lock-delay': '5s',
        'heartbeat-timeout': '20s',
      }
      const provider = new LeaseProvider({ leasehold: { consul: block } })
      scene.atEnd(() => provider.close())
      const leases = [
        await provider.getLease('one', 'leasehold.consul'),
        await provider.getLease('other', 'leasehold.consul'),
      ]
      expect(await Promise.all(leases.map((lease) => lease.acquire()))).toEqual([true, true])
      const sessions = (await server.request('GET', '/session/list')) as { LockDelay: number; TTL: string }[]
      expect(sessions.map(({ LockDelay, TTL }) => [LockDelay / 1e6, TTL])).toEqual([[5_000, '20000ms']])
      expect(await server.request('GET', '/kv/by-config/one?keys')).toEqual(['by-config/one'])
    })
  })
})

describe('an option', () => {
  it.each([
    [{ addresses: [] }, 'addresses must be a list of texts'],
    [{ addresses: ['consul:8500'] }, 'URLs such as http://127.0.0.1:8500'],
    [{ addresses: ['http://user:secret@consul:8500'] }, 'without a user'],
    [{ certFile: '/cert.pem' }, 'certFile and keyFile need each other'],
    [{ caFile: '/absent/ca.pem' }, 'caFile cannot be read'],
    [{ lockDelay: 60_001 }, 'lockDelay must be 0 to 60000 ms'],
    [{ lockDelay: -1 }, 'lockDelay must be 0 to 60000 ms'],
    [{ minTtl: 0 }, 'minTtl must be'],
    [{ prefix: '//' }, 'prefix must be like'],
  ])('that is not valid, %o, is refused', (options, message) => {
    const open = () => new ConsulLeaseStore(options)
    expect(open).toThrow(expect.objectContaining({ code: 'configuration', message: expect.stringContaining(message) }))
    expect(open).not.toThrow(/secret/)
  })
})

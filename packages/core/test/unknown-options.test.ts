import {
  breakLease,
  createLease,
  LeaseProvider,
  LeaseSettings,
  listLeases,
  MemoryGuard,
  MemoryLeaseStore,
  readLease,
  releaseLease,
  StoreLease,
  TimeoutSettings,
  watchLease,
} from '@leasehold/core'
import { createSystemClock, leaseParts, withinTime } from '@leasehold/core/internal'
import { LifeCycleStore } from '@leasehold/core/life-cycle'
import { copyLeases } from '@leasehold/core/migrate'
import { casStore, Fence } from '@leasehold/core/store'
import { CasLeaseStore } from '@leasehold/core/store-kit'
import { describe, expect, it } from 'vitest'
import { MapRegister } from './cas/map-register.js'
import { silentLogger } from './support/held-lease.js'

const store = new MemoryLeaseStore()
const lease = createLease(store, 'job', { logger: silentLogger })
const readings = { monotonic: () => 0, wall: () => 0 }
/** It is abstract, for authors of stores. */
const Store = LifeCycleStore as unknown as new (options: object) => object

/** A row: the function or class, the mistyped option, the option that is meant, and the name in the error if it is another. */
describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['createLease', 'heartbeatTimout', 'heartbeatTimeout', (o: object) => createLease(store, 'job', o)],
    ['createLease', 'ttl', 'heartbeatTimeout', (o: object) => createLease(store, 'job', o)],
    ['createLease', 'leaseDuration', 'heartbeatTimeout', (o: object) => createLease(store, 'job', o)],
    ['createLease', 'renewInterval', 'heartbeatInterval', (o: object) => createLease(store, 'job', o)],
    ['createLease', 'max-hold', 'maxHold', (o: object) => createLease(store, 'job', o)],
    ['leaseParts', 'ownr', 'owner', (o: object) => leaseParts('leaseParts', 'job', o)],
    ['withinTime', 'timeOut', 'timeout', (o: object) => withinTime(o, store, { operation: 'asking' }, async () => 1)],
    ['TimeoutSettings', 'operationTimeOut', 'operationTimeout', (o: object) => new TimeoutSettings(o)],
    ['LeaseSettings', 'retryIntervall', 'retryInterval', (o: object) => new LeaseSettings({ name: 'job', ...o })],
    ['LeaseProvider', 'loger', 'logger', (o: object) => new LeaseProvider({}, {}, o)],
    ['StoreLease', 'Logger', 'logger', (o: object) => new StoreLease(new LeaseSettings({ name: 'job' }), store, o)],
    ['MemoryGuard', 'singal', 'signal', (o: object) => new MemoryGuard().write('r', 1n, 0, o), 'the fencing guard'],
    ['Fence', 'Signal', 'signal', (o: object) => new Fence('own', 'r', 1n, o), 'the fencing guard'],
    ['createSystemClock', 'shedule', 'schedule', (o: object) => createSystemClock({ ...readings, ...o })],
    ['breakLease', 'periode', 'period', (o: object) => breakLease(store, 'job', o)],
    ['acquire', 'timeout', 'wait', (o: object) => lease.acquire(o)],
    ['acquire', 'onLoss', 'onLost', (o: object) => lease.acquire(o)],
    ['acquire', 'waits', 'wait', (o: object) => lease.run(async () => {}, o)],
    ['release', 'metaData', 'metadata', (o: object) => lease.release(o)],
    ['readLease', 'timeOut', 'timeout', (o: object) => readLease(store, 'job', o)],
    ['releaseLease', 'grantid', 'grantId', (o: object) => releaseLease(store, 'job', o as { grantId: string })],
    ['watchLease', 'intervall', 'interval', (o: object) => watchLease(store, 'job', o).next()],
    ['listLeases', 'singal', 'signal', (o: object) => listLeases(store, '', o).next()],
    ['MemoryLeaseStore', 'clok', 'clock', (o: object) => new MemoryLeaseStore(o)],
    ['copyLeases', 'prefx', 'prefix', (o: object) => copyLeases(store, o)],
    ['casStore', 'maxTTL', 'maxTtl', (o: object) => casStore(new MapRegister(), o)],
    ['CasLeaseStore', 'minTTL', 'minTtl', (o: object) => new CasLeaseStore(new MapRegister(), o), 'casStore'],
    ['LifeCycleStore', 'isgone', 'isGone', (o: object) => new Store({ store: 'own', ...o })],
  ] as [string, string, string, (options: object) => unknown, string?][])(
    '%s: %s, meant is %s',
    async (taker, option, meant, use, of = taker) => {
      const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
      expect(error).toMatchObject({ name: 'LeaseConfigurationError' })
      expect((error as Error).message).toBe(`${of} has no option '${option}': did you mean '${meant}'?`)
    },
  )

  it('without a similar name: the error lists the options', async () => {
    expect(() => new MemoryLeaseStore({ folder: 'x' } as object)).toThrow(
      "MemoryLeaseStore has no option 'folder': its options are clock",
    )
  })

  it('options that are undefined do not count, and TimeoutSettings accept the options of a lease', () => {
    expect(() => createLease(store, 'job', { ttl: undefined } as object)).not.toThrow()
    expect(() => new TimeoutSettings({ heartbeatTimeout: 60_000, owner: 'me', maxHold: 1 } as object)).not.toThrow()
  })
})

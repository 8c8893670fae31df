import { type Grant, LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import { AbortableCall, casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { MapRegister } from './map-register.js'

const TTL = 10_000
const MARGIN = 25
const call = new AbortableCall()

/** A register with its own clock, in the unit given by the test. */
function setUp(time: () => number | bigint) {
  const clock = new VirtualClock()
  const asked: (readonly [string, number])[] = []
  const timeAfter = async (name: string, version: number): Promise<number | bigint> => {
    asked.push([name, version])
    return time()
  }
  const register = Object.assign(new MapRegister(), { timeAfter })
  return { clock, register, asked, store: casStore(register, { clock, probe: false }) }
}

async function held(store: LeaseStore, grantId: string): Promise<Grant> {
  const outcome = await store.acquire({ name: 'job', owner: `o-${grantId}`, grantId, ttl: TTL }, call)
  if (!outcome.granted) throw new Error('not granted')
  return outcome.grant
}

async function tokenOf(store: LeaseStore, grantId: string): Promise<bigint> {
  const grant = await held(store, grantId)
  await store.release(grant, call)
  return grant.fencingToken
}

describe('fencing tokens over a register with a clock', () => {
  it("are the larger of the store's time, rounded up, and the last token plus one", async () => {
    let time = 41.5
    const { store } = setUp(() => time)
    expect(await tokenOf(store, 'a')).toBe(42n)
    expect(await tokenOf(store, 'b')).toBe(43n)
    time = 43
    expect(await tokenOf(store, 'c')).toBe(44n)
    time = 1_000
    expect(await tokenOf(store, 'd')).toBe(1_000n)
  })

  it.each([
    { unit: 'milliseconds', first: 1_800_000_000_000, later: 1_800_000_000_010 },
    { unit: 'microseconds', first: 1_800_000_000_000_001, later: 1_800_000_000_000_009 },
    { unit: 'nanoseconds', first: 1_800_000_000_000_000_001n, later: 1_800_000_000_000_000_009n },
  ])('do not repeat when an older entry returns, with a clock of $unit', async ({ first, later }) => {
    let time: number | bigint = first
    const { register, store } = setUp(() => time)
    expect(await tokenOf(store, 'a')).toBe(BigInt(first))
    const copied = register.recordOf('job')
    expect(await tokenOf(store, 'b')).toBe(BigInt(first) + 1n)
    time = later
    register.write('job', copied)
    expect(await tokenOf(store, 'c')).toBe(BigInt(later))
  })

  it('do not repeat at a change when an older entry returns', async () => {
    let time = 100
    const { register, store } = setUp(() => time)
    const grant = await held(store, 'a')
    const copied = register.recordOf('job')
    await store.change(grant, { grantId: 'b', owner: 'b' }, call)
    time = 200
    register.write('job', copied)
    expect(await store.change(grant, { grantId: 'c', owner: 'c' }, call)).toMatchObject({
      granted: true,
      grant: { fencingToken: 200n },
    })
  })

  it('stay above the last token when the clock is set back', async () => {
    let time = 1_000
    const { store } = setUp(() => time)
    await tokenOf(store, 'a')
    time = 10
    expect(await tokenOf(store, 'b')).toBe(1_001n)
  })

  it('need one reading of the time for each new grant, after the version to replace was read', async () => {
    const { clock, register, asked, store } = setUp(() => 7)
    const grant = await held(store, 'a')
    expect(register.calls).toEqual(['read', 'create', 'replace'])
    expect(asked).toEqual([['job', 1]])
    await store.renew(grant, call)
    expect((await held(store, 'a')).fencingToken).toBe(grant.fencingToken)
    await store.release(grant, call)
    expect(asked.length).toBe(1)
    const { version } = (await register.read('job')) ?? {}
    await held(store, 'b')
    expect(asked).toEqual([
      ['job', 1],
      ['job', version],
    ])
    clock.block(TTL + MARGIN)
    await store.read('job', call)
    expect(asked.length).toBe(2)
  })

  it('need no createdAt of a register that forgets', async () => {
    let time = 50
    const { clock, register } = setUp(() => time)
    const store = casStore(
      {
        forgets: true,
        timeAfter: register.timeAfter,
        read: (name) => register.read(name),
        create: (name, record) => register.create(name, record),
        replace: (name, record, version) => register.replace(name, record, version),
      },
      { clock },
    )
    expect(await tokenOf(store, 'a')).toBe(50n)
    register.delete('job')
    time = 60
    expect(await tokenOf(store, 'b')).toBe(60n)
  })

  it.each([Number.NaN, -1, -1n, Number.POSITIVE_INFINITY, 2 ** 60, '5', undefined, null])(
    'are not granted by a clock that shows %s',
    async (time) => {
      const { register, store } = setUp(() => time as number)
      await expect(held(store, 'a')).rejects.toThrow(LeaseConfigurationError)
      await expect(held(store, 'a')).rejects.toThrow('the map register gives the time')
      expect(register.recordOf('job').owner).toBe('')
    },
  )

  it('are not granted while the time is unknown, and nothing is written', async () => {
    const { register, store } = setUp(() => {
      throw new Error('connection reset')
    })
    await expect(held(store, 'a')).rejects.toThrow('connection reset')
    expect(register.recordOf('job').owner).toBe('')
  })

  it('are those of versions if the register has them, for any time of its clock', async () => {
    const { register, asked, store } = setUp(() => 1_000)
    Object.assign(register, { tokenOf: (version: number) => BigInt(version) })
    expect(await tokenOf(store, 'a')).toBe(1n)
    expect(asked).toEqual([])
  })
})

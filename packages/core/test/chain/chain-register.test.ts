import { createLease, type StoreLease } from '@leasehold/core'
import { AbortableCall, casStore } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { Random } from '../../../testkit/src/random.js'
import { silentLogger } from '../support/held-lease.js'
import { ChainRegister } from './chain-register.js'
import { SimulatedChain } from './simulated-chain.js'

const BLOCK = 1_000
const FREE = { owner: '', grantId: '', fencingToken: 0n, ttl: 60_000, revision: 0, metadata: {} }
const TIMES = { heartbeatTimeout: 60_000, heartbeatInterval: 10_000, operationTimeout: 20_000 }

function setUp(confirmations: number, random = new Random(1)) {
  const clock = new VirtualClock()
  const chain = new SimulatedChain(clock, BLOCK)
  const open = (owner: string): StoreLease => {
    const store = casStore(new ChainRegister(chain, owner, confirmations), { clock, probe: false })
    const environment = { clock, logger: silentLogger, random: () => random.next() }
    return createLease(store, 'job', { owner, ...TIMES, ...environment })
  }
  return { clock, chain, open }
}

describe('a lease on a chain', () => {
  it('without confirmations: a reorganisation lets two owners hold it, with the same fencing token', async () => {
    const { clock, chain, open } = setUp(0)
    const [first, second] = [open('first'), open('second')]
    void first.acquire()
    await clock.advance(5 * BLOCK)
    expect(first.checkLease()).toBe(true)
    chain.reorganise(5)
    void second.acquire()
    await clock.advance(2 * BLOCK)
    expect([first.checkLease(), second.checkLease()]).toEqual([true, true])
    expect(second.fencingToken).toBe(first.fencingToken)
  })

  it('with confirmations: the same reorganisation comes before anyone holds it', async () => {
    const { clock, chain, open } = setUp(6)
    const [first, second] = [open('first'), open('second')]
    void first.acquire().catch(() => false)
    await clock.advance(5 * BLOCK)
    expect(first.checkLease()).toBe(false)
    chain.reorganise(5)
    void second.acquire()
    await clock.advance(20 * BLOCK)
    expect([first.checkLease(), second.checkLease()]).toEqual([false, true])
  })

  it('an entry is read when it is confirmed, not before: it could be taken back', async () => {
    const { clock, chain } = setUp(6)
    const register = new ChainRegister(chain, 'first', 6)
    const record = { ...FREE, owner: 'first' }
    const created = register.create('job', record, new AbortableCall())
    await clock.advance(6 * BLOCK)
    expect(await register.read('job')).toBeUndefined()
    await clock.advance(BLOCK)
    expect(await register.read('job')).toMatchObject({ record })
    expect(await created).toEqual({ version: 'first 1' })
  })

  it('a grant waits for its confirmations', async () => {
    const { clock, open } = setUp(6)
    const lease = open('first')
    void lease.acquire()
    await clock.advance(6 * BLOCK)
    expect(lease.checkLease()).toBe(false)
    await clock.advance(10 * BLOCK)
    expect(lease.checkLease()).toBe(true)
  })
})

/** Three owners contend, hold the lease and let go of it, while the last blocks are replaced again and again. */
async function stormOf(seed: number, confirmations: number, deepest: number) {
  const random = new Random(seed)
  const { clock, chain, open } = setUp(confirmations, random)
  const leases = ['first', 'second', 'third'].map(open)
  const tokens: bigint[] = []
  let overlaps = 0
  const contend = async (lease: StoreLease): Promise<void> => {
    for (;;) {
      if (await lease.acquire({ wait: 300_000 }).catch(() => false)) {
        if (leases.filter((one) => one.checkLease()).length > 1) overlaps += 1
        tokens.push(lease.fencingToken ?? 0n)
        await new Promise<void>((resolve) => void clock.schedule(random.between(0, 40_000), resolve))
      }
      await lease.release().catch(() => false)
      await new Promise<void>((resolve) => void clock.schedule(random.between(0, 10_000), resolve))
    }
  }
  for (const lease of leases) void contend(lease)
  for (let count = 0; count < 100; count += 1) {
    await clock.advance(random.between(3, 30) * BLOCK)
    chain.reorganise(random.whole(1, deepest), (dropped) => {
      return random.chance(0.3) ? [] : dropped.toSorted(() => random.between(-1, 1))
    })
  }
  const isGrowing = tokens.every((token, place) => place === 0 || token > (tokens[place - 1] ?? 0n))
  return { overlaps, isGrowing, grants: tokens.length }
}

describe('in 100 reorganisations', () => {
  const storms = async (confirmations: number, deepest: number) => {
    const all = []
    for (let seed = 1; seed <= 5; seed += 1) all.push(await stormOf(seed, confirmations, deepest))
    return all
  }

  it('never two owners hold it, and tokens grow, if none is deeper than the confirmations', async () => {
    for (const { overlaps, isGrowing, grants } of await storms(4, 4)) {
      expect(overlaps).toBe(0)
      expect(isGrowing).toBe(true)
      expect(grants).toBeGreaterThan(20)
    }
  })

  it.each([
    [0, 1],
    [4, 8],
  ])(
    'two owners hold it, or a token is given twice, with %i confirmations and up to %i blocks replaced',
    async (k, deepest) => {
      const broken = (await storms(k, deepest)).filter(({ overlaps, isGrowing }) => overlaps > 0 || !isGrowing)
      expect(broken.length).toBeGreaterThan(0)
    },
  )
})

import { type LeaseRecord, type LeaseStore, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import type { Leader } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import { Electorate, TTL } from './electorate.js'

function record(term: bigint, owner = `owner ${term}`, state: LeaseRecord['state'] = 'leased'): LeaseRecord {
  return { name: 'job', owner, grantId: `grant ${term}`, fencingToken: term, ttl: TTL, state, metadata: {} }
}

const free = (term: bigint): LeaseRecord => ({ ...record(term), state: 'available' })

/** A store whose reads are answered as a test says: one after the other, and the last one for ever. */
function scripted(answers: readonly (LeaseRecord | undefined | Error)[], more: Partial<LeaseStore> = {}) {
  const reads: number[] = []
  const electorate = new Electorate()
  const store: LeaseStore = {
    limits: electorate.store.limits,
    acquire: () => Promise.reject(new Error('an observer does not acquire')),
    renew: () => Promise.reject(new Error('an observer does not renew')),
    release: () => Promise.reject(new Error('an observer does not release')),
    read: async () => {
      const answer = answers[Math.min(reads.length, answers.length - 1)]
      reads.push(electorate.clock.now())
      if (answer instanceof Error) throw answer
      return answer
    },
    close: async () => {},
    ...more,
  }
  return { electorate, reads, ...electorate.create({}, { store }) }
}

/** Observes in the background. */
function observe(observer: { observe(signal?: AbortSignal): AsyncIterable<Leader | undefined> }, signal?: AbortSignal) {
  const seen: string[] = []
  const ended = (async () => {
    for await (const leader of observer.observe(signal)) seen.push(leader === undefined ? 'nobody' : leader.owner)
  })()
  ended.catch(() => {})
  return { seen, ended }
}

describe('the order of an observation', () => {
  it.each<[string, (LeaseRecord | undefined)[], string[]]>([
    ['the present state comes first', [record(1n)], ['owner 1']],
    ['also if there is no leader', [undefined], ['nobody']],
    ['an unchanged state is reported once', [free(1n), free(1n), record(2n), record(2n)], ['nobody', 'owner 2']],
    ['a vacancy between two terms is reported', [record(1n), free(1n), record(2n)], ['owner 1', 'nobody', 'owner 2']],
    ['a vacancy that nobody saw is left out', [record(1n), record(2n)], ['owner 1', 'owner 2']],
    ['a new term of the same owner is a change', [record(1n, 'a'), record(3n, 'a')], ['a', 'a']],
    ['an older term does not follow a newer one', [record(2n), record(1n), record(2n)], ['owner 2']],
    ['an older vacancy does not follow a newer term', [record(2n), free(1n), record(2n)], ['owner 2']],
    ['a term that is over does not return', [record(1n), free(1n), record(1n)], ['owner 1', 'nobody']],
    ['also not if its record was deleted', [record(2n), undefined, record(1n), record(2n)], ['owner 2', 'nobody']],
    [
      'a term that came and went is not reported later',
      [free(1n), free(2n), record(2n), record(3n)],
      ['nobody', 'owner 3'],
    ],
    ['an expired lease is a vacancy', [record(1n), record(1n, 'owner 1', 'expired')], ['owner 1', 'nobody']],
    [
      'a leader whose lease is being broken leads until then',
      [record(1n), record(1n, 'owner 1', 'breaking')],
      ['owner 1'],
    ],
    [
      'a lock without a known holder is a vacancy',
      [record(1n), record(2n, ''), record(2n)],
      ['owner 1', 'nobody', 'owner 2'],
    ],
  ])('%s', async (_, answers, expected) => {
    const { electorate, election } = scripted(answers)
    const { seen } = observe(election)
    await electorate.pass(2 * TTL)
    expect(seen).toEqual(expected)
    await election.stop()
  })

  it('other metadata of the same leader are a change', async () => {
    const moved = { ...record(1n), metadata: { address: 'new' } }
    const { electorate, election } = scripted([record(1n), moved, moved])
    const addresses: unknown[] = []
    void (async () => {
      for await (const leader of election.observe()) addresses.push(leader?.metadata.address)
    })()
    await electorate.pass(TTL)
    expect(addresses).toEqual([undefined, 'new'])
    await election.stop()
  })
})

describe('the reads of an observation', () => {
  it('without a watch they follow each other within a tenth of the ttl', async () => {
    const { electorate, election, reads } = scripted([record(1n)])
    observe(election)
    await electorate.pass(2 * TTL)
    const pauses = reads.slice(1).map((at, place) => at - (reads[place] ?? 0))
    expect(reads.length).toBeGreaterThanOrEqual(20)
    expect(reads.length).toBeLessThanOrEqual(42)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(TTL / 10)
    await election.stop()
  })

  it('an expiry that the store announces is seen right after it', async () => {
    const { electorate, election, seen } = withSeen(scripted([{ ...record(1n), remaining: 100 }, free(1n)]))
    await electorate.pass(110)
    expect(seen).toEqual(['owner 1', 'nobody'])
    await election.stop()
  })

  it('a change that the store notifies of is seen at once', async () => {
    const electorate = new Electorate()
    const leader = await electorate.lead()
    const { election } = electorate.create()
    const { seen } = observe(election)
    await electorate.pass(TTL / 2)
    await electorate.during(leader.election.stop())
    await electorate.pass(0)
    expect(seen).toEqual(['candidate-0', 'nobody'])
    await election.stop()
  })

  it('a watch that shows the known leader again causes no read', async () => {
    const shown = record(1n)
    async function* watch() {
      for (let count = 0; count < 100; count += 1) yield shown
      await new Promise(() => {})
    }
    const { electorate, election, reads } = scripted([shown], { watch })
    observe(election)
    await electorate.pass(TTL / 10)
    expect(reads.length).toBeLessThanOrEqual(2)
    await election.stop()
  })

  it('a watch that yields all the time does not cause a read each time', async () => {
    async function* watch() {
      for (;;) {
        yield undefined
        await new Promise((resolve) => electorate.clock.schedule(1, () => resolve(undefined)))
      }
    }
    const { electorate, election, reads } = scripted([free(1n)], { watch })
    observe(election)
    await electorate.pass(TTL / 10)
    expect(reads.length).toBeLessThanOrEqual(22)
    await election.stop()
  })

  it('a watch that broke is started again, and what changed since is read', async () => {
    let starts = 0
    async function* watch() {
      starts += 1
      if (starts === 1) throw new Error('reset')
      await new Promise(() => {})
    }
    const { electorate, election, seen } = withSeen(scripted([record(1n), record(2n)], { watch }))
    // The first pause before a watch is started again is a twentieth of the usual one.
    await electorate.pass(TTL / 200)
    expect(starts).toBe(2)
    await electorate.pass(TTL / 200)
    expect(seen).toEqual(['owner 1', 'owner 2'])
    await electorate.pass(2 * TTL)
    expect(starts).toBe(2)
    await election.stop()
  })

  it('a watch that fails is replaced by reads', async () => {
    const watch = (): AsyncIterable<undefined> => {
      throw new Error('no watch')
    }
    const { electorate, election, seen } = withSeen(scripted([free(1n), free(1n), free(1n), record(2n)], { watch }))
    await electorate.pass(TTL)
    expect(seen).toEqual(['nobody', 'owner 2'])
    await election.stop()
  })
})

describe('failures of the store', () => {
  it('keep the last state, and are reported once for each outage', async () => {
    const failure = new LeaseUnavailableError('down')
    const answers = [record(1n), failure, failure, record(1n), failure, record(2n)]
    const { electorate, election, seen, errors } = withSeen(scripted(answers))
    await electorate.pass(TTL)
    expect(seen).toEqual(['owner 1', 'owner 2'])
    expect(errors).toEqual([failure, failure])
    await election.stop()
  })

  it('a read without an answer ends after its time limit', async () => {
    const electorate = new Electorate()
    const { election, errors } = electorate.create()
    electorate.isDown = true
    await expect(electorate.during(election.leader())).rejects.toMatchObject({ name: 'LeaseTimeoutError' })
    const { seen } = observe(election)
    await electorate.pass(1_000)
    expect(errors).toMatchObject([{ name: 'LeaseTimeoutError' }])
    electorate.isDown = false
    await electorate.pass(2_000)
    expect(seen).toEqual(['nobody'])
    await election.stop()
  })

  it.each([
    ['null', null],
    ['a text', 'yes'],
    ['another state', { ...record(1n), state: 5 }],
    ['a number as the token', { ...record(1n), fencingToken: 1 }],
    ['no owner', { ...record(1n), owner: undefined }],
    ['a list as the metadata', { ...record(1n), metadata: [] }],
    ['metadata that are no texts', { ...record(1n), metadata: { address: 5 } }],
  ])('an answer that is no record counts as a failure: %s', async (_, answer) => {
    const { electorate, election, seen, errors } = withSeen(
      scripted([record(1n), answer as unknown as LeaseRecord, record(1n)]),
    )
    await electorate.pass(TTL)
    expect(seen).toEqual(['owner 1'])
    expect(errors).toMatchObject([{ name: 'LeaseUnavailableError' }])
    await election.stop()
  })

  it('end the observation if asking again is of no use', async () => {
    const refused = scripted([record(1n), new LeaseUnauthorisedError('no permission')])
    const { ended } = observe(refused.election)
    await refused.electorate.pass(TTL)
    await expect(ended).rejects.toMatchObject({ name: 'LeaseUnauthorisedError' })
    const electorate = new Electorate()
    const closed = observe(electorate.create().election)
    await electorate.pass(TTL)
    await electorate.store.close()
    await electorate.pass(TTL)
    await expect(closed.ended).rejects.toMatchObject({ name: 'LeaseUnavailableError' })
  })
})

describe('the end of an observation', () => {
  it.each(['an abort', 'stop', 'break'])('%s leaves no timer and no watch behind', async (how) => {
    const electorate = new Electorate()
    const { election } = electorate.create()
    const controller = new AbortController()
    const observing = (async () => {
      for await (const leader of election.observe(controller.signal)) {
        if (how === 'break' && leader !== undefined) break
      }
    })()
    await electorate.pass(TTL / 2)
    const leader = await electorate.lead()
    await electorate.pass(TTL)
    if (how === 'abort' || how === 'an abort') controller.abort()
    if (how === 'stop') await election.stop()
    await electorate.during(observing)
    await electorate.during(leader.election.stop())
    expect(electorate.clock.pending).toBe(0)
  })

  it('a signal that is aborted already, and a stop before, end it at once', async () => {
    const { election, reads } = scripted([record(1n)])
    await observe(election, AbortSignal.abort()).ended
    await election.stop()
    await observe(election).ended
    expect(reads).toEqual([])
  })
})

function withSeen<T extends ReturnType<typeof scripted>>(made: T): T & { readonly seen: readonly string[] } {
  return { ...made, seen: observe(made.election).seen }
}

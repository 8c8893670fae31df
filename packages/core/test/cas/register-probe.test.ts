import { createLease, LeaseNameError, type LeaseStore, LeaseStoreUnfitError, listLeases } from '@leasehold/core'
import { AbortableCall, type CasEntry, type CasRecord, casStore } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../support/held-lease.js'
import { MapRegister } from './map-register.js'

const PROBE = 'leasehold-probe'
const TTL = 10_000
const call = new AbortableCall()

/** A store that ignores the conditions of writes, as S3-compatible services do, or reads from a copy that is behind. */
class LyingRegister extends MapRegister {
  readonly #lies: readonly ('create' | 'replace' | 'read')[]
  readonly #first = new Map<string, CasEntry<number>>()

  constructor(...lies: readonly ('create' | 'replace' | 'read')[]) {
    super()
    this.#lies = lies
  }

  override async read(name: string): Promise<CasEntry<number> | undefined> {
    const entry = await super.read(name)
    const first = this.#first.get(name) ?? entry
    if (first !== undefined) this.#first.set(name, first)
    return this.#lies.includes('read') ? first : entry
  }

  override async create(name: string, record: CasRecord) {
    return this.#lies.includes('create') ? this.write(name, record) : await super.create(name, record)
  }

  override async replace(name: string, record: CasRecord, version: number) {
    return this.#lies.includes('replace') ? this.write(name, record) : await super.replace(name, record, version)
  }
}

/** A store with a clock. Answers show that of a gateway, which is off by `off` milliseconds. */
class TimedProbeRegister extends MapRegister {
  readonly clockError = 2_000
  readonly #off: () => number
  readonly #marks: boolean
  readonly #writtenAt = new Map<number, number>()

  constructor(off: () => number, marks = false) {
    super()
    this.#off = off
    this.#marks = marks
  }

  override async read(name: string): Promise<CasEntry<number> | undefined> {
    const entry = await super.read(name)
    if (entry === undefined) return undefined
    const writtenAt = this.#marks ? {} : { writtenAt: this.#writtenAt.get(entry.version) ?? Number.NaN }
    return { ...entry, readAt: this.time + this.#off(), ...writtenAt }
  }

  override write(name: string, record: CasRecord) {
    const written = super.write(name, record)
    this.#writtenAt.set(written.version, this.time)
    return written
  }
}

const claim = (store: LeaseStore, name = 'job', grantId = 'a', by = call) =>
  store.acquire({ name, owner: 'me', grantId, ttl: TTL }, by)

const open = (register: MapRegister, probe?: boolean) =>
  casStore(register, { clock: new VirtualClock(), ...(probe === undefined ? {} : { probe }) })

describe('a register is checked before its first grant', () => {
  it.each([
    ['creates over an existing entry', 'conditional creation', new LyingRegister('create'), 'If-None-Match'],
    ['replaces an entry by an old version', 'conditional writes', new LyingRegister('replace'), 'If-Match'],
    ['reads an old entry', 'fresh reads', new LyingRegister('read'), 'the server that takes the writes'],
  ])('one that %s is refused, and nothing is granted', async (_, setting, register, advice) => {
    const refused = claim(open(register))
    await expect(refused).rejects.toBeInstanceOf(LeaseStoreUnfitError)
    await expect(refused).rejects.toMatchObject({ code: 'unfit', setting, store: 'map', leaseName: 'job' })
    await expect(refused).rejects.toThrow(advice)
    expect(await register.read('job')).toBeUndefined()
  })

  it('rejects acquire of a lease, and tells two owners alike', async () => {
    const register = new LyingRegister('replace')
    for (const owner of ['anna', 'berta']) {
      const lease = createLease(open(register), 'job', { owner, logger: silentLogger })
      await expect(lease.acquire()).rejects.toBeInstanceOf(LeaseStoreUnfitError)
      expect(lease.checkLease()).toBe(false)
    }
  })

  it('is not checked with probe: false, and then grants one lease twice', async () => {
    const register = new LyingRegister('replace')
    const [anna, berta] = [open(register, false), open(register, false)]
    const first = await claim(anna, 'job', 'first')
    if (first.granted) await anna.release(first.grant, call)
    const outcomes = await Promise.all([claim(anna, 'job', 'a'), claim(berta, 'job', 'b')])
    expect(outcomes.map(({ granted }) => granted)).toEqual([true, true])
  })

  it('costs six requests for the first store of a register, five for the next, and none afterwards', async () => {
    const register = new MapRegister()
    const store = open(register)
    await claim(store)
    expect(register.calls.slice(0, 6)).toEqual(['read', 'create', 'create', 'read', 'replace', 'replace'])
    const before = register.calls.length
    await claim(store, 'other')
    expect(register.calls.slice(before)).toEqual(['read', 'create', 'replace'])
  })

  it('shares one check between callers that come at once', async () => {
    const register = new MapRegister()
    const store = open(register)
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, place) => claim(store, `job-${place}`)))
    expect(outcomes.every(({ granted }) => granted)).toBe(true)
    // One write of the check, and two for each new name: its creation and its grant.
    expect(register.calls.filter((name) => name === 'replace')).toHaveLength(2 + 20)
  })

  it('lets many stores of one register pass at the same time', async () => {
    const register = new MapRegister()
    const stores = Array.from({ length: 30 }, () => open(register))
    const outcomes = await Promise.all(stores.map((store, place) => claim(store, `job-${place}`)))
    expect(outcomes.every(({ granted }) => granted)).toBe(true)
  })

  it('is unknown while the register cannot be reached, and is checked again', async () => {
    const register = new MapRegister()
    const store = open(register)
    register.faults.push('fail')
    await expect(claim(store)).rejects.toThrow('connection refused')
    register.faults.push('lose-answer')
    await expect(claim(store)).rejects.toThrow('connection reset')
    expect(await claim(store)).toMatchObject({ granted: true })
  })

  it('does not end with the caller that began it', async () => {
    const register = new MapRegister()
    let reads = 0
    const store = casStore({
      read: async (name, reading) => {
        reads += 1
        if (reads === 1) await untilAborted(new Promise(() => {}), reading)
        return await register.read(name)
      },
      create: (name, record) => register.create(name, record),
      replace: (name, record, version) => register.replace(name, record, version),
    })
    const first = new AbortableCall()
    const given = claim(store, 'first', 'a', first)
    const other = claim(store, 'other', 'b')
    first.abort(new Error('gave up'))
    await expect(given).rejects.toThrow('gave up')
    expect(await other).toMatchObject({ granted: true })
  })

  it('keeps the record of the check out of the leases', async () => {
    const register = Object.assign(new MapRegister(), {
      list: async function* (this: MapRegister) {
        for (const name of [PROBE, 'job']) {
          const entry = await register.read(name)
          if (entry !== undefined) yield { name, ...entry }
        }
      },
    })
    const store = open(register)
    await claim(store)
    const names: string[] = []
    for await (const { name } of listLeases(store)) names.push(name)
    expect(names).toEqual(['job'])
    await expect(claim(store, PROBE)).rejects.toBeInstanceOf(LeaseNameError)
  })

  it('says what it found to whoever asks', async () => {
    expect(await open(new MapRegister()).probe(call)).toEqual([
      { check: 'conditional creation', result: 'ok' },
      { check: 'conditional writes', result: 'ok' },
      { check: 'fresh reads', result: 'ok' },
    ])
    expect(await open(new LyingRegister('replace')).probe(call)).toContainEqual(
      expect.objectContaining({ check: 'conditional writes', result: 'failed' }),
    )
  })
})

describe('a register whose versions are hashes of the contents', () => {
  const hashing = (kept: (record: CasRecord) => CasRecord) => {
    const entries = new Map<string, CasEntry<string>>()
    const write = (name: string, record: CasRecord): CasEntry<string> => {
      const entry = { record: kept(record), version: JSON.stringify({ ...kept(record), fencingToken: '' }) }
      entries.set(name, entry)
      return entry
    }
    return casStore<string>({
      read: async (name) => entries.get(name),
      create: async (name, record) => (entries.has(name) ? undefined : write(name, record)),
      replace: async (name, record, version) =>
        entries.get(name)?.version === version ? write(name, record) : undefined,
    })
  }

  it('passes, also if it forgets the grant of a free name', async () => {
    const store = hashing((record) => (record.owner === '' ? { ...record, grantId: '' } : record))
    expect(await claim(store)).toMatchObject({ granted: true })
  })

  it('is refused if a heartbeat would not change the version', async () => {
    const store = hashing((record) => ({ ...record, grantId: '', revision: 0 }))
    await expect(claim(store)).rejects.toThrow('a write gave the entry the version that it had before')
  })
})

describe('a register that refuses writes although nobody else wrote', () => {
  it('is not accused', async () => {
    const register = new MapRegister()
    let refusals = 0
    const store = casStore({
      read: (name) => register.read(name),
      create: (name, record) => register.create(name, record),
      replace: async (name, record, version) => {
        refusals += 1
        // As S3 answers 409 to writes that meet.
        return refusals < 3 ? undefined : await register.replace(name, record, version)
      },
    })
    expect(await claim(store)).toMatchObject({ granted: true })
  })
})

describe('the times of a register', () => {
  const times = async (register: MapRegister) => {
    const findings = (await open(register).probe(call)) ?? []
    return findings.find(({ check }) => check === 'store times')
  }

  it.each([0, 1_000, 2_000, -2_000])('are right with a difference of %d ms, within its clockError', async (off) => {
    expect(await times(new TimedProbeRegister(() => off))).toEqual({ check: 'store times', result: 'ok' })
    expect((await claim(open(new TimedProbeRegister(() => off)))).granted).toBe(true)
  })

  it.each([2_001, -2_001, 3_600_000])('are refused with a difference of %d ms', async (off) => {
    const store = open(new TimedProbeRegister(() => off))
    await expect(claim(store)).rejects.toMatchObject({ code: 'unfit', setting: 'store times' })
    await expect(claim(store)).rejects.toThrow(`its times differ by ${Math.abs(off)} ms from the time that passed`)
  })

  it.each([5_000, -5_000])('are refused if two nodes differ by %d ms, over marks', async (off) => {
    let reads = 0
    const alternating = () => {
      reads += 1
      return reads % 2 === 0 ? 0 : off
    }
    expect(await times(new TimedProbeRegister(alternating, true))).toMatchObject({ result: 'failed' })
  })

  it('may be as far apart as the requests took in this process', async () => {
    const clock = new VirtualClock()
    const register = new TimedProbeRegister(() => 0)
    const read = register.read.bind(register)
    register.read = async (name) => {
      clock.block(30_000)
      register.time += 30_000
      return await read(name)
    }
    const findings = (await casStore(register, { clock }).probe(call)) ?? []
    expect(findings).toContainEqual({ check: 'store times', result: 'ok' })
  })

  it('are unknown if it gives none, and not looked at without a clockError', async () => {
    expect(await times(Object.assign(new MapRegister(), { clockError: 0 }))).toMatchObject({ result: 'unknown' })
    expect((await claim(open(Object.assign(new MapRegister(), { clockError: 0 })))).granted).toBe(true)
    expect(await times(new MapRegister())).toBeUndefined()
  })
})
